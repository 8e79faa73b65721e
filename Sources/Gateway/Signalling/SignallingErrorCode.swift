internal import AccessTokens
public import Rooms

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
  /// No session to resume: it is over, or the token was used already.
  case sessionGone = "session-gone"
  /// An offer came while another one was being answered.
  case offerPending = "offer-pending"
  /// The description can't be answered at all.
  case offerRefused = "offer-refused"
  /// The token's grants don't allow it.
  case notAllowed = "not-allowed"
  /// No such track in the room, or not one's own.
  case unknownTrack = "unknown-track"
  /// No receive section of that mid for that kind of track.
  case unknownSlot = "unknown-slot"
  /// A field that this server does not understand yet and must not ignore.
  case unsupported
  case tooLarge = "too-large"
  /// As many as one participant may have.
  case limit
  case rateLimited = "rate-limited"
  case roomFull = "room-full"
  /// There is none of that name, and none is made by who comes.
  case roomNotFound = "room-not-found"
  /// Over capacity, or about to stop.
  case unavailable

  public enum Retry: String, Codable, Sendable {
    case never
    case now
    case after
  }

  public var retry: Retry {
    switch self {
    case .offerPending, .sessionGone: .now
    case .roomFull, .roomNotFound, .unavailable, .tokenNotYetValid, .rateLimited, .limit: .after
    default: .never
    }
  }
}

/// The close codes of the native WebSocket door, beside those of RFC 6455 §7.4.1 (1000, 1001, 1002, 1003, 1007,
/// 1009, and 1013 for a client that reads too slowly).
public enum SignallingCloseCode: UInt16, Sendable, CaseIterable {
  case left = 4000
  case authTimeout = 4001
  /// The token is no good; `error` said why.
  case unauthorized = 4002
  /// The token is good, but not for this.
  case forbidden = 4003
  case badMessage = 4004
  /// Joining was refused; `error` said why.
  case joinRefused = 4005
  /// The session goes on over another socket.
  case replaced = 4006
  /// There is nothing to resume; `error` said so.
  case sessionGone = 4007
  case removed = 4010
  case connectionLost = 4011
  case duplicateIdentity = 4012
  case roomClosed = 4014
  case serverShutdown = 4016

  public init(_ reason: LeaveReason) {
    self =
      switch reason {
      case .left: .left
      case .removed: .removed
      case .connectionLost: .connectionLost
      case .duplicateIdentity: .duplicateIdentity
      case .roomClosed: .roomClosed
      case .serverShutdown: .serverShutdown
      }
  }
}
