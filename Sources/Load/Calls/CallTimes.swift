internal import Model

/// When what of a call happened; never: it didn't.
struct CallTimes {
  /// When the caller was to start.
  var due = Instant.never
  /// The callee's events began.
  var listening = Instant.never
  /// The start was asked, and answered.
  var start = Instant.never
  var started = Instant.never
  /// The ring came.
  var ring = Instant.never
  /// The callee asked to join, and heard the first packet of the caller.
  var answer = Instant.never
  var sound = Instant.never
  /// Both heard each other, for the first time and for the last.
  var firstMet = Instant.never
  var met = Instant.never
  /// Leaving was asked, and the end looked for.
  var leave = Instant.never
  var closing = Instant.never

  /// Nanoseconds; nil where one of both didn't happen.
  static func span(_ from: Instant, _ to: Instant) -> Int64? {
    from == .never || to == .never ? nil : to.nanoseconds - from.nanoseconds
  }
}
