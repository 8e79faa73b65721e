public import Model

/// What a datagram did to an agent. What is to be sent in consequence is in `ICEOutput`.
public enum STUNOutcome: Equatable, Sendable {
  /// No state changed, nothing is sent.
  case ignored(ICEDrop)
  /// A valid check was answered, and nothing about its pair changed that the owner acts on.
  case answered
  /// A valid request was answered with an error: 420 (unknown attribute) or 487 (role conflict).
  case refused(code: Int)
  /// The first valid check on a path: `hasValidCheck` is true, our own check is on its way.
  case pending(NetworkPath)
  /// The path is proven to lead to the peer: anything but media may go there.
  case validated(NetworkPath)
  /// The path is to be used from now on; it is validated, too, if it wasn't.
  case selected(NetworkPath)
  /// The far end answered our check of a path that is validated already.
  case consentRefreshed
}

/// What became due.
public enum ICEPoll: Equatable, Sendable {
  /// Nothing more before this instant.
  case idle(until: Instant)
  /// No path was found within `ICETimers.establishment`. Said once; the agent goes on trying.
  case failed
  /// Consent to send on the selected path ended (RFC 7675): nothing but STUN may be sent. Said once each
  /// time.
  case expired(NetworkPath)
  /// The path is to be used from now on: the peer goes on there, and the one before gives no answer.
  case selected(NetworkPath)
}

/// Spans that both kinds of agent share, in nanoseconds.
public enum ICETimers {
  /// Time between two consent checks on the selected pair, varied by ±20 % (RFC 7675 §5.1);
  /// half of it while the last one is unanswered.
  public static let consentInterval: Int64 = 5_000_000_000
  /// The same on a pair that is validated only: two chances before consent ends.
  public static let keepaliveInterval: Int64 = 12_000_000_000
  /// Silence after which sending must stop (RFC 7675 §5.1).
  public static let consentTimeout: Int64 = 30_000_000_000
  /// From the first moment to `ICEPoll.failed`.
  public static let establishment: Int64 = 30_000_000_000
}
