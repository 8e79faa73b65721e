import Media
import Model
import Testing
import Wire

/// What a subscriber keeps when its slot's source changes.
@Suite("A change of source", .timeLimit(.minutes(5)))
struct SourceChangeTests {
  private func play(_ source: Source, into slot: Slot, at first: Int, count: Int) throws -> [Sent] {
    try (0..<count).map { index in
      try some(slot.forward(try some(source.next(at: first + index * 33, key: index == 0))))
    }
  }

  @Test func `after a late packet the next source goes on behind the highest`() throws {
    let slot = Slot(.video)
    let first = Source(.video, peer: 1, pictureID: 40, tl0: 7)
    slot.feed(first)
    let sent = try play(first, into: slot, at: 0, count: 3)
    let late = try some(first.next(at: 100))
    let highest = try some(slot.forward(try some(first.next(at: 133))))
    let overtaken = try some(slot.forward(late))
    #expect(overtaken.sequence == highest.sequence - 1 && overtaken.sequence == sent[2].sequence + 1)
    let second = Source(.video, peer: 2, sequence: 9, base: 1, pictureID: 3_000, tl0: 200)
    slot.feed(second)
    let next = try some(slot.forward(try some(second.next(at: 166, key: true))))
    #expect(next.sequence == highest.sequence + 1)
    #expect(Int32(bitPattern: next.timestamp &- highest.timestamp) > 0)
    #expect(next.pictureID == (try some(highest.pictureID)) + 1)
    #expect(next.tl0 == (try some(highest.tl0)) &+ 1)
  }

  @Test func `after a late packet sound goes on behind the latest`() throws {
    let slot = Slot(.audio)
    let first = Source(.audio, peer: 1)
    slot.feed(first)
    _ = slot.forward(try some(first.next(at: 0)))
    let late = try some(first.next(at: 20))
    let highest = try some(slot.forward(try some(first.next(at: 40))))
    _ = try some(slot.forward(late))
    let second = Source(.audio, peer: 2, sequence: 50_000, base: 77)
    slot.feed(second)
    let next = try some(slot.forward(try some(second.next(at: 60))))
    #expect(next.sequence == highest.sequence + 1)
    #expect((1...960 * 2).contains(next.timestamp &- highest.timestamp))
  }

  /// As the subscriber sees them: each id one more than the last, in as many bits as the source has.
  @Test(arguments: [
    (126, false, 20_000, true), (0x7FFE, true, 5, false), (0x3F80, true, 100, false),
    (127, false, 0x7FFF, true),
    (300, true, 0x7FFD, true), (120, false, 1, false),
  ])
  func `picture ids go on from one width to another`(first: Int, isLong: Bool, second: Int, isLongThen: Bool)
    throws
  {
    let slot = Slot(.video)
    var last: UInt16?
    for (peer, start, long) in [(1, first, isLong), (2, second, isLongThen), (3, first, isLong)] {
      let source = Source(.video, peer: UInt64(peer), pictureID: UInt16(start))
      source.isLong = long
      slot.feed(source)
      for sent in try play(source, into: slot, at: peer * 1_000, count: 4) {
        let id = try some(sent.pictureID)
        let mask: UInt16 = long ? 0x7FFF : 0x7F
        if let last { #expect(id == (last &+ 1) & mask, "source \(peer)") }
        last = id
      }
    }
  }

  @Test
  func `what is asked for from before a change is refused, also where the new source has such a number`()
    throws
  {
    let slot = Slot(.video)
    let first = Source(.video, peer: 1, pictureID: 1)
    slot.feed(first)
    let before = try play(first, into: slot, at: 0, count: 20)
    // It counts as the other did, and there is more of it from before it was shown.
    let second = Source(.video, peer: 2, pictureID: 1)
    for index in 0..<10 { _ = try some(second.next(at: 700 + index, key: true)) }
    slot.feed(second)
    let after = try play(second, into: slot, at: 800, count: 20)
    for packet in before { #expect(slot.ask(packet.header.sequence, of: second) == nil) }
    for packet in after {
      #expect(slot.ask(packet.header.sequence, of: second)?.original == packet.header.sequence)
    }
    #expect(slot.counters.notRetransmitted == 20 && slot.counters.retransmitted == 20)
  }

  // MARK: - Clocks that aren't those of the packets

  /// A clock as reports tell it, of another incarnation of the source.
  private func other(_ source: Source, by difference: UInt32) throws -> ClockMapping {
    var mapping = try some(source.clock)
    mapping.timestamp &+= difference
    return mapping
  }

  /// Ahead and back, by more than an hour and by seconds.
  static let differences: [UInt32] = [0x6000_0000, 0xA000_0000, 48_000 * 3, 0 &- 48_000 * 3]

  @Test(arguments: differences)
  func `after a source that started over while it was muted the stream goes on by arrivals`(by: UInt32) throws
  {
    let slot = Slot(.audio)
    let first = Source(.audio, peer: 1)
    first.report()
    slot.feed(first)
    let last = try some(slot.forward(try some(first.next(at: 0))))
    // Its packets go no further, and its reports do.
    slot.forwarder.setClock(try other(first, by: by))
    let second = Source(.audio, peer: 2, base: 99)
    second.report()
    slot.feed(second)
    let next = try some(slot.forward(try some(second.next(at: 5_000, delay: 30))))
    #expect(next.timestamp &- last.timestamp == 5_020 * 48)
  }

  @Test(arguments: differences)
  func `a source whose known clock is from before it started over is joined by arrivals`(by: UInt32) throws {
    let slot = Slot(.audio)
    let first = Source(.audio, peer: 1)
    first.report()
    slot.feed(first)
    let last = try some(slot.forward(try some(first.next(at: 0))))
    let second = Source(.audio, peer: 2, base: 99)
    second.report()
    second.clock = try other(second, by: by)
    slot.feed(second)
    let next = try some(slot.forward(try some(second.next(at: 500, delay: 30))))
    #expect(next.timestamp &- last.timestamp == 520 * 48)
  }

  @Test(arguments: [0x6000_0000, 0xA000_0000, 48_000 * 11, 0 &- 48_000 * 11])
  func `no report is made of a clock that isn't that of what was sent`(by: UInt32) throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    source.report()
    slot.feed(source)
    let last = try some(slot.forward(try some(source.next(at: 0))))
    let now = milliseconds(5_000)
    let before = try some(slot.report(now: now))
    #expect(before.rtpTimestamp == last.timestamp &+ 5_000 * 48)
    slot.forwarder.setClock(try other(source, by: by))
    #expect(slot.report(now: now) == nil)
    slot.forwarder.setClock(try some(source.clock))
    #expect(slot.report(now: now) != nil)
  }

  @Test func `the clock of the source before the last is not the last one's`() throws {
    let slot = Slot(.video)
    let first = Source(.video, peer: 1)
    first.report()
    slot.feed(first)
    _ = try play(first, into: slot, at: 0, count: 1)
    // Joined by its arrival, a second late: from there on the stream's timestamps are a second ahead.
    let second = Source(.video, peer: 2, base: 1 << 20)
    slot.feed(second)
    _ = try some(slot.forward(try some(second.next(at: 100, delay: 1_010, key: true))))
    let last = try some(slot.forward(try some(second.next(at: 1_133))))
    // It starts over, and the stream waits for a key frame that doesn't come.
    second.sequence &+= 10_000
    for moment in [1_166, 1_200, 1_233] {
      if let packet = second.next(at: moment) { #expect(slot.forward(packet) == nil) }
    }
    #expect(slot.needsKeyFrame)
    let third = Source(.video, peer: 3, base: 77)
    third.report()
    slot.feed(third)
    let next = try some(slot.forward(try some(third.next(at: 2_000, key: true))))
    #expect(next.timestamp &- last.timestamp == 867 * 90)
  }
}
