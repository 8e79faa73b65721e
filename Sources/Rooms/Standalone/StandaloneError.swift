/// Why something about a transport without a socket was not done.
public enum StandaloneError: Error, Sendable {
  case joining(JoinError)
  case offer(OfferError)
  /// Sections that can't be accepted, each with why; so nothing of the offer is.
  case declined([(mid: String, code: String)])
  /// The participant's permissions, or the token's, don't allow it.
  case notAllowed(String)
  /// As many as there may be: of what, and how many.
  case limit(Limit, Int)
  /// No such track that could be played.
  case unknownTrack
  /// There is none of that id, or no longer.
  case unknown
  /// It is another identity's.
  case foreign
  case tooOften
  case preconditionMissing
  case preconditionFailed
  /// An ICE restart changes both user name and password (RFC 8839 §4.4.1.1.1).
  case credentials

  public enum Limit: Sendable {
    case participant
    case room
  }
}
