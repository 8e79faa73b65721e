package import Model

/// A bucket of tokens per address, each kept as the one moment at which it will be full again (the generic cell rate
/// algorithm, ITU-T I.371): a full bucket is the same as none.
package struct AttemptTable {
  /// Nanoseconds.
  private let interval: Int64
  private let tolerance: Int64
  private let capacity: Int
  private var full: [AddressGroup: Instant] = [:]
  /// The bucket that addresses share when the table is full.
  private var others = Instant(nanoseconds: 0)
  private var swept = Instant(nanoseconds: 0)

  package init(rate: Double, burst: Double, capacity: Int) {
    interval = Int64(1e9 / rate)
    #if PLANTED_DEFECTS
      tolerance = Int64(1e9 / rate * (PlantedDefect.isOn(.burstAndOne) ? burst : burst - 1))
    #else
      tolerance = Int64(1e9 / rate * (burst - 1))
    #endif
    self.capacity = capacity
  }

  package var count: Int { full.count }

  /// - Returns: nil, and one is taken; or how long there is none.
  package mutating func take(_ address: AddressGroup, now: Instant) -> Duration? {
    makeRoom(for: address, now: now)
    let hasPlace = full[address] != nil || full.count < capacity
    let until = max(hasPlace ? full[address] ?? now : others, now)
    let wait = until.nanoseconds - now.nanoseconds - tolerance
    guard wait <= 0 else { return .nanoseconds(wait) }
    let filled = until.advanced(byNanoseconds: interval)
    if hasPlace { full[address] = filled } else { others = filled }
    return nil
  }

  /// Forgets full buckets, at most once a second.
  private mutating func makeRoom(for address: AddressGroup, now: Instant) {
    guard full.count >= capacity, full[address] == nil, now - swept >= .seconds(1) else { return }
    swept = now
    full = full.filter { $0.value > now }
  }
}
