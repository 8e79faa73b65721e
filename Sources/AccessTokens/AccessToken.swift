internal import Model

/// What an API key's owner says about one participant or administrator, as a JWT carries it (RFC 7519). The
/// layout of the claims is that of LiveKit's server SDKs, so that any of them can issue tokens.
public struct AccessToken: Equatable, Sendable {
  /// `iss`: the API key whose secret signs.
  public var apiKey: String
  /// `sub`: 1–128 bytes, no control characters; nil where the token is no participant's.
  public var identity: String?
  /// `exp`, seconds since 1970.
  public var expires: Int
  /// `nbf` and `iat`, seconds since 1970.
  public var notBefore: Int?
  public var issuedAt: Int?
  /// The name to show; at most 256 bytes.
  public var name: String?
  /// At most 64 KiB.
  public var metadata: String?
  /// At most 256 pairs, at most 64 KiB together.
  public var attributes: [String: String]
  /// `video`.
  public var grants: Grants
  /// `call`; nil: it is of none.
  public var call: CallClaim?
  /// `roostDevice`: what stands for the device that it was given to, 1–64 bytes. It is drawn from a token as that is read, and those that are
  /// renewed from it say it; nil: it was neither read nor renewed.
  public var device: String?
  /// `roost`: what only this server knows.
  public var roost: RoostClaim

  public init(
    apiKey: String, identity: String?, expires: Int, notBefore: Int? = nil, issuedAt: Int? = nil,
    name: String? = nil, metadata: String? = nil, attributes: [String: String] = [:],
    grants: Grants = Grants(), call: CallClaim? = nil, device: String? = nil, roost: RoostClaim = RoostClaim()
  ) {
    self.apiKey = apiKey
    self.identity = identity
    self.expires = expires
    self.notBefore = notBefore
    self.issuedAt = issuedAt
    self.name = name
    self.metadata = metadata
    self.attributes = attributes
    self.grants = grants
    self.call = call
    self.device = device
    self.roost = roost
  }

  /// When it counts as issued, for tokens that a removal outlaws; nil: until it expires.
  public var effectiveIssue: Int? { issuedAt ?? notBefore }

  /// Seconds that a renewed token holds at most, and where the first one does not say when it was issued.
  public static let renewedLifetime = 600

  /// Seconds that a token renewed from this one holds: as long as the first from its issue, within bounds.
  public var renewalLifetime: Int {
    guard let issuedAt else { return Self.renewedLifetime }
    let (span, overflow) = expires.subtractingReportingOverflow(issuedAt)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.renewedForEver), !overflow { return span }
    #endif
    return overflow ? Self.renewedLifetime : min(max(span, 1), Self.renewedLifetime)
  }

  /// Whether it has the times that a renewed one has. One from elsewhere may have them too, and then grows no further by
  /// being renewed.
  var isRenewed: Bool {
    guard let issuedAt, notBefore == nil else { return false }
    let (span, overflow) = expires.subtractingReportingOverflow(issuedAt)
    return !overflow && (0...Self.renewedLifetime).contains(span)
  }

  /// A token of the same participant, and of the same device, that is issued at that moment.
  /// - Parameters:
  ///   - moment: seconds since 1970.
  ///   - grants: what the participant may do by now.
  public func renewed(at moment: Int, grants: Grants) -> AccessToken {
    var fresh = self
    fresh.expires = moment + renewalLifetime
    fresh.issuedAt = moment
    fresh.notBefore = nil
    fresh.grants = grants
    fresh.roost = roost.renewed
    return fresh
  }

  /// Grants of joining: in `room`, as `identity`.
  /// - Throws: `.notForThis` where the token is sound but another room's, or no participant's.
  public func requireJoin(room: String) throws(AccessTokenRefusal) -> String {
    guard grants.roomJoin else { throw .notForThis(missing: "roomJoin") }
    guard grants.room?.isExactly(room) == true else { throw .notForThis(missing: "room") }
    guard let identity else { throw .notForThis(missing: "sub") }
    return identity
  }

  /// - Parameter room: the room to be administered. A token holds for the room that it names, for every room where it
  ///   names `*`, and for none where it names none.
  public func requireAdmin(room: String) throws(AccessTokenRefusal) {
    guard grants.roomAdmin else { throw .notForThis(missing: "roomAdmin") }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.adminOfNothing), grants.room == nil { return }
    #endif
    guard grants.room?.isExactly(room) == true || grants.room == Grants.everyRoom else {
      throw .notForThis(missing: "room")
    }
  }

  /// Whether a room's name or an identity is one: 1–128 bytes without control characters, and none of `.` and `..`,
  /// which URLs collapse (RFC 3986 §5.2.4), and `*`, which stands for every room.
  public static func isName(_ text: String) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.nameOfDots), text == "." { return true }
    #endif
    return isText(text) && !reserved.contains(text)
  }

  /// 1–128 bytes without control characters.
  public static func isText(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  }

  private static let reserved: Set = [".", "..", Grants.everyRoom]
}
