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
