import Model
import Testing

@testable import Congestion
@testable import Media
@testable import Peer
@testable import Transport

/// Rates are of the wire: what UDP and IP add to a packet counts wherever bytes do.
@Suite("What a packet counts", .timeLimit(.minutes(1)))
struct OverheadTests {
  private static let track = TrackKey(peer: PeerKey(home: 1, serial: 9), index: 1)
  private static let packet = [UInt8](repeating: 0x80, count: 400)

  /// - Returns: a path, and what UDP (8 bytes) and IP (20, or 40) add there.
  private static func path(isIPv4: Bool) -> (path: NetworkPath, overhead: Int) {
    let remote = SocketAddress(high: 0x2001_0DB8_0000_0000, low: 1, port: 5_000)
    let local = SocketAddress(high: 0x2001_0DB8_0000_0000, low: 2, port: 1)
    return isIPv4 ? (ConnectedPeer.path, 28) : (NetworkPath(remote: remote, local: local), 48)
  }

  private func info(_ sequence: Int64, _ format: CodecFormat) -> PacketInfo {
    var info = PacketInfo()
    info.format = format
    info.primaryFormat = format
    info.extendedSequence = sequence
    info.timestamp = UInt32(truncatingIfNeeded: sequence * 960)
    info.payloadOffset = 12
    info.payloadSize = UInt16(Self.packet.count - 12)
    if format == .vp8 { info.flags = [.keyFrame] }
    return info
  }

  /// One who is sent sound and pictures with transport-wide numbers, and repairs of these in a stream of their own.
  private func subscriber() throws -> ConnectedPeer {
    var slots = [ConnectedPeer.slot(0, .audio), ConnectedPeer.slot(1)]
    for index in slots.indices {
      slots[index].extensions[.transportSequence] = 5
      slots[index].codecs[0].transportCC = true
    }
    slots[1].codecs[0].rtxPayloadType = 101
    slots[1].rtxSSRC = 7_501
    let far = try ConnectedPeer(AgreedMedia(send: slots))
    for index in 0..<2 { _ = far.peer.setSource(slot: index, Self.track, clock: nil) }
    return far
  }

  /// What has left since the last call, as it is on the wire but for UDP and IP.
  private func left(_ far: ConnectedPeer) -> [[UInt8]] {
    defer { far.context.transport.outbox.removeAll() }
    return (0..<far.context.transport.outbox.count).map {
      Array(far.context.transport.outbox.bytes(far.context.transport.outbox[$0]))
    }
  }

  /// Sound, a picture, that picture again, and padding.
  private func send(_ sequence: Int64, to far: ConnectedPeer) throws -> [[UInt8]] {
    let sound = PacketReference(track: 4, sequence: sequence)
    let became = Self.packet.withUnsafeBytes {
      far.peer.forward(
        $0, info(sequence, .opus), sound, slot: 0, now: far.now, context: &far.context)
    }
    #expect(became == .done)
    Self.packet.withUnsafeBytes { far.forward($0, info(sequence, .vp8), slot: 1) }
    var all = left(far)
    let picture = try #require(all.last)
    let number = UInt16(picture[2]) << 8 | UInt16(picture[3])
    let request = far.peer.retransmission(of: number, slot: 1, now: far.now, context: &far.context)
    let wanted = try #require(request)
    far.peer.retransmit(wanted, slot: 1, packet: PacketReference(track: 0, sequence: wanted.source))
    let next = far.peer.nextDeparture(now: far.now, context: &far.context)
    #expect(next?.sequence == sequence)
    Self.packet.withUnsafeBytes {
      far.peer.depart($0, info(sequence, .vp8), now: far.now, context: &far.context)
    }
    far.peer.egress.probe = ActiveProbe(
      plan: ProbePlan(cluster: 1, rate: 300_000, packets: 1, bytes: 0), slot: 1, startedAt: far.now)
    far.peer.probe(nil, now: far.now, context: &far.context)
    all += left(far)
    #expect(all.map { $0[1] & 0x7F } == [100, 100, 101, 101])
    return all
  }

  @Test(arguments: [true, false])
  func `what a packet is on the wire counts for the estimate and for the pace, by IPv4 and by IPv6`(
    isIPv4: Bool
  ) throws {
    let far = try subscriber()
    let (path, overhead) = Self.path(isIPv4: isIPv4)
    far.peer.transport.path = path
    far.peer.egress.pacer.setTarget(1e9)
    _ = far.peer.egress.pacer.mayLeave(far.now)
    let budget = far.peer.egress.pacer.budget
    let packets = try send(100, to: far)
    let bytes = packets.reduce(0) { $0 + $1.count + overhead }
    let inFlight = far.peer.session.estimator.sent.bytesInFlight
    #expect(packets.count == 4 && inFlight == bytes)
    let charged = budget - far.peer.egress.pacer.budget
    #expect(abs(charged - Double(bytes)) < 0.001)
  }

  @Test func `behind a move from IPv4 to IPv6 it is what it is there, from the first packet on`() throws {
    let far = try subscriber()
    far.peer.egress.pacer.setTarget(1e9)
    _ = try send(100, to: far)
    far.peer.transport.path = Self.path(isIPv4: false).path
    far.context.transport.events.noteSelection(isFirst: false)
    far.peer.settle(now: far.now, &far.context)
    let budget = far.peer.egress.pacer.budget
    far.now = far.now + .seconds(1)
    _ = far.peer.egress.pacer.mayLeave(far.now)
    let full = far.peer.egress.pacer.budget
    #expect(full > budget)
    let bytes = try send(101, to: far).reduce(0) { $0 + $1.count + 48 }
    let inFlight = far.peer.session.estimator.sent.bytesInFlight
    #expect(inFlight == bytes, "what left before is of another path")
    let charged = full - far.peer.egress.pacer.budget
    #expect(abs(charged - Double(bytes)) < 0.001)
  }
}
