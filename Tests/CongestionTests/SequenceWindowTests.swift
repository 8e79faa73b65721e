import Model
import Testing

@testable import Congestion

@Suite("Window of sequence numbers", .timeLimit(.minutes(2)))
struct SequenceWindowTests {
  @Test func `a number and its neighbours are told apart at word borders`() {
    for first in [0, 63, 64, 4_095, 4_096, -1, -64, 1 << 40] as [Int64] {
      var window = SequenceWindow(first: first)
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
    var window = SequenceWindow(first: 10)
    window.insert(10 + SequenceWindow.size - 1)
    #expect(window.contains(10))
    window.insert(10 + SequenceWindow.size)
    #expect(window.contains(10 + SequenceWindow.size))
    #expect(!window.contains(10))
    window.insert(11 + SequenceWindow.size + 100)
    #expect(!window.contains(11 + SequenceWindow.size))
  }

  @Test func `beyond is a whole window away, ahead or behind`() {
    let window = SequenceWindow(first: 10_000)
    #expect(!window.isBeyond(10_000 + 4_095) && window.isBeyond(10_000 + 4_096))
    #expect(!window.isBeyond(10_000 - 4_095) && window.isBeyond(10_000 - 4_096))
  }

  @Test func `it answers as a set of the last 4,096 numbers does`() {
    var random = RandomSource.seeded(state: 23)
    for round in 0..<40 {
      var top = Int64.random(in: -10_000...100_000, using: &random)
      var window = SequenceWindow(first: top)
      var model: Set<Int64> = [top]
      let stride = [3, 70, 500, 4_095][round % 4] as Int64
      for _ in 0..<120 {
        let next = top + .random(in: -stride...stride, using: &random)
        guard !window.isBeyond(next) else { continue }
        window.insert(next)
        top = max(top, next)
        model.insert(next)
        model = model.filter { $0 > top - SequenceWindow.size }

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
    let window = SequenceWindow(first: 5)
    #expect(!window.containsAny(from: 5, upTo: 5))
    #expect(!window.containsAny(from: 9, upTo: 2))
    #expect(window.containsAny(from: .min, upTo: .max))
  }
}
