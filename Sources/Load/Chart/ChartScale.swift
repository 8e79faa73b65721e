/// How values become places along one axis, with ticks at round numbers.
struct ChartScale: Equatable {
  /// The highest value that has a place; at least the one that was asked for.
  let most: Double
  let ticks: [Double]
  /// From the place of 0 to that of `most`, in pixels; may run downwards.
  private let from: Double
  private let to: Double

  /// - Parameters:
  ///   - highest: a value that must have a place; what is not a number above 0 counts as 1.
  ///   - count: about how many ticks there are.
  init(highest: Double, from: Double, to: Double, count: Int) {
    let highest = highest.isFinite && highest > 0 ? highest : 1
    let step = Self.round(highest / Double(max(count, 1)))
    let steps = (highest / step).rounded(.up)
    most = steps * step
    ticks = (0...Int(steps)).map { Double($0) * step }
    (self.from, self.to) = (from, to)
  }

  /// 1, 2 or 5 times a power of ten, at or above.
  private static func round(_ value: Double) -> Double {
    var unit = 1.0
    while unit < value { unit *= 10 }
    while unit / 10 >= value { unit /= 10 }
    return [0.2, 0.5, 1].map { $0 * unit }.first { $0 >= value } ?? unit
  }

  func place(_ value: Double) -> Double { from + (to - from) * min(max(value / most, 0), 1) }
}
