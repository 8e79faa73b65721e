import Model
import Testing

@Suite("Window of bits", .timeLimit(.minutes(2)))
struct BitWindowTests {
  private typealias Window = BitWindow<64>

  @Test func `a number and its neighbours are distinguished at word borders`() {
    for first in [0, 63, 64, 4_095, 4_096, -1, -64, 1 << 40] as [Int64] {
      var window = Window(first: first)
      #expect(window.contains(first))
      #expect(!window.contains(first + 1) && !window.contains(first - 1))
      window.insert(first + 2)
      #expect(window.top == first + 2)
      #expect(!window.contains(first + 1))
      window.insert(first + 1)
      #expect(window.top == first + 2)
      #expect(window.contains(first) && window.contains(first + 1) && window.contains(first + 2))
    }
  }

  @Test func `a number that shares a bit with one that left the window is not there`() {
    var window = Window(first: 10)
    window.insert(10 + Window.size - 1)
    #expect(window.contains(10))
    window.insert(10 + Window.size)
    #expect(window.contains(10 + Window.size))
    #expect(!window.contains(10))
    window.insert(11 + Window.size + 100)
    #expect(!window.contains(11 + Window.size))
  }

  @Test func `beyond is a whole window away, ahead or behind`() {
    let window = Window(first: 10_000)
    #expect(!window.isBeyond(10_000 + 4_095) && window.isBeyond(10_000 + 4_096))
    #expect(!window.isBeyond(10_000 - 4_095) && window.isBeyond(10_000 - 4_096))
  }

  @Test func `it answers as a set of the last 4,096 numbers does`() {
    var random = RandomSource.seeded(state: 23)
    for round in 0..<40 {
      var top = Int64.random(in: -10_000...100_000, using: &random)
      var window = Window(first: top)
      var model: Set<Int64> = [top]
      let stride = [3, 70, 500, 4_095][round % 4] as Int64
      for _ in 0..<120 {
        let next = top + .random(in: -stride...stride, using: &random)
        guard !window.isBeyond(next) else { continue }
        window.insert(next)
        top = max(top, next)
        model.insert(next)
        model = model.filter { $0 > top - Window.size }

        let asked = top + .random(in: -5_000...100, using: &random)
        #expect(window.contains(asked) == model.contains(asked))
        let lower = top + .random(in: -5_000...10, using: &random)
        let upper = lower + .random(in: 0...200, using: &random)
        #expect(window.containsAny(from: lower, upTo: upper) == model.contains { $0 >= lower && $0 < upper })
      }
      #expect(window.top == top)
    }
  }

  @Test func `an empty or reversed stretch holds nothing`() {
    let window = Window(first: 5)
    #expect(!window.containsAny(from: 5, upTo: 5))
    #expect(!window.containsAny(from: 9, upTo: 2))
    #expect(window.containsAny(from: .min, upTo: .max))
  }

  @Test(arguments: [1, 63, 64, 65, 1_022, 1_023, 1_024, 1_025, 1 << 40] as [Int64])
  func `a jump forgets what it moves over and nothing else`(jump: Int64) {
    var window = BitWindow<16>(first: 1_000)
    for number in 1_001...2_023 as ClosedRange<Int64> { window.insert(number) }
    let top = 2_023 + jump
    window.insert(top)
    for number in (top - 1_023)..<top { #expect(window.contains(number) == (number <= 2_023)) }
    #expect(window.contains(top))
  }

  @Test func `a number that is a whole window behind changes nothing`() {
    var window = BitWindow<16>(first: 5_000)
    window.insert(5_000 - 1_024)
    #expect(window.top == 5_000)
    // It shares the highest one's bit, which stays; and the next one's bit is not set by what lies behind.
    window.insert(5_001 - 1_024 - 1_024)
    #expect(window.contains(5_000) && !window.contains(5_001 - 1_024))
  }

  @Test func `a window goes on from its bits`() {
    var window = BitWindow<16>(first: 9_000)
    for number in stride(from: 9_007, to: 12_000, by: 7) as StrideTo<Int64> { window.insert(number) }
    let copy = BitWindow<16>(top: window.top, bits: window.bits)
    for number in 8_000...13_000 as ClosedRange<Int64> {
      #expect(copy.contains(number) == window.contains(number))
    }
  }

  @Test func `a jump over all numbers there are forgets everything`() {
    var window = BitWindow<16>(first: .min)
    window.insert(.min + 1)
    window.insert(.max)
    #expect(window.contains(.max) && !window.contains(.max - 1_022) && !window.contains(.min))
    #expect(window.isBehind(.min) && !window.containsAny(from: .min, upTo: .max))
  }
}
