import Congestion
import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

/// What a subscriber may have by asking.
@Suite("What is sent again", .timeLimit(.minutes(1)))
struct RepairTests {
  private static let track = TrackKey(peer: PeerKey(home: 1, serial: 9), index: 1)
  private static let packet = [UInt8](repeating: 0x80, count: 1_000)

  private func info(_ sequence: Int64) -> PacketInfo {
    var info = PacketInfo()
    info.format = .vp8
    info.primaryFormat = .vp8
    info.extendedSequence = sequence
    info.timestamp = UInt32(truncatingIfNeeded: sequence * 3_000)
    info.payloadOffset = 12
    info.payloadSize = UInt16(Self.packet.count - 12)
    info.flags = [.keyFrame]
    return info
  }

  /// One whose reports say that nothing is lost, of whose path nothing else is known.
  private func subscriber() throws -> ConnectedPeer {
    var slot = ConnectedPeer.slot(0)
    slot.codecs[0].rtxPayloadType = 101
    slot.rtxSSRC = 7_500
    let far = try ConnectedPeer(AgreedMedia(send: [slot]))
    far.context.heedsReports = false
    _ = far.peer.setSource(slot: 0, Self.track, clock: nil)
    return far
  }

  private func send(_ sequence: Int64, _ far: ConnectedPeer) {
    Self.packet.withUnsafeBytes { far.forward($0, info(sequence), slot: 0) }
  }

  private func leave(_ far: ConnectedPeer) -> [[UInt8]] {
    defer { far.context.transport.outbox.removeAll() }
    return (0..<far.context.transport.outbox.count).map {
      Array(far.context.transport.outbox.bytes(far.context.transport.outbox[$0]))
    }
  }

  /// Asks for the last hundred packets.
  private func askForAll(upTo last: UInt16, _ far: ConnectedPeer) {
    for back in 0..<UInt16(100) {
      guard
        let request = far.peer.retransmission(of: last &- back, slot: 0, now: far.now, context: &far.context)
      else { continue }
      far.peer.retransmit(request, slot: 0, packet: PacketReference(track: 0, sequence: request.source))
    }
    while let next = far.peer.nextDeparture(now: far.now, context: &far.context) {
      Self.packet.withUnsafeBytes {
        far.peer.depart($0, info(next.sequence), now: far.now, context: &far.context)
      }
    }
  }

  @Test func `where nothing is known of a path, repairs keep to their share of what leaves`() throws {
    let far = try subscriber()
    // 2 Mbit/s of media for ten seconds, and everything is asked for again, again and again.
    var (media, again) = (0, 0)
    var sequence: Int64 = 100
    var last: UInt16 = 0
    for step in 0..<1_000 {
      far.now = far.now + .milliseconds(10)
      for _ in 0..<(step % 2 == 0 ? 3 : 2) {
        send(sequence, far)
        sequence += 1
      }
      for bytes in leave(far) {
        media += bytes.count + 28
        last = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
      }
      askForAll(upTo: last, far)
      again += leave(far).reduce(0) { $0 + $1.count + 28 }
      far.peer.poll(now: far.now, context: &far.context)
      _ = leave(far)
    }
    #expect(media > 2_400_000 && again > media / 10)
    #expect(Double(again) < Double(media) * 0.36, "\(again) of \(media)")
    #expect(far.dropped(SessionDrop.nackRefused) > 1_000)
  }

  @Test func `losses in a row are answered at once, as far as a quarter of a second's share goes`() throws {
    let far = try subscriber()
    for sequence in Int64(100)..<130 { send(sequence, far) }
    let last = leave(far).last.map { UInt16($0[2]) << 8 | UInt16($0[3]) } ?? 0
    far.peer.poll(now: far.now, context: &far.context)
    _ = leave(far)
    far.now = far.now + .milliseconds(300)
    askForAll(upTo: last, far)
    // Of 600 kbit/s: 180 kbit/s, 5.6 kB.
    #expect((5...7).contains(leave(far).count))
  }

  @Test func `what is sent again bears the time at which it leaves`() throws {
    let far = try subscriber()
    for sequence in Int64(100)..<103 { send(sequence, far) }
    let last = leave(far).last.map { UInt16($0[2]) << 8 | UInt16($0[3]) } ?? 0
    let request = far.peer.retransmission(of: last, slot: 0, now: far.now, context: &far.context)
    let wanted = try #require(request)
    far.peer.retransmit(wanted, slot: 0, packet: PacketReference(track: 0, sequence: wanted.source))
    far.now = far.now + .seconds(1)
    let next = try #require(far.peer.nextDeparture(now: far.now, context: &far.context))
    Self.packet.withUnsafeBytes {
      far.peer.depart($0, info(next.sequence), now: far.now, context: &far.context)
    }
    let recording = far.peer.recording(now: far.now)
    var times: [Int64] = []
    recording.visit { head, _ in if head.kind == .rtpOut { times.append(head.at) } }
    #expect(times.last == far.now.nanoseconds)
  }

  @Test func `the codec of a track is that of the encoding that was heard last`() throws {
    var section = ConnectedPeer.section(0)
    section.codecs.append(NegotiatedCodec(codec: .h264, payloadType: 98, nack: true, pli: true))
    section.encodings = [ReceiveEncoding(rid: "f", ssrc: 1), ReceiveEncoding(rid: "q", ssrc: 2)]
    let far = try ConnectedPeer(AgreedMedia(receive: [section]))
    far.send(ssrc: 1, payloadType: 98, extensions: [(1, "0"), (2, "f")], payload: [0x65, 0x80, 1])
    far.send(ssrc: 2, payloadType: 98, extensions: [(1, "0"), (2, "q")], payload: [0x65, 0x80, 1])
    let both = far.peer.format(ofReceiver: 0)
    #expect(both?.codec == .h264)
    // The first is off by now; the other goes on in another codec.
    far.send(ssrc: 2, payloadType: 96, extensions: [(1, "0"), (2, "q")])
    #expect(far.peer.format(ofReceiver: 0) == .vp8)
  }
}
