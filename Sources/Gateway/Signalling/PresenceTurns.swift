/// What is said to the room of one session's sockets: one thing at a time, in the order in which it befell them, however
/// long the room takes; and which `resumed` of the room belongs to which socket.
struct PresenceTurns {
  /// Something is being said.
  private var isBusy = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  /// Each that the room has not refused is answered once, in this order.
  private var begun = 0
  private var answered = 0

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

  /// - Returns: the number of the `resumed` that will answer it.
  mutating func beginResumption() -> Int {
    begun += 1
    return begun
  }

  /// The room refused the last one.
  mutating func failResumption() { begun -= 1 }

  /// - Returns: the number of a `resumed` that has come.
  mutating func noteResumed() -> Int {
    answered += 1
    return answered
  }
}
