import Media
import Model
import Testing
import Wire

@testable import Peer

@Suite("Held tracks and the quality of a path", .timeLimit(.minutes(2)))
struct MuteTests {
  typealias Far = ConnectedPeer

  @Test func `what is held goes no further, and begins anew when it is let go, also in a rebuilt peer`()
    throws
  {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1), Far.section(1, .audio, ssrc: 2)]))
    #expect(far.send(ssrc: 1, payloadType: 96)?.restart == 0)
    far.peer.setMuted(receiver: 0, true)
    far.peer.setMuted(receiver: 0, true)
    far.peer.setMuted(receiver: 7, true)
    try far.rebuild()
    #expect(far.send(ssrc: 1, payloadType: 96) == nil && far.dropped(.trackMuted) == 1)
    #expect(far.send(ssrc: 2, payloadType: 111) != nil, "only that one")
    far.peer.setMuted(receiver: 0, false)
    far.peer.setMuted(receiver: 0, false)
    try far.rebuild()
    let first = try #require(far.send(ssrc: 1, payloadType: 96))
    // Numbers go on, so that what was before isn't taken for new; streams are anchored anew.
    #expect(first.restart == 1 && first.extendedSequence & 0xFFFF == 102)
  }

  @Test func `what was lost while a track was held is not asked for afterwards`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1)]))
    far.send(ssrc: 1, payloadType: 96, sequence: 100)
    far.peer.setMuted(receiver: 0, true)
    far.send(ssrc: 1, payloadType: 96, sequence: 110)
    #expect(far.peer.receiving.pointer(0).pointee.receiver.deadline < .never)
    far.peer.setMuted(receiver: 0, false)
    // A picture is wished for, nothing else.
    var asked = 0
    far.peer.receiving.pointer(0).pointee.receiver.missing(now: far.now + .seconds(1), roundTrip: .zero) {
      _ in
      asked += 1
    }
    #expect(asked == 0)
    let isDue = far.peer.receiving.pointer(0).pointee.receiver.keyFrameDue(now: far.now + .seconds(1))
    #expect(isDue == .pictureLoss)
  }

  @Test func `a late packet behind an unmute makes nothing missing that has come`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1)]))
    for sequence in [100, 102, 103, 104] as [UInt16] {
      far.send(ssrc: 1, payloadType: 96, sequence: sequence)
    }
    far.peer.setMuted(receiver: 0, true)
    far.peer.setMuted(receiver: 0, false)
    far.send(ssrc: 1, payloadType: 96, sequence: 101)
    far.send(ssrc: 1, payloadType: 96, sequence: 105)
    var asked: [UInt16] = []
    far.peer.receiving.pointer(0).pointee.receiver.missing(now: far.now + .seconds(1), roundTrip: .zero) {
      asked.append($0)
    }
    #expect(asked.isEmpty)
  }

  @Test func `the codec of a track is that of its last packet`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1)]))
    #expect(far.peer.format(ofReceiver: 0) == nil && far.peer.format(ofReceiver: 3) == nil)
    far.send(ssrc: 1, payloadType: 96)
    try far.rebuild()
    #expect(far.peer.format(ofReceiver: 0) == .vp8)
  }

  @Test func `bit rates are those of the last second, and fall to nothing when nothing flows`() throws {
    var tally = TrafficTally(since: Instant(nanoseconds: 1_000_000_000))
    var changes: [Bool] = []
    for _ in 0..<100 { tally.cameIn(1_000) }
    tally.wentOut(250)
    #expect(tally.bitrates == Bitrates())
    changes.append(tally.tally(now: Instant(nanoseconds: 2_000_000_000)))
    #expect(tally.bitrates == Bitrates(received: 800_000, sent: 2_000))
    // No time has passed.
    changes.append(tally.tally(now: Instant(nanoseconds: 2_000_000_000)))
    tally.cameIn(50_000)
    tally.wentOut(125)
    changes.append(tally.tally(now: Instant(nanoseconds: 2_500_000_000)))
    #expect(tally.bitrates == Bitrates(received: 800_000, sent: 2_000))
    changes.append(tally.tally(now: Instant(nanoseconds: 4_000_000_000)))
    #expect(tally.bitrates == Bitrates())
    changes.append(tally.tally(now: Instant(nanoseconds: 5_000_000_000)))
    #expect(changes == [true, false, false, true, false])
  }

  @Test func `a peer's bit rates count what came and what went, and are told when all falls silent`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1)]))
    for number in 0..<50 { far.send(ssrc: 1, payloadType: 96, sequence: UInt16(100 + number)) }
    #expect(far.peer.quality.bitrates == Bitrates())
    far.now = far.now + .seconds(1)
    far.peer.sendReports(now: far.now, &far.context)
    let rates = far.peer.quality.bitrates
    #expect(rates.received > 50 * 30 * 8 / 2)
    far.now = far.now + .seconds(1)
    far.peer.sendReports(now: far.now, &far.context)
    #expect(far.peer.quality.bitrates.received == 0)
  }

  @Test func `loss is the worse of both directions, smoothed, and what nobody can have sent is no loss`() {
    var tally = LossTally()
    for step in 1...40 { tally.tally(expected: Int64(step) * 100, received: Int64(step) * 90) }
    #expect(abs(Int(tally.worse) - 6_553) < 10)
    for step in 41...80 {
      tally.reported(fraction: 64, of: 100, sent: 100)
      tally.tally(expected: Int64(step) * 100, received: Int64(step) * 100 - 400)
    }
    #expect(abs(Int(tally.worse) - 16_384) < 10)
    // What the publisher's own path lost is nothing to the subscriber's.
    var innocent = LossTally()
    for _ in 0..<40 {
      innocent.reported(fraction: 128, of: 100, sent: 50)
      innocent.tally(expected: 0, received: 0)
    }
    #expect(innocent.worse == 0)
    // Tracks that end, sources that start over, reports of nothing or of everything.
    var extreme = LossTally()
    extreme.tally(expected: .max, received: .min)
    extreme.tally(expected: .min, received: .max)
    extreme.tally(expected: 0, received: 0)
    for _ in 0..<1_000 { extreme.reported(fraction: 255, of: .max, sent: .max) }
    extreme.tally(expected: -5, received: 5)
    #expect(extreme.worse <= 65_535 / 2)
  }
}
