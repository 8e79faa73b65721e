/// What one try to push came to.
struct PushResult: Equatable, Sendable {
  var verdict: PushVerdict
  /// No answer says whether the push has arrived.
  var isUnanswered: Bool

  init(_ verdict: PushVerdict, isUnanswered: Bool = false) {
    self.verdict = verdict
    self.isUnanswered = isUnanswered
  }
}
