internal import Signalling

/// What one client sends to shared sessions: written in the order in which it came, beside whatever else the client says, since the
/// store may take its time.
struct OutgoingEvents {
  /// That wait for the store; more are refused.
  static let most = 64

  private var count = 0
  private var last: Task<Void, Never>?

  /// - Returns: false: too many wait.
  mutating func add(_ work: @escaping @Sendable () async -> Void) -> Bool {
    guard count < Self.most else { return false }
    count += 1
    last = Task { [before = last] in
      await before?.value
      await work()
    }
    return true
  }

  mutating func noteDone() {
    count -= 1
    if count == 0 { last = nil }
  }
}
