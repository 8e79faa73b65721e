public import Model

/// What the body of an answer is produced by, piece by piece, for as long as it takes.
///
/// It is pulled: the server asks once the client has taken what it was given before, so a slow client makes nothing wait but
/// itself, and what waits for it is never more than one piece. The server asks once at the beginning, then whenever `signal` is
/// raised and when the moment has come that the last answer named. It lets go of the source with the connection.
public protocol HTTPBodySource: AnyObject, Sendable {
  /// Raised when there is something to say; shared by all sources that wait for the same.
  var signal: HTTPBodySignal { get }

  /// Appends what comes next. Called on the server's thread, which serves everybody: it must not wait, and a piece should take
  /// microseconds.
  /// - Parameters:
  ///   - bytes: appended to, and nothing else.
  ///   - enough: beyond so many bytes nothing more should be begun; what was begun may be said to its end.
  ///   - now: by the clock of `HTTPBodyStep.wait`.
  ///   - ending: why the body has to end, so that it can say its last words; nil: it need not.
  func produce(
    into bytes: inout [UInt8], enough: Int, now: Instant, ending: HTTPBodyEnding?
  ) -> HTTPBodyStep

  /// Whether the body has to end although the client has not taken what it was given, because it may have no more of it: asked
  /// when the signal is raised, and every few seconds. Then it is cut off as one that takes nothing is.
  func mustEnd(now: Instant) -> Bool
}

extension HTTPBodySource {
  public func mustEnd(now: Instant) -> Bool { false }
}

/// What follows the piece that was just appended.
public enum HTTPBodyStep: Equatable, Sendable {
  /// There may be more at once.
  case more
  /// Nothing until the signal is raised, or until that moment. Of a body that has to end that was all.
  case wait(until: Instant)
  /// That was all.
  case end
}

/// Why the server ends a body.
public enum HTTPBodyEnding: Equatable, Sendable {
  /// The client takes nothing: only the shortest words have a chance to reach it.
  case stalled
  /// The server stops; what is said within `HTTPLimits.closeTime` is heard.
  case shutdown
}
