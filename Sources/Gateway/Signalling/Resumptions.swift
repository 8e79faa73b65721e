/// Which `resumed` of the room belongs to which socket: each `present` that the room has not refused is answered by one, in
/// order.
struct Resumptions {
  private var begun = 0
  private var answered = 0

  /// - Returns: the number of the `resumed` that will answer it.
  mutating func begin() -> Int {
    begun += 1
    return begun
  }

  /// The room refused the last one.
  mutating func fail() { begun -= 1 }

  /// - Returns: the number of a `resumed` that has come.
  mutating func noteResumed() -> Int {
    answered += 1
    return answered
  }
}
