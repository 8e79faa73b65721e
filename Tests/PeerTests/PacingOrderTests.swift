import Congestion
import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

/// In which order what is to leave does so, where not all of it may leave at once.
@Suite("The order of what leaves", .timeLimit(.minutes(1)))
struct PacingOrderTests {
  /// A subscriber of sound in slot 0 and of pictures in three more, whose path has no room at present.
  private final class Viewer {
    let far: ConnectedPeer
    private var infos: [PacketReferenceName: PacketInfo] = [:]
    private var next: [Int64] = Array(repeating: 100, count: 4)
    let size: Int

    private struct PacketReferenceName: Hashable {
      var track: Int32
      var sequence: Int64
    }

    /// - Parameter size: bytes of each packet.
    init(size: Int) throws {
      self.size = size
      var slots = [ConnectedPeer.slot(0, .audio)]
      for index in 1...3 as ClosedRange<UInt16> {
        var slot = ConnectedPeer.slot(index)
        slot.codecs[0].rtxPayloadType = 101
        slot.rtxSSRC = 7_500 + UInt32(index)
        slots.append(slot)
      }
      far = try ConnectedPeer(AgreedMedia(send: slots))
      for slot in 0...3 {
        _ = far.peer.setSource(
          slot: slot, TrackKey(peer: PeerKey(home: 1, serial: 9), index: UInt16(slot)), clock: nil)
      }
    }

    func prefer(_ slot: Int, _ priority: UInt8) {
      var picture = PicturePreference()
      picture.priority = priority
      far.peer.setPicture(slot: slot, picture)
    }

    private func make(_ slot: Int, key: Bool) -> (info: PacketInfo, kept: PacketReference) {
      var info = PacketInfo()
      let format: CodecFormat = slot == 0 ? .opus : .vp8
      (info.format, info.primaryFormat) = (format, format)
      info.extendedSequence = next[slot]
      info.timestamp = UInt32(truncatingIfNeeded: far.now.nanoseconds / 11_111)
      (info.payloadOffset, info.payloadSize) = (12, UInt16(size - 12))
      if slot > 0 { info.flags = key ? [.keyFrame, .frameStart] : [.frameStart] }
      let kept = PacketReference(track: slot, sequence: next[slot])
      infos[PacketReferenceName(track: kept.track, sequence: kept.sequence)] = info
      next[slot] += 1
      return (info, kept)
    }

    /// A packet of a slot's track comes.
    @discardableResult
    func take(_ slot: Int, key: Bool = false) -> Forwarded {
      let (info, kept) = make(slot, key: key)
      return [UInt8](repeating: 0x80, count: size).withUnsafeBytes {
        far.peer.forward($0, info, kept, slot: slot, now: far.now, context: &far.context)
      }
    }

    /// The subscriber asks for a packet of a slot again.
    func ask(_ number: UInt16, _ slot: Int) throws {
      let request = far.peer.retransmission(of: number, slot: slot, now: far.now, context: &far.context)
      let wanted = try #require(request)
      far.peer.retransmit(wanted, slot: slot, packet: PacketReference(track: slot, sequence: wanted.source))
    }

    /// Nothing may leave for the next 300 ms but what waits for nothing.
    func fill() {
      far.peer.egress.pacer.setTarget(100_000)
      _ = far.peer.egress.pacer.mayLeave(far.now)
      far.peer.egress.pacer.charge(100_000)
    }

    func probe(at rate: Double, packets: Int) {
      let plan = ProbePlan(cluster: 1, rate: rate, packets: packets, bytes: 0)
      far.peer.egress.probe = ActiveProbe(plan: plan, slot: 1, startedAt: far.now)
    }

    /// A turn, as a worker has it: what waits leaves as far as it may, then a probe.
    /// - Returns: what has left.
    func turn() -> [Left] {
      while let next = far.peer.nextDeparture(now: far.now, context: &far.context) {
        guard let info = infos[PacketReferenceName(track: next.track, sequence: next.sequence)] else { break }
        [UInt8](repeating: 0x80, count: size).withUnsafeBytes {
          far.peer.depart($0, info, now: far.now, context: &far.context)
        }
      }
      while far.peer.nextProbe(now: far.now) != nil {
        far.peer.probe(nil, now: far.now, context: &far.context)
      }
      return left()
    }

    func left() -> [Left] {
      defer { far.context.transport.outbox.removeAll() }
      return (0..<far.context.transport.outbox.count).map { index in
        let bytes = Array(far.context.transport.outbox.bytes(far.context.transport.outbox[index]))
        return Left(
          ssrc: bytes[8..<12].reduce(0) { $0 << 8 | UInt32($1) },
          number: UInt16(bytes[2]) << 8 | UInt16(bytes[3]), isPadding: bytes[0] & 0x20 != 0)
      }
    }
  }

  private struct Left: Equatable {
    var ssrc: UInt32
    var number: UInt16
    var isPadding: Bool
  }

  @Test
  func
    `sound leaves at once, then what is asked for again, key frames, pictures by priority, and padding last`()
    throws
  {
    let viewer = try Viewer(size: 40)
    for (slot, priority) in [(1, 10), (2, 200), (3, 10)] { viewer.prefer(slot, UInt8(priority)) }
    for slot in 1...2 { #expect(viewer.take(slot, key: true) == .done) }
    let first = try #require(viewer.left().first)
    viewer.fill()
    viewer.far.now = viewer.far.now + .milliseconds(10)
    for slot in 1...2 { #expect(viewer.take(slot) == .waits) }
    // The one that slot 3 begins with.
    #expect(viewer.take(3, key: true) == .waits)
    try viewer.ask(first.number, 1)
    #expect(viewer.take(0) == .done)
    #expect(viewer.left().map(\.ssrc) == [7_000])
    #expect(viewer.turn().isEmpty, "there is no room for anything else")
    viewer.probe(at: 300_000, packets: 8)
    var order: [Left] = []
    for _ in 0..<100 {
      order += viewer.turn()
      viewer.far.now = viewer.far.now + .milliseconds(1)
    }
    #expect(order.prefix(4).map(\.ssrc) == [7_501, 7_003, 7_002, 7_001])
    #expect(order.prefix(4).allSatisfy { !$0.isPadding })
    #expect(order.count == 8 && order.dropFirst(4).allSatisfy { $0.isPadding && $0.ssrc == 7_501 })
  }

  @Test func `as long as something waits a probe is made of that, at its rate`() throws {
    let viewer = try Viewer(size: 1_172)
    viewer.fill()
    for _ in 0..<20 { #expect(viewer.take(1, key: true) == .waits) }
    viewer.probe(at: 1_000_000, packets: 30)
    var (media, padding, lastMedia) = (0, 0, 0)
    for millisecond in 0..<1_000 {
      for packet in viewer.turn() {
        if packet.isPadding { padding += 1 } else { (media, lastMedia) = (media + 1, millisecond) }
        #expect(!packet.isPadding || media == 20, "\(20 - media) packets wait for padding")
      }
      viewer.far.now = viewer.far.now + .milliseconds(1)
    }
    #expect(media == 20 && padding == 10)
    // Each has 1,216 bytes on the wire. Without the probe they would take four times as long.
    #expect((180...210).contains(lastMedia), "\(lastMedia) ms")
  }
}
