import Media
import Model
import Testing
import Wire

@Suite("What a receiver counts, RFC 3550 A.1, A.3, A.8", .timeLimit(.minutes(5)))
struct ReceptionStatisticsTests {
  /// Takes a run of numbers, which must all be fresh.
  func started(_ sequences: some Sequence<Int>) -> ReceptionStatistics {
    var statistics = ReceptionStatistics()
    for sequence in sequences {
      let arrival = statistics.receive(UInt16(truncatingIfNeeded: sequence))
      if arrival.isDropped { Issue.record("\(sequence) was dropped: \(arrival)") }
    }
    return statistics
  }

  @Test func `numbers never wrap`() {
    var statistics = started([65_534, 65_535])
    #expect(statistics.receive(0) == .fresh(0x2_0000))
    #expect(statistics.receive(1) == .fresh(0x2_0001))
    // From before the wrap, late.
    var late = started([65_533, 65_535, 0])
    #expect(late.receive(65_534) == .fresh(0x1_FFFE))
    #expect(late.highestSequence == 0x2_0000)
  }

  @Test func `the report's highest number counts wraps from the first packet's cycle`() {
    var statistics = started([65_535, 0])
    #expect(statistics.report().highest == 0x1_0000)
    var early = started([0])
    #expect(early.report().highest == 0)
    // A packet from before the first one, across the wrap.
    #expect(early.receive(65_535) == .fresh(0xFFFF))
    #expect(early.report().highest == 0)
  }

  @Test func `a number comes once`() {
    var statistics = started([10, 11, 13])
    #expect(statistics.receive(13) == .dropped(.duplicate))
    #expect(statistics.receive(12) == .fresh(0x1_000C))
    #expect(statistics.receive(12) == .dropped(.duplicate))
    #expect(statistics.packetsReceived == 4)
  }

  @Test func `a number a window behind can't be distinguished from a duplicate, one less can`() {
    var statistics = started([1_000, 1_500, 2_000, 2_023])
    #expect(statistics.recover(999) == .dropped(.tooOld))
    #expect(statistics.recover(1_000) == .dropped(.duplicate))
    #expect(statistics.recover(1_001) == .fresh(0x1_0000 + 1_001))
    _ = statistics.receive(2_024)
    #expect(statistics.recover(1_000) == .dropped(.tooOld))
  }

  @Test func `the window forgets what a long step moves over`() {
    // 1,024 numbers lie in the same places as those before.
    var statistics = started(0..<1_024)
    #expect(statistics.receive(2_500) == .fresh(0x1_0000 + 2_500))
    for sequence in 1_501..<2_500 { #expect(!statistics.receive(UInt16(sequence)).isDropped) }
    #expect(statistics.receive(2_000) == .dropped(.duplicate))
  }

  @Test func `one packet from far away is dropped, a second in line is a new beginning`() {
    var statistics = started([100, 101])
    #expect(statistics.receive(40_000) == .dropped(.sequenceJump))
    #expect(statistics.receive(102) == .fresh(0x1_0066))
    // The one in order took the doubt away.
    #expect(statistics.receive(40_001) == .dropped(.sequenceJump))
    guard case .restarted(let first) = statistics.receive(40_002) else {
      Issue.record("no restart")
      return
    }
    #expect(first & 0xFFFF == 40_002)
    #expect(first > 0x2_0000, "no number of the old run is reached")
    #expect(statistics.receive(40_003) == .fresh(first + 1))
    #expect(statistics.packetsReceived == 2)
  }

  @Test(arguments: [(3_000, true), (2_999, false), (-1_000, true), (-999, false)])
  func `a jump is what A-1 says it is`(distance: Int, isJump: Bool) {
    var statistics = started([20_000])
    #expect((statistics.receive(UInt16(20_000 + distance)) == .dropped(.sequenceJump)) == isJump)
  }

  @Test func `two jumps to different places confirm nothing`() {
    var statistics = started([100])
    for sequence: UInt16 in [40_000, 50_000, 40_000, 50_000, 20_000] {
      #expect(statistics.receive(sequence) == .dropped(.sequenceJump))
    }
    #expect(statistics.receive(101) == .fresh(0x1_0065))
  }

  @Test func `an announced new source restarts even at the next number`() {
    var statistics = started([7, 8])
    statistics.expectRestart()
    #expect(statistics.recover(8) == .dropped(.retransmissionWithoutStream), "whose 8 would it be?")
    guard case .restarted = statistics.receive(9) else {
      Issue.record("no restart")
      return
    }
    #expect(statistics.receive(10) == .fresh(statistics.highestSequence))
  }

  @Test func `a retransmission fills a hole and never leads`() {
    var empty = ReceptionStatistics()
    #expect(empty.recover(5) == .dropped(.retransmissionWithoutStream))
    var statistics = started([10, 12])
    #expect(statistics.recover(11) == .fresh(0x1_000B))
    #expect(statistics.recover(11) == .dropped(.duplicate))
    #expect(statistics.recover(13) == .dropped(.retransmissionWithoutStream))
    #expect(statistics.receive(13) == .fresh(0x1_000D))
    #expect(statistics.report().cumulativeLost == 0)
  }

  // MARK: - A.3

  @Test func `loss is counted since the last report and in all`() {
    // 100 expected, 25 lost.
    var statistics = started((0..<100).filter { $0 % 4 != 2 })
    var report = statistics.report()
    #expect(report.fractionLost == 64)
    #expect(report.cumulativeLost == 25)
    #expect(report.highest == 99)
    // Nothing lost since, nothing new at all.
    for sequence in 100..<150 { _ = statistics.receive(UInt16(sequence)) }
    report = statistics.report()
    #expect(report.fractionLost == 0)
    #expect(report.cumulativeLost == 25)
    report = statistics.report()
    #expect(report.fractionLost == 0)
  }

  @Test func `packets that come late count for the interval in which they come`() {
    var statistics = started([0, 1, 4, 5])
    #expect(statistics.report().fractionLost == 85)  // 2 of 6.
    for sequence: UInt16 in [2, 3, 6] { _ = statistics.receive(sequence) }
    // More came than were expected: negative loss is reported as none.
    let report = statistics.report()
    #expect(report.fractionLost == 0)
    #expect(report.cumulativeLost == 0)
  }

  @Test func `almost everything lost stays below the whole`() {
    var statistics = started([0])
    _ = statistics.report()
    _ = statistics.receive(2_999)
    #expect(statistics.report().fractionLost == 255)
  }

  @Test func `the loss in all stays in 24 bits`() {
    var statistics = started([0])
    var sequence = 0
    for _ in 0..<3_000 {
      sequence += 2_999
      _ = statistics.receive(UInt16(truncatingIfNeeded: sequence))
    }
    #expect(statistics.report().cumulativeLost == 0x7F_FFFF)
  }

  // MARK: - A.8

  @Test func `an even stream has no jitter, an uneven one A-8's`() {
    var even = ReceptionStatistics()
    for index in 0..<100 {
      even.noteTransit(
        timestamp: UInt32(index * 960), arrival: milliseconds(index * 20), clockRate: 48_000)
    }
    #expect(even.jitter == 0)

    var uneven = ReceptionStatistics()
    var reference: Int32 = 0
    for index in 0..<200 {
      let late = index % 2 * 5
      uneven.noteTransit(
        timestamp: UInt32(index * 960), arrival: milliseconds(index * 20 + late), clockRate: 48_000)
      if index > 0 { reference += 240 - ((reference + 8) >> 4) }
    }
    #expect(uneven.jitter == UInt32(reference >> 4))
    #expect(uneven.jitter > 200)
  }

  @Test func `a wrap of the timestamp is no jitter, nor is a media clock that was set`() {
    var statistics = ReceptionStatistics()
    for index in 0..<10 {
      statistics.noteTransit(
        timestamp: 0xFFFF_F000 &+ UInt32(index * 960), arrival: milliseconds(index * 20), clockRate: 48_000)
    }
    #expect(statistics.jitter == 0)
    statistics.noteTransit(timestamp: 0x7000_0000, arrival: milliseconds(200), clockRate: 48_000)
    #expect(statistics.jitter == 0)
  }

  @Test func `its state goes on identically, from any point`() throws {
    var random = RandomSource.seeded(state: 11)
    var a = ReceptionStatistics()
    var next: UInt16 = 65_000
    for step in 0..<3_000 {
      var writer = StateWriter()
      a.encode(into: &writer)
      var reader = StateReader(writer.bytes)
      var b = try ReceptionStatistics(from: &reader)
      try reader.finish()
      switch random.next() % 16 {
      case 0: next &+= UInt16(random.next() % 50)
      case 1: next = UInt16(truncatingIfNeeded: random.next())
      case 2:
        a.expectRestart()
        b.expectRestart()
      default: next &+= 1
      }
      let sequence = random.next() % 8 == 0 ? next &- UInt16(random.next() % 1_100) : next
      if random.next() % 8 == 0 {
        #expect(a.recover(sequence) == b.recover(sequence))
      } else {
        #expect(a.receive(sequence) == b.receive(sequence))
      }
      a.noteTransit(timestamp: UInt32(step) * 900, arrival: milliseconds(step * 11), clockRate: 90_000)
      b.noteTransit(timestamp: UInt32(step) * 900, arrival: milliseconds(step * 11), clockRate: 90_000)
      if step % 37 == 0 { #expect(a.report() == b.report()) }
      #expect(a.jitter == b.jitter && a.packetsReceived == b.packetsReceived)
      a = b
    }
  }
}

@Suite("Reports right after a source has started over", .timeLimit(.minutes(5)))
struct RestartedReportTests {
  /// A hundred packets and a report on them, then the same source from another number.
  private func restarted() -> ReceptionStatistics {
    var statistics = ReceptionStatistics()
    for sequence in 0..<100 { _ = statistics.receive(UInt16(sequence)) }
    _ = statistics.report()
    _ = statistics.receive(40_000)
    _ = statistics.receive(40_001)
    return statistics
  }

  @Test func `nothing is lost by starting over`() {
    var statistics = restarted()
    let report = statistics.report()
    #expect(report.fractionLost == 0 && report.cumulativeLost == 0)
    #expect(report.highest & 0xFFFF == 40_001)
    #expect(statistics.packetsExpected == 1 && statistics.packetsReceived == 1)
  }

  @Test func `what is lost since is counted, and what was before is not`() {
    var statistics = restarted()
    for sequence in [40_003, 40_005, 40_007] { _ = statistics.receive(UInt16(sequence)) }
    let first = statistics.report()
    #expect(first.cumulativeLost == 3 && first.fractionLost == UInt8(3 * 256 / 7))
    _ = statistics.receive(40_008)
    let second = statistics.report()
    #expect(second.cumulativeLost == 3 && second.fractionLost == 0)
  }

  @Test func `no sender report of before is named`() throws {
    var receiver = TrackReceiver(section(.video))
    _ = receiver.take(RTPPacket(sequence: 1, payload: vp8(key: true)).bytes)
    receiver.senderReport(ntp: epoch.ntp(at: milliseconds(5)), timestamp: 450, arrival: milliseconds(5))
    let before = receiver.reportBlock(now: milliseconds(10))
    #expect(try #require(before).lastSenderReport != 0)
    for sequence in [30_000, 30_001] as [UInt16] {
      _ = receiver.take(RTPPacket(sequence: sequence, payload: vp8(key: true)).bytes, at: milliseconds(20))
    }
    let after = receiver.reportBlock(now: milliseconds(30))
    let block = try #require(after)
    #expect(block.lastSenderReport == 0 && block.delaySinceLastSenderReport == 0)
    #expect(block.fractionLost == 0 && block.cumulativeLost == 0)
  }
}
