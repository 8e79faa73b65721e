import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

@Suite("Sections and streams of a peer", .timeLimit(.minutes(2)))
struct PeerSectionTests {
  typealias Far = ConnectedPeer

  @Test func `an announced stream is taken, a foreign one isn't`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1_000, rtxSSRC: 1_001)]))
    #expect(far.send(ssrc: 1_000, payloadType: 96) != nil)
    #expect(far.send(ssrc: 2_000, payloadType: 96) == nil)
    #expect(far.dropped(.streamUnmapped) == 1)
  }

  @Test func `a stream that names its section is taken by it, if the section knows its payload type`() throws
  {
    let far = try Far(AgreedMedia(receive: [Far.section(0), Far.section(1, .audio)]))
    #expect(far.send(ssrc: 5, payloadType: 111, extensions: [(1, "0")]) == nil)
    #expect(far.send(ssrc: 5, payloadType: 96, extensions: [(1, "9")]) == nil)
    #expect(far.send(ssrc: 5, payloadType: 96, extensions: [(1, "1")]) == nil)
    #expect(far.receives(5) == nil)
    #expect(far.send(ssrc: 5, payloadType: 96, extensions: [(1, "0")])?.format == .vp8)
    #expect(far.send(ssrc: 6, payloadType: 111, extensions: [(1, "1")])?.format == .opus)
    // Known from then on.
    #expect(far.send(ssrc: 5, payloadType: 96) != nil)
    #expect(far.receives(5) == 0 && far.receives(6) == 1)
  }

  @Test func `of several sections that a packet names the first takes its stream`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0), Far.section(1, .audio)]))
    let names: [(UInt8, String)] = [(1, "0")] + Array(repeating: (1, "1"), count: 200)
    #expect(far.send(ssrc: 5, payloadType: 96, extensions: names)?.format == .vp8)
    #expect(far.send(ssrc: 6, payloadType: 111, extensions: names) == nil)
    #expect(far.receives(5) == 0 && far.receives(6) == nil)
  }

  @Test func `of a simulcast only the agreed encoding is taken, and what repairs it`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, rid: "f")]))
    #expect(far.send(ssrc: 1, payloadType: 96, extensions: [(1, "0"), (2, "q")]) == nil)
    #expect(far.send(ssrc: 2, payloadType: 96, extensions: [(1, "0")]) == nil, "it doesn't say which it is")
    #expect(far.send(ssrc: 3, payloadType: 96, extensions: [(1, "0"), (2, "ff")]) == nil)
    #expect(far.send(ssrc: 4, payloadType: 96, extensions: [(1, "0"), (2, "f")]) != nil)
    for _ in 0..<5 {
      #expect(far.send(ssrc: 1, payloadType: 96, extensions: [(1, "0"), (2, "q")]) == nil)
      #expect(far.send(ssrc: 4, payloadType: 96) != nil)
    }
    #expect(far.ssrc(0) == 4)
    // Retransmissions of another encoding, and of this one.
    let original: [UInt8] = [0, 50, 0x10, 0, 1]
    far.send(ssrc: 11, payloadType: 97, extensions: [(1, "0"), (3, "q")], payload: original)
    far.send(ssrc: 12, payloadType: 97, extensions: [(1, "0"), (2, "f")], payload: original)
    #expect(far.receives(11) == nil && far.receives(12) == nil)
    far.send(ssrc: 13, payloadType: 97, extensions: [(1, "0"), (3, "f")], payload: original)
    #expect(far.receives(13) == 0)
    // After a restart of the server's process, too.
    try far.rebuild()
    #expect(far.send(ssrc: 1, payloadType: 96, extensions: [(1, "0"), (2, "q")]) == nil)
    #expect(far.send(ssrc: 4, payloadType: 96) != nil)
  }

  @Test func `a section's stream may change its SSRC for ever without filling a table`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0)]))
    for ssrc in 1...2_000 as ClosedRange<UInt32> {
      far.now = far.now + .milliseconds(100)
      #expect(far.send(ssrc: ssrc, payloadType: 96, extensions: [(1, "0")]) != nil)
    }
    #expect(far.streamCount == 1)
    #expect(far.restarts(0) == UInt8(1_999 % 256))
  }

  @Test func `a section's stream changes its SSRC once in a tenth of a second`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1, rtxSSRC: 2)]))
    far.send(ssrc: 1, payloadType: 96)
    far.now = far.now + .seconds(1)
    #expect(far.send(ssrc: 3, payloadType: 96, extensions: [(1, "0")]) != nil)
    // Neither another one nor a late packet of the first.
    far.now = far.now + .milliseconds(99)
    #expect(far.send(ssrc: 4, payloadType: 96, extensions: [(1, "0")]) == nil)
    #expect(far.send(ssrc: 1, payloadType: 96, extensions: [(1, "0")]) == nil)
    #expect(far.dropped(.streamChurn) == 2 && far.receives(3) == 0)
    far.now = far.now + .milliseconds(1)
    #expect(far.send(ssrc: 4, payloadType: 96, extensions: [(1, "0")]) != nil)
    // Its retransmissions name themselves at once.
    #expect(far.send(ssrc: 5, payloadType: 97, extensions: [(1, "0")], payload: [0, 99, 0x10, 0, 1]) != nil)
  }

  @Test func `nothing comes in under an SSRC by which we send to the peer`() throws {
    var slot = Far.slot(0)
    slot.rtxSSRC = 7_100
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 7_000), Far.section(1)], send: [slot]))
    #expect(far.send(ssrc: 7_000, payloadType: 96) == nil, "announced")
    #expect(far.send(ssrc: 7_100, payloadType: 96, extensions: [(1, "1")]) == nil, "named")
    #expect(far.dropped(.streamOfOurs) == 2 && far.streamCount == 0)
    #expect(far.send(ssrc: 7_001, payloadType: 96, extensions: [(1, "1")]) != nil)
  }

  @Test func `what repaired the old stream does not repair the new one`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1, rtxSSRC: 2)]))
    far.send(ssrc: 1, payloadType: 96, sequence: 200)
    #expect(far.send(ssrc: 3, payloadType: 96, sequence: 202, extensions: [(1, "0")]) != nil)
    #expect(far.send(ssrc: 2, payloadType: 97, payload: [0, 201, 0x10, 0, 1]) == nil)
    #expect(far.receives(2) == nil)
    // It may name itself again.
    #expect(far.send(ssrc: 2, payloadType: 97, extensions: [(1, "0")], payload: [0, 201, 0x10, 0, 1]) != nil)
  }

  @Test func `descriptions that name other streams leave none behind`() throws {
    let far = try Far(AgreedMedia())
    for round in 0..<600 as Range<UInt32> {
      far.apply(AgreedMedia(receive: [Far.section(0, ssrc: 10 + round, rtxSSRC: 10_000 + round)]))
      #expect(far.send(ssrc: 10 + round, payloadType: 96) != nil)
      #expect(far.streamCount == 2)
    }
    far.apply(AgreedMedia())
    #expect(far.streamCount == 0)
    #expect(far.send(ssrc: 609, payloadType: 96) == nil)
  }

  @Test func `two sections may exchange their streams`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1), Far.section(1, ssrc: 2)]))
    far.send(ssrc: 1, payloadType: 96)
    far.send(ssrc: 2, payloadType: 96)
    far.apply(AgreedMedia(receive: [Far.section(0, ssrc: 2), Far.section(1, ssrc: 1)]))
    #expect(far.receives(1) == 1 && far.receives(2) == 0)
    #expect(far.send(ssrc: 1, payloadType: 96)?.restart == 1)
    // What was received under the old assignment is still refused.
    #expect(far.send(ssrc: 1, payloadType: 96, sequence: 100) == nil)
    #expect(far.dropped(.srtpReplayed) == 1)
  }

  @Test func `clocks are as many as names in use`() throws {
    let far = try Far(AgreedMedia())
    for round in 0..<1_500 {
      far.apply(
        AgreedMedia(receive: [
          Far.section(0, ssrc: 1, cname: "name \(round)"),
          Far.section(1, .audio, ssrc: 2, cname: "name \(round)"),
          Far.section(2, ssrc: 3, cname: "constant"),
        ]))
    }
    #expect(far.clockCount == 2 && far.clockNames == ["name 1499", "constant"])
    try far.rebuild()
  }

  @Test func `a number that comes before a lower one leaves no stream to it`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(3, ssrc: 30, rtxSSRC: 31)], send: [Far.slot(2)]))
    #expect(far.kind(ofReceiver: 0) == nil && far.kind(ofReceiver: 3) == .video)
    #expect(far.kind(ofSlot: 1) == nil && far.kind(ofSlot: 2) == .video)
    #expect(far.kind(ofReceiver: -1) == nil && far.kind(ofSlot: 99) == nil)
    far.apply(
      AgreedMedia(
        receive: [Far.section(0, .audio), Far.section(3, ssrc: 30, rtxSSRC: 31)],
        send: [Far.slot(1, .audio), Far.slot(2)]))
    #expect(far.ssrc(0) == nil)
    #expect(far.trackKind(0) == .audio)
    #expect(far.slotKind(1) == .audio)
    #expect(far.send(ssrc: 40, payloadType: 111, extensions: [(1, "0")])?.format == .opus)
    #expect(far.receives(30) == 3)
    #expect(far.send(ssrc: 30, payloadType: 96) != nil)
  }

  @Test func `indices beyond the limit are ignored`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(1_024, ssrc: 1)], send: [Far.slot(.max)]))
    #expect(far.receiverCount == 0 && far.slotCount == 0)
    #expect(far.send(ssrc: 1, payloadType: 96) == nil)
  }

  @Test func `a peer with gone sections is the same after it was rebuilt`() throws {
    let far = try Far(
      AgreedMedia(
        receive: [Far.section(0, ssrc: 1), Far.section(1, ssrc: 2)], send: [Far.slot(0), Far.slot(1)]))
    far.send(ssrc: 1, payloadType: 96)
    far.send(ssrc: 2, payloadType: 96)
    far.apply(AgreedMedia(receive: [Far.section(1, ssrc: 2)], send: [Far.slot(1)]))
    try far.rebuild()
    #expect(far.kind(ofReceiver: 0) == nil && far.kind(ofSlot: 0) == nil)
    #expect(far.send(ssrc: 1, payloadType: 96) == nil)
    #expect(far.send(ssrc: 2, payloadType: 96) != nil)
    #expect(far.send(ssrc: 2, payloadType: 96, sequence: 101) == nil, "a replay stays one")
  }
}

@Suite("State of a peer", .timeLimit(.minutes(2)))
struct PeerStateTests {
  typealias Far = ConnectedPeer

  func whole() throws -> [UInt8] {
    let far = try Far(
      AgreedMedia(
        receive: [Far.section(0, ssrc: 1, rtxSSRC: 2, rid: "f"), Far.section(1, .audio, ssrc: 3)],
        send: [Far.slot(0), Far.slot(1, .audio)]))
    far.send(ssrc: 1, payloadType: 96)
    _ = far.peer.setSource(slot: 0, TrackKey(peer: PeerKey(home: 1, serial: 5), index: 2), clock: nil)
    guard let state = far.peer.encode() else { throw StateError.invalid(field: "none", offset: 0) }
    return state
  }

  func error(_ bytes: [UInt8]) -> StateError? {
    do throws(StateError) {
      _ = try Peer.decode(bytes)
      return nil
    } catch { return error }
  }

  @Test func `cut anywhere it is refused`() throws {
    let state = try whole()
    #expect(error(state) == nil)
    for size in stride(from: 0, to: state.count, by: 7) { #expect(error(Array(state[..<size])) != nil) }
    #expect(error(state + [0]) == .trailingBytes(count: 1))
  }

  @Test func `another version is named`() throws {
    var state = try whole()
    state[0] = 77
    #expect(error(state) == .version(77, of: "peer", known: 6...6, offset: 0))
  }

  @Test func `with any byte changed nothing traps`() throws {
    let state = try whole()
    var random = RandomSource.seeded(state: 1)
    for position in stride(from: 2, to: state.count, by: 3) {
      var changed = state
      changed[position] ^= UInt8(1 + random.next() % 255)
      _ = error(changed)
    }
  }
}
