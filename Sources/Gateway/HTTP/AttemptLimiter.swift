internal import HTTPServer
public import Model
internal import Synchronization

/// How often each address may ask at the doors where tokens are looked at.
public final class AttemptLimiter: Sendable {
  private let table: Mutex<AttemptTable>
  private let now: @Sendable () -> Instant

  /// - Parameters:
  ///   - rate: requests a second; more than 0.
  ///   - burst: requests at once; at least 1.
  ///   - addresses: that are remembered; beyond, all newcomers have one share together.
  ///   - now: a clock that never steps.
  public init(rate: Double, burst: Double, addresses: Int = 10_000, now: @escaping @Sendable () -> Instant) {
    table = Mutex(AttemptTable(rate: rate, burst: burst, capacity: addresses))
    self.now = now
  }

  /// - Returns: nil: it may ask; else the whole seconds after which it may again, at least 1.
  func refusal(of address: SocketAddress) -> Int? {
    let now = now()
    return table.withLock { $0.take(AddressGroup(address), now: now) }.map { wait in
      let (seconds, attoseconds) = wait.components
      return max(1, Int(seconds) + (attoseconds > 0 ? 1 : 0))
    }
  }
}

/// A bucket of tokens per address, each kept as the one moment at which it will be full again (the generic cell rate
/// algorithm, ITU-T I.371): a full bucket is the same as none.
struct AttemptTable {
  /// Nanoseconds.
  private let interval: Int64
  private let tolerance: Int64
  private let capacity: Int
  private var full: [AddressGroup: Instant] = [:]
  /// Of all for whom there was no place.
  private var others = Instant(nanoseconds: 0)
  private var swept = Instant(nanoseconds: 0)

  init(rate: Double, burst: Double, capacity: Int) {
    interval = Int64(1e9 / rate)
    tolerance = Int64(1e9 / rate * (burst - 1))
    self.capacity = capacity
  }

  var count: Int { full.count }

  /// - Returns: nil, and one is taken; or how long there is none.
  mutating func take(_ address: AddressGroup, now: Instant) -> Duration? {
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
