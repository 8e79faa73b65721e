internal import Model

/// What was made in each second of a run, what of it arrived, and how late: second by second from the first measured moment on.
///
/// What arrives counts in the second in which it was made.
struct Timeline: Sendable {
  struct Second: Sendable {
    /// Packets or pictures, once for each subscriber that should get them.
    var expected = 0
    var arrived = 0
    var delays = LatencyHistogram()

    /// 0 to 1; nil where nothing was expected.
    var loss: Double? { expected > 0 ? Double(max(expected - arrived, 0)) / Double(expected) : nil }
  }

  private(set) var seconds: [Second] = []
  private var origin = Instant.never
  /// The longest run, with as much again for joins between its steps.
  static let limit = 14_400

  mutating func begin(now: Instant) { if origin == .never { origin = now } }

  /// Seconds since the first measured moment; 0 before.
  func place(of moment: Instant) -> Double {
    origin == .never ? 0 : max(Double(moment.nanoseconds - origin.nanoseconds) / 1e9, 0)
  }

  mutating func note(expected count: Int, madeAt: Instant) {
    guard let index = index(of: madeAt) else { return }
    seconds[index].expected += count
  }

  mutating func note(arrivalOf madeAt: Instant, delay: Int64) {
    guard let index = index(of: madeAt) else { return }
    seconds[index].arrived += 1
    seconds[index].delays.add(nanoseconds: delay)
  }

  private mutating func index(of moment: Instant) -> Int? {
    guard origin != .never, moment >= origin else { return nil }
    let index = Int((moment.nanoseconds - origin.nanoseconds) / 1_000_000_000)
    guard index < Self.limit else { return nil }
    while seconds.count <= index { seconds.append(Second()) }
    return index
  }
}
