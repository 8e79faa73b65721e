/// What is said to the room of one session's sockets: one thing at a time, in the order in which it befell them, however
/// long the room takes.
struct PresenceTurns {
  /// Something is being said.
  private var isBusy = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// - Returns: false: it is another's turn, and `wait` comes next.
  mutating func begin() -> Bool {
    guard !isBusy else { return false }
    isBusy = true
    return true
  }

  mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

  /// - Returns: whose turn it is now.
  mutating func end() -> CheckedContinuation<Void, Never>? {
    isBusy = !waiting.isEmpty
    return waiting.isEmpty ? nil : waiting.removeFirst()
  }
}
