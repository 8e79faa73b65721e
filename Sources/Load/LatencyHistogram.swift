#if PLANTED_DEFECTS
  internal import Model
#endif

/// Durations in buckets that are at most 1/32 of their value wide; fixed in size, however many there are.
struct LatencyHistogram: Sendable {
  private static let steps = 32
  /// Microseconds up to 2³² (over an hour).
  private var counts = [UInt64](repeating: 0, count: 28 * 32)
  private(set) var count: UInt64 = 0
  private(set) var maximum: Int64 = 0

  /// - Parameter nanoseconds: what is below 0 counts as 0.
  mutating func add(nanoseconds: Int64) {
    maximum = max(maximum, nanoseconds)
    count += 1
    counts[Self.bucket(UInt64(max(nanoseconds, 0)) / 1_000)] += 1
  }

  mutating func merge(_ other: LatencyHistogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    count += other.count
    maximum = max(maximum, other.maximum)
  }

  /// Microseconds; the upper end of the bucket that holds the share, so never too good. Nil without samples.
  func percentile(_ share: Double) -> Double? {
    guard count > 0 else { return nil }
    #if PLANTED_DEFECTS
      let wanted = max(
        1, UInt64((Double(count) * share).rounded(PlantedDefect.isOn(.roundedDown) ? .down : .up)))
    #else
      let wanted = max(1, UInt64((Double(count) * share).rounded(.up)))
    #endif
    var seen: UInt64 = 0
    for index in counts.indices {
      seen += counts[index]
      if seen >= wanted { return min(Self.upperEnd(index), Double(maximum) / 1_000) }
    }
    return Double(maximum) / 1_000
  }

  private static func bucket(_ microseconds: UInt64) -> Int {
    guard microseconds >= UInt64(steps) else { return Int(microseconds) }
    let exponent = 63 - microseconds.leadingZeroBitCount - 5
    guard exponent < 27 else { return 28 * steps - 1 }
    return (exponent + 1) * steps + Int(microseconds >> UInt64(exponent)) - steps
  }

  private static func upperEnd(_ bucket: Int) -> Double {
    guard bucket >= steps else { return Double(bucket + 1) }
    let exponent = bucket / steps - 1
    return Double((UInt64(bucket % steps + steps) + 1) << UInt64(exponent))
  }
}
