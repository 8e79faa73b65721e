import Crypto
import Model
import Testing

@Suite("Packet indices, RFC 3711 section 3.3", .timeLimit(.minutes(5)))
struct IndexWindowTests {
  @Test func `an index is fresh once`() {
    var window = IndexWindow()
    #expect(window.highest == nil)
    #expect(window.check(0) == .fresh)
    window.insert(0)
    #expect(window.check(0) == .duplicate)
    #expect(window.check(1) == .fresh)
    #expect(window.highest == 0)
  }

  @Test func `what is 1,024 or more below the highest is too old`() {
    var window = IndexWindow()
    window.insert(5_000)
    #expect(window.check(5_000 - 1_023) == .fresh)
    #expect(window.check(5_000 - 1_024) == .tooOld)
    window.insert(5_000 - 1_024)
    #expect(window.highest == 5_000)
    #expect(window.check(5_000 - 1_024) == .tooOld)
  }

  @Test func `indices near the first are not too old`() {
    var window = IndexWindow()
    window.insert(3)
    #expect(window.check(0) == .fresh)
    window.insert(0)
    #expect(window.check(0) == .duplicate)
    #expect(window.check(1) == .fresh)
  }

  @Test(arguments: [1, 2, 63, 64, 65, 500, 1_022, 1_023, 1_024, 1_025, 100_000, 1 << 47] as [UInt64])
  func `a jump forgets what it moves over and nothing else`(jump: UInt64) {
    var window = IndexWindow()
    for index: UInt64 in 1_000...2_023 { window.insert(index) }
    let top = 2_023 + jump
    window.insert(top)
    for index in (top - 1_023)..<top {
      #expect(window.check(index) == (index <= 2_023 ? .duplicate : .fresh))
    }
    #expect(window.check(top - 1_024) == .tooOld)
  }

  @Test func `it agrees with a plain set over random arrivals`() {
    var random = RandomSource.seeded(state: 7)
    var window = IndexWindow()
    var seen: Set<UInt64> = []
    var highest: UInt64 = 70_000
    for _ in 0..<50_000 {
      let index = highest &+ random.next() % 1_400 &- 1_200
      let expected: IndexWindow.Verdict =
        if let top = window.highest, index <= top, top - index >= 1_024 {
          .tooOld
        } else {
          seen.contains(index) ? .duplicate : .fresh
        }
      #expect(window.check(index) == expected)
      window.insert(index)
      seen.insert(index)
      highest = max(highest, index)
    }
  }

  @Test func `the largest numbers do not confuse it`() {
    var window = IndexWindow()
    window.insert(.max - 10)
    window.insert(.max)
    #expect(window.check(.max) == .duplicate)
    #expect(window.check(.max - 1) == .fresh)
    #expect(window.check(.max - 10) == .duplicate)
    #expect(window.check(0) == .tooOld)
  }

  @Test func `a rebuilt window knows what the old one knew`() throws {
    var window = IndexWindow()
    for index: UInt64 in stride(from: 9_000, to: 12_000, by: 7) { window.insert(index) }
    var writer = StateWriter()
    window.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    let copy = try IndexWindow(from: &reader)
    for index: UInt64 in 8_000...13_000 { #expect(copy.check(index) == window.check(index)) }
  }

  @Test func `a window whose highest index is not in it is no state`() {
    var writer = StateWriter()
    writer.write(true)
    writer.write(UInt64(77))
    for _ in 0..<16 { writer.write(UInt64(0)) }
    let bytes = writer.bytes
    #expect(throws: StateError.self) {
      var reader = StateReader(bytes)
      _ = try IndexWindow(from: &reader)
    }
  }
}

@Suite("Index estimation, RFC 3711 section 3.3.1", .timeLimit(.minutes(5)))
struct RTPIndexTests {
  @Test(
    arguments: [
      // Within one rollover counter.
      (10, 0x1_0005, 0x1_000A), (3, 0x1_0005, 0x1_0003),
      // Forward and back across the rollover.
      (2, 0x1_FFFE, 0x2_0002), (0xFFFE, 0x2_0002, 0x1_FFFE),
      // Half a range apart, one less, one more.
      (0x8000, 0x1_0000, 0x1_8000), (0x7FFF, 0x1_0000, 0x1_7FFF), (0x8001, 0x1_0000, 0x0_8001),
      (0x0000, 0x1_8000, 0x1_0000), (0xFFFF, 0x1_8000, 0x1_FFFF), (0x0000, 0x1_8001, 0x2_0000),
      // Nothing is before the first rollover counter.
      (0xFFFF, 0x0_0001, 0x0_FFFF), (0x9000, 0x0_0FFF, 0x0_9000),
      // The last counter.
      (1, 0xFFFF_FFFF_FFFF, 0x1_0000_0000_0001),
    ] as [(UInt16, UInt64, UInt64)])
  func `the index nearest to the highest is meant`(sequence: UInt16, highest: UInt64, expected: UInt64) {
    #expect(RTPIndex.estimate(sequence: sequence, highest: highest) == expected)
  }

  @Test func `it follows a stream that loses up to half a range at a time`() {
    var random = RandomSource.seeded(state: 11)
    var index: UInt64 = 0
    for _ in 0..<10_000 {
      let next = index + 1 + random.next() % 0x7FFF
      #expect(RTPIndex.estimate(sequence: UInt16(truncatingIfNeeded: next), highest: index) == next)
      index = next
    }
  }
}

@Suite("Seal guard", .timeLimit(.minutes(5)))
struct SealGuardTests {
  @Test func `an index is admitted once, a repetition is counted`() {
    var seals = SealGuard(traps: false)
    let admitted = [65_536, 65_535, 65_536, 65_535].map { seals.admit($0) }
    #expect(admitted == [true, true, false, false])
    #expect(seals.refused == 2)
    #expect(seals.highest == 65_536)
  }

  @Test func `an index older than the window is refused`() {
    var seals = SealGuard(traps: false)
    let admitted = [10_000, 10_000 - 1_024, 10_000 - 1_023].map { seals.admit($0) }
    #expect(admitted == [true, false, true])
    #expect(seals.refused == 1)
  }

  @Test func `a rebuilt guard admits nothing twice`() throws {
    var seals = SealGuard(traps: false)
    #expect((100..<200).map { seals.admit($0) }.allSatisfy { $0 })
    var writer = StateWriter()
    seals.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    var copy = try SealGuard(from: &reader)
    let admitted = (100...200).map { copy.admit($0) }
    #expect(admitted == Array(repeating: false, count: 100) + [true])
  }

  #if DEBUG
    @Test func `a repeated index traps in debug builds`() async {
      await #expect(processExitsWith: .failure) {
        var seals = SealGuard()
        _ = seals.admit(1)
        _ = seals.admit(1)
      }
    }
  #endif
}
