package import Model

/// A limit per address, of which the one moment is kept at which it is full again: a full one is the same as none.
package struct AttemptTable {
  /// Unused.
  private let limit: RateLimit
  private let capacity: Int
  private var full: [AddressGroup: Instant] = [:]
  /// Of the limit that addresses share when the table is full.
  private var others = Instant(nanoseconds: 0)
  private var swept = Instant(nanoseconds: 0)

  package init(rate: Double, burst: Double, capacity: Int) {
    #if PLANTED_DEFECTS
      let burst = PlantedDefect.isOn(.burstAndOne) ? burst + 1 : burst
    #endif
    limit = RateLimit(rate: rate, burst: burst)
    self.capacity = capacity
  }

  package var count: Int { full.count }

  /// - Returns: nil, and one is taken; or how long there is none.
  package mutating func take(_ address: AddressGroup, now: Instant) -> Duration? {
    makeRoom(for: address, now: now)
    let hasPlace = full[address] != nil || full.count < capacity
    var own = limit
    own.full = hasPlace ? full[address] ?? now : others
    guard own.take(now: now) else { return own.wait(now: now) }
    if hasPlace { full[address] = own.full } else { others = own.full }
    return nil
  }

  /// Forgets full buckets, at most once a second.
  private mutating func makeRoom(for address: AddressGroup, now: Instant) {
    guard full.count >= capacity, full[address] == nil, now - swept >= .seconds(1) else { return }
    swept = now
    full = full.filter { $0.value > now }
  }
}
