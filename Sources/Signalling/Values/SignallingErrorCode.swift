/// The codes of `error` messages. Each has one answer to whether trying again can help.
public enum SignallingErrorCode: String, Codable, Sendable, CaseIterable {
  /// No JSON object, no `type`, or a field that is missing, too long or of the wrong type.
  case badMessage = "bad-message"
  /// The first message was neither `auth` nor `resume`, nor did the request have a token.
  case authRequired = "auth-required"
  case authRepeated = "auth-repeated"
  case tokenMalformed = "token-malformed"
  case tokenAbsent = "token-absent"
  case tokenTooLong = "token-too-long"
  case tokenSignature = "token-signature"
  case tokenAlgorithm = "token-algorithm"
  case tokenExpired = "token-expired"
  case tokenNotYetValid = "token-not-yet-valid"
  case tokenUnknownKey = "token-unknown-key"
  case tokenNotForThis = "token-not-for-this"
  /// Its identity was removed from the room after it was issued.
  case tokenRemoved = "token-removed"
  /// The invitation by which it was given out is over.
  case tokenRevoked = "token-revoked"
  /// No session to resume: it is over, or the token was used already.
  case sessionGone = "session-gone"
  /// An offer came while another one was being answered.
  case offerPending = "offer-pending"
  /// The description can't be answered at all.
  case offerRefused = "offer-refused"
  /// The token's grants don't allow it.
  case notAllowed = "not-allowed"
  /// One waits to be let in, and nothing else can be asked until then.
  case admissionRequired = "admission-required"
  /// No host has let one in, for as long as one may wait for that.
  case notAdmitted = "not-admitted"
  /// There is no participant of that id, or none that waits.
  case unknownParticipant = "unknown-participant"
  /// No such track in the room, or not one's own.
  case unknownTrack = "unknown-track"
  /// No receive section of that mid for that kind of track.
  case unknownSlot = "unknown-slot"
  /// The room's call has no such shared session.
  case unknownSession = "unknown-session"
  /// The shared session is over, or its call.
  case sessionEnded = "session-ended"
  /// The event's id was given to another event.
  case idTaken = "id-taken"
  /// Types of events that begin so are the server's own.
  case reservedType = "reserved-type"
  /// A field that this server does not understand yet and must not ignore.
  case unsupported
  case tooLarge = "too-large"
  /// As many as one participant may have.
  case limit
  case rateLimited = "rate-limited"
  case roomFull = "room-full"
  /// No new session gets into it.
  case roomLocked = "room-locked"
  /// There is none of that name, and joining makes none.
  case roomNotFound = "room-not-found"
  /// Over capacity, or about to stop.
  case unavailable

  /// Whether the same request can succeed later.
  public enum Retry: String, Codable, Sendable, CaseIterable {
    case never
    case now
    case after
  }

  public var retry: Retry {
    switch self {
    case .offerPending, .sessionGone: .now
    case .roomFull, .roomNotFound, .roomLocked, .unavailable, .tokenNotYetValid, .rateLimited, .limit: .after
    case .admissionRequired, .notAdmitted: .after
    default: .never
    }
  }
}
