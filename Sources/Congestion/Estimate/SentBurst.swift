/// The most that left within a tenth of a second lately: a large picture makes a queue that says nothing of what the path carries for
/// long.
struct SentBurst: BitwiseCopyable {
  private static let span: Int64 = 50_000_000
  private static let count = 10

  /// Bytes by twentieths of a second, of the last half.
  private var bins: InlineArray<10, Int> = InlineArray(repeating: 0)
  private var place: Int64 = .min

  init() {}

  mutating func sent(bytes: Int, at now: Int64) {
    advance(to: now)
    bins[index(place)] += bytes
  }

  /// Bits per second of two spans in a row, the most of the last half second.
  mutating func rate(at now: Int64) -> Double {
    advance(to: now)
    var most = 0
    for back in 0..<Int64(Self.count - 1) {
      most = max(most, bins[index(place &- back)] + bins[index(place &- back &- 1)])
    }
    return Double(most) * 8e9 / Double(2 * Self.span)
  }

  private mutating func advance(to now: Int64) {
    let wanted = now / Self.span
    if place == .min || wanted &- place >= Int64(Self.count) || wanted < place {
      bins = InlineArray(repeating: 0)
      place = wanted
    }
    while place < wanted {
      place &+= 1
      bins[index(place)] = 0
    }
  }

  private func index(_ place: Int64) -> Int {
    Int(truncatingIfNeeded: (place % Int64(Self.count) + Int64(Self.count)) % Int64(Self.count))
  }
}
