/// Why a token doesn't open a door.
public enum AccessTokenRefusal: Error, Equatable, Sendable {
  case absent
  /// - Parameter reason: what about it, without any of its content.
  case malformed(reason: String)
  /// More than `AccessToken.maximumBytes`, or a renewed one of more than `maximumRenewedBytes`.
  case tooLong
  case wrongSignature
  /// Anything but HS256, `none` above all.
  case unsupportedAlgorithm
  case expired
  case notYetValid
  case unknownKey
  /// Sound, but it doesn't allow this.
  /// - Parameter missing: the claim that would.
  case notForThis(missing: String)
  /// Its identity was removed from the room, and it is not known to be of after that.
  case removed
  /// The invitation by which it was given out is over: revoked, or gone with its room.
  case revoked

  public var status: Int {
    switch self {
    case .notForThis, .removed, .revoked: 403
    default: 401
    }
  }

  /// Stable, for programs.
  public var code: String {
    switch self {
    case .absent: "token-absent"
    case .malformed: "token-malformed"
    case .tooLong: "token-too-long"
    case .wrongSignature: "token-signature"
    case .unsupportedAlgorithm: "token-algorithm"
    case .expired: "token-expired"
    case .notYetValid: "token-not-yet-valid"
    case .unknownKey: "token-unknown-key"
    case .notForThis: "token-not-for-this"
    case .removed: "token-removed"
    case .revoked: "token-revoked"
    }
  }

  /// For people.
  public var message: String {
    switch self {
    case .absent: "an access token is required"
    case .malformed(let reason): "the access token is malformed: \(reason)"
    case .tooLong:
      "the access token is longer than \(AccessToken.maximumBytes) bytes; set larger metadata by REST or update"
    case .wrongSignature: "the access token's signature is invalid"
    case .unsupportedAlgorithm: "access tokens must be signed with HS256"
    case .expired: "the access token has expired"
    case .notYetValid: "the access token isn't valid yet"
    case .unknownKey: "the access token's API key is unknown"
    case .notForThis(let missing): "the access token doesn't allow this: \(missing)"
    case .removed: "this identity was removed from the room after the access token was issued"
    case .revoked: "the invitation that this access token came by holds no longer"
    }
  }
}
