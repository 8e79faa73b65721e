import Model
import Testing

@Suite("Histogram", .timeLimit(.minutes(1)))
struct HistogramTests {
  /// How many values are counted in the range of each bound.
  private func ranges(_ values: [UInt64], first: UInt64) -> [Int: UInt64] {
    var histogram = Histogram(first: first)
    for value in values { histogram.note(value) }
    var (found, before) = ([Int: UInt64](), UInt64(0))
    for (range, (_, count)) in histogram.cumulative.enumerated() where count > before {
      found[range] = count - before
      before = count
    }
    if histogram.count > before { found[Histogram.rangeCount] = histogram.count - before }
    return found
  }

  @Test func `a value counts in the first range whose bound it doesn't exceed`() {
    #expect(ranges([0, 1, 100], first: 100) == [0: 3])
    #expect(ranges([101, 200], first: 100) == [1: 2])
    #expect(ranges([201, 399, 400, 401], first: 100) == [2: 3, 3: 1])
  }

  @Test(arguments: [1, 3, 100, 50_000] as [UInt64])
  func `every value lies between two bounds`(first: UInt64) {
    var random = RandomSource.seeded(state: first)
    for _ in 0..<10_000 {
      let value = random.next() >> (random.next() % 64)
      guard let range = ranges([value], first: first).keys.first else {
        Issue.record("\(value) is counted nowhere")
        return
      }
      if range < Histogram.rangeCount { #expect(value <= first << UInt64(range)) }
      if range > 0 { #expect(value > first << UInt64(range - 1)) }
    }
  }

  @Test func `what is above all bounds counts, and the largest values don't trap`() {
    #expect(ranges([.max, .max, .max >> 1], first: 1) == [Histogram.rangeCount: 3])
    var histogram = Histogram(first: 0)
    for _ in 0..<3 { histogram.note(.max) }
    #expect(histogram.first == 1 && histogram.count == 3)
  }

  @Test func `a negative span counts as none`() {
    var histogram = Histogram.durations
    histogram.note(.milliseconds(-5))
    histogram.note(.milliseconds(5))
    #expect(histogram.count == 2 && histogram.sum == 5_000_000)
    #expect(histogram.cumulative[0].count == 1)
  }
}
