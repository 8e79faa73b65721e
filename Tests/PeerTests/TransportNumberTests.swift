import Congestion
import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

/// The numbers by which a subscriber says when packets arrived (transport-wide-cc-02).
@Suite("Numbers of a transport", .timeLimit(.minutes(1)))
struct TransportNumberTests {
  private static let track = TrackKey(peer: PeerKey(home: 1, serial: 9), index: 1)
  private static let packet = [UInt8](repeating: 0x80, count: 400)
  private static let id: UInt8 = 5

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

  private func slot(_ index: UInt16, _ kind: MediaKind, repairs: Bool) -> SendSection {
    var slot = ConnectedPeer.slot(index, kind)
    slot.extensions[.transportSequence] = Self.id
    slot.codecs[0].transportCC = true
    if repairs {
      slot.codecs[0].rtxPayloadType = 101
      slot.rtxSSRC = 7_500 + UInt32(index)
    }
    return slot
  }

  /// SSRC and number of what left, in order.
  private func left(_ far: ConnectedPeer) throws -> [(ssrc: UInt32, number: UInt16)] {
    defer { far.context.transport.outbox.removeAll() }
    return try (0..<far.context.transport.outbox.count).map { index in
      let bytes = Array(far.context.transport.outbox.bytes(far.context.transport.outbox[index]))
      let ssrc = bytes[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      try #require(bytes[0] & 0x10 != 0 && bytes[12] == 0xBE && bytes[13] == 0xDE)
      var place = 16
      while place < 16 + 4 * (Int(bytes[14]) << 8 | Int(bytes[15])) {
        guard bytes[place] != 0 else {
          place += 1
          continue
        }
        let size = Int(bytes[place] & 0xF) + 1
        if bytes[place] >> 4 == Self.id {
          return (ssrc, UInt16(bytes[place + 1]) << 8 | UInt16(bytes[place + 2]))
        }
        place += 1 + size
      }
      throw Missing()
    }
  }
  private struct Missing: Error {}

  @Test func `one counter has sound, pictures and probes`() throws {
    let far = try ConnectedPeer(
      AgreedMedia(send: [slot(0, .audio, repairs: false), slot(1, .video, repairs: true)]))
    for index in 0..<2 { _ = far.peer.setSource(slot: index, Self.track, clock: nil) }
    var seen: [(ssrc: UInt32, number: UInt16)] = []
    for sequence in Int64(100)..<110 {
      far.now = far.now + .milliseconds(20)
      Self.packet.withUnsafeBytes {
        far.forward($0, info(sequence, .opus), slot: 0)
        far.forward($0, info(sequence, .vp8), slot: 1)
      }
      seen += try left(far)
      guard sequence == 105 else { continue }
      far.peer.egress.probe = ActiveProbe(
        plan: ProbePlan(cluster: 1, rate: 300_000, packets: 2, bytes: 0), slot: 1, startedAt: far.now)
      far.peer.probe(nil, now: far.now, context: &far.context)
      seen += try left(far)
    }
    #expect(Set(seen.map(\.ssrc)) == [7_000, 7_001, 7_501])
    #expect(
      zip(seen, seen.dropFirst()).allSatisfy { $1.number == $0.number &+ 1 }, "none twice, none left out")
  }
}
