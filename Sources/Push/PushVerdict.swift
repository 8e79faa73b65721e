/// What follows from one try to push.
package enum PushVerdict: Equatable, Sendable {
  case delivered
  /// The same again, later.
  case retry(after: Duration, reason: String)
  /// No push to this token will arrive any more.
  case remove(reason: String)
  case failed(reason: String)
  /// It fails for something that the operator alone can mend.
  case misconfigured(reason: String)
  /// The next try would come when the ring is over.
  case expired(reason: String)
}
