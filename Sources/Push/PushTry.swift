internal import HTTPClient
package import Model

/// One try to push, as what decides on the next one has to know it.
package struct PushTry: Equatable, Sendable {
  /// From the first failure to the next try; twice as long each time, up to the other.
  static let shortestPause = Duration.milliseconds(250)
  static let longestPause = Duration.seconds(4)

  /// From 1.
  package var number: Int
  package var now: Instant
  /// When it is too late.
  package var deadline: Instant
  /// From 0 to 1: what failed at once isn't tried again at once.
  package var jitter: Double

  package init(number: Int, now: Instant, deadline: Instant, jitter: Double) {
    self.number = number
    self.now = now
    self.deadline = deadline
    self.jitter = jitter
  }

  /// Again, if there is time.
  /// - Parameter pause: at least, as the push service asks for.
  func again(_ reason: String, after pause: Duration = .zero) -> PushVerdict {
    var wait = Self.shortestPause
    for _ in 1..<max(number, 1) where wait < Self.longestPause { wait = wait * 2 }
    let spread = min(wait, Self.longestPause) * (0.75 + 0.5 * jitter)
    let longer = max(spread, min(pause, .seconds(86_400)))
    return now + longer < deadline ? .retry(after: longer, reason: reason) : .expired(reason: reason)
  }

  /// What a try without an answer came to: the push may have arrived, unless it never was sent.
  func result(on error: HTTPClientError) -> PushResult {
    let isUnanswered =
      switch error {
      case .connection, .timeout, .tooLarge: true
      case .request, .certificate, .authorities, .stopped: false
      }
    return PushResult(verdict(on: error), isUnanswered: isUnanswered)
  }

  /// What follows from a try that has no answer.
  func verdict(on error: HTTPClientError) -> PushVerdict {
    switch error {
    case .request: .failed(reason: "request")
    case .connection: again("connection")
    case .timeout: again("noAnswer")
    case .tooLarge: again("unreadable")
    case .certificate, .authorities: .misconfigured(reason: "certificate")
    case .stopped: .failed(reason: "stopped")
    }
  }
}
