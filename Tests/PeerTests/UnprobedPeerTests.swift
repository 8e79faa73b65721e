import Congestion
import Model
import Testing
import Wire

@testable import Media
@testable import Peer
@testable import Transport

/// Probes go in retransmission streams, which no numbers of media count: who has none is sent none.
@Suite("Who can't be probed", .timeLimit(.minutes(1)))
struct UnprobedPeerTests {
  /// A subscriber that is shown a picture of 300 kbit/s, says when everything arrived, and would be shown one of 2 Mbit/s.
  private final class Viewer {
    private let far: ConnectedPeer
    private var arrivals = ArrivalFeedback()
    private var sequence: Int64 = 100
    private var infos: [Int64: PacketInfo] = [:]
    /// Datagrams of media that have left, by SSRC, and those of them that are padding.
    private(set) var left: [UInt32: Int] = [:]
    private(set) var padding = 0
    private(set) var forwarded = 0
    private(set) var begun = 0

    private static let id: UInt8 = 5
    private static let packet = [UInt8](repeating: 0x80, count: 722)

    init(repairs: Bool) throws {
      var slot = ConnectedPeer.slot(0)
      slot.extensions[.transportSequence] = Self.id
      slot.codecs[0].transportCC = true
      if repairs {
        slot.codecs[0].rtxPayloadType = 101
        slot.rtxSSRC = 7_500
      }
      far = try ConnectedPeer(AgreedMedia(send: [slot], allowsReducedSizeRTCP: true))
      _ = far.peer.setSource(
        slot: 0, TrackKey(peer: PeerKey(home: 1, serial: 9), index: 1), clock: nil)
    }

    var target: Double? { far.peer.target(now: far.now) }
    /// Of those that were forwarded.
    var waiting: Int { far.peer.waitingPackets }

    func run(seconds: Int) throws {
      for step in 0..<seconds * 200 {
        far.now = far.now + .milliseconds(5)
        far.peer.want(2e6, next: 2e6, room: nil)
        if step % 4 == 0 { forward() }
        depart()
        arrive()
        while far.now >= arrivals.deadline, try report() {}
        if far.peer.egress.probe != nil { begun += 1 }
      }
    }

    private func depart() {
      while let next = far.peer.nextDeparture(now: far.now, context: &far.context) {
        guard let info = infos.removeValue(forKey: next.sequence) else { return }
        Self.packet.withUnsafeBytes { far.peer.depart($0, info, now: far.now, context: &far.context) }
      }
      while far.peer.nextProbe(now: far.now) != nil {
        far.peer.probe(nil, now: far.now, context: &far.context)
      }
    }

    private func forward() {
      var info = PacketInfo()
      (info.format, info.primaryFormat) = (.vp8, .vp8)
      info.extendedSequence = sequence
      info.timestamp = UInt32(truncatingIfNeeded: sequence * 1_800)
      (info.payloadOffset, info.payloadSize) = (12, UInt16(Self.packet.count - 12))
      info.flags = sequence == 100 ? [.keyFrame, .frameStart] : [.frameStart]
      infos[sequence] = info
      let kept = PacketReference(track: 0, sequence: sequence)
      if far.peer.select(info, kept, slot: 0, now: far.now, context: &far.context) { forwarded += 1 }
      sequence += 1
    }

    /// What has left is there.
    private func arrive() {
      for index in 0..<far.context.transport.outbox.count {
        var bytes = Array(far.context.transport.outbox.bytes(far.context.transport.outbox[index]))
        let isPadded = bytes[0] & 0x20 != 0
        // How much of it is padding is sealed.
        bytes[0] &= 0xDF
        bytes.withUnsafeBytes { packet in
          guard !RTCPPacket.matches(packet), let header = try? RTPHeader(packet) else { return }
          left[header.ssrc, default: 0] += 1
          if isPadded { padding += 1 }
          var reader = HeaderExtensionReader(packet, header)
          while let element = reader.next() {
            guard element.id == Self.id, let number = TransportSequence.read(packet, element)
            else { continue }
            arrivals.received(sequence: number, at: far.now)
          }
        }
      }
      far.context.transport.outbox.removeAll()
    }

    /// - Returns: false where there is nothing to say.
    private func report() throws -> Bool {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 8)
      defer { buffer.deallocate() }
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<1_500])
      guard let written = arrivals.write(into: room, senderSSRC: 50, mediaSSRC: 7_000, now: far.now)
      else { return false }
      let size = try far.sealRTCP(buffer, size: written)
      _ = far.peer.receive(
        UnsafeMutableRawBufferPointer(rebasing: buffer[..<size]), path: ConnectedPeer.path, arrival: far.now,
        now: far.now, context: &far.context)
      return true
    }
  }

  @Test func `without a retransmission stream nothing leaves but media, whatever is withheld`() throws {
    let viewer = try Viewer(repairs: false)
    try viewer.run(seconds: 60)
    #expect(viewer.left == [7_000: viewer.forwarded - viewer.waiting])
    #expect(viewer.forwarded == 3_000 && viewer.padding == 0 && viewer.begun == 0)
    let target = try #require(viewer.target)
    #expect(target > 300_000, "what it says is heard")
  }

  /// As above, but for the stream.
  @Test func `with one there are probes, which go there alone`() throws {
    let viewer = try Viewer(repairs: true)
    try viewer.run(seconds: 6)
    #expect(viewer.left[7_000] == viewer.forwarded - viewer.waiting)
    #expect(Set(viewer.left.keys) == [7_000, 7_500])
    #expect(viewer.padding > 10 && viewer.begun > 0)
    let target = try #require(viewer.target)
    #expect(target > 1_000_000)
  }
}
