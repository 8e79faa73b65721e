internal import Crypto

#if PLANTED_DEFECTS
  internal import Model
#endif

extension AccessToken {
  /// Bytes of the longest token that an issuer may make.
  public static let maximumBytes = 12_288
  /// Bytes of the longest token that is looked at: a renewed one has more claims than the first. With what is around it, it
  /// fits into a request's head and into the first message of a WebSocket.
  public static let maximumRenewedBytes = maximumBytes + 1_024
  /// Seconds by which clocks may differ.
  public static let leeway = 60

  /// Reads a token and believes it if one of the keys signed it.
  /// - Parameters:
  ///   - keys: secrets by API key.
  ///   - now: seconds since 1970.
  public init(
    verifying token: String?, keys: [String: String], now: Int
  ) throws(AccessTokenRefusal) {
    guard let token, !token.isEmpty else { throw .absent }
    guard token.utf8.count <= Self.maximumRenewedBytes else { throw .tooLong }
    // Only one that proves to be renewed may be longer than an issuer's: of all others that is what is wrong with them.
    #if PLANTED_DEFECTS
      let isLong = !PlantedDefect.isOn(.longToken) && token.utf8.count > Self.maximumBytes
    #else
      let isLong = token.utf8.count > Self.maximumBytes
    #endif
    do throws(AccessTokenRefusal) {
      try self.init(signed: token, keys: keys)
    } catch {
      throw isLong ? .tooLong : error
    }
    guard !isLong || isRenewed else { throw .tooLong }
    try requireCurrent(now: now)
  }

  /// From when on it holds no longer, in seconds since 1970, with the leeway of clocks.
  public var validUntil: Int { expires.addingClamped(Self.leeway) }

  /// Whether its time has come and is not over, with the leeway of clocks.
  /// - Parameter now: seconds since 1970.
  public func requireCurrent(now: Int) throws(AccessTokenRefusal) {
    #if PLANTED_DEFECTS
      let expires = PlantedDefect.isOn(.tokenLeeway) ? self.expires.addingClamped(Self.leeway) : self.expires
    #endif
    guard now < expires.addingClamped(Self.leeway) else { throw .expired }
    if let notBefore, now < notBefore.addingClamped(-Self.leeway) { throw .notYetValid }
  }

  /// Reads a token that one of the keys signed, whenever it is valid.
  private init(signed token: String, keys: [String: String]) throws(AccessTokenRefusal) {
    let parts = token.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed(reason: "not three parts") }
    try Self.checkHeader(parts[0])
    guard let signature = Base64URL.decode(parts[2]) else { throw .malformed(reason: "signature encoding") }
    let claims = try Self.object(parts[1], of: "payload")
    guard case .string(let apiKey)? = claims["iss"] else { throw .malformed(reason: "iss") }
    guard let secret = keys[apiKey] else { throw .unknownKey }
    let signed = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
    guard HMAC.isEqual(HMAC.code(.sha256, key: Array(secret.utf8), message: signed), signature) else {
      throw .wrongSignature
    }
    try self.init(apiKey: apiKey, claims: claims)
    device = device ?? Self.drawnDevice(of: signed, secret: secret)
  }

  /// 128 bits that stand for a token, in characters of URLs. They are drawn from its text, so that two tokens that differ in what isn't read
  /// of them are two, and by the key that has signed it: who sees them knows nothing of the token, and each process draws the same.
  private static func drawnDevice(of signed: [UInt8], secret: String) -> String {
    // No token's text has a blank in it, so that this is the signature of none.
    let code = HMAC.code(.sha256, key: Array(secret.utf8), message: Array("device ".utf8) + signed)
    return Base64URL.encode(Array(code.prefix(16)))
  }

  private static func checkHeader(_ part: Substring.UTF8View.SubSequence) throws(AccessTokenRefusal) {
    let header = try object(part, of: "header")
    guard case .string("HS256")? = header["alg"] else { throw .unsupportedAlgorithm }
    // RFC 7515 §4.1.11: an extension that must be understood, and isn't.
    guard header["crit"] == nil else { throw .malformed(reason: "crit") }
  }

  private static func object(
    _ part: Substring.UTF8View.SubSequence, of name: String
  ) throws(AccessTokenRefusal) -> [String: StrictJSON] {
    guard let bytes = Base64URL.decode(part) else { throw .malformed(reason: "\(name) encoding") }
    guard case .object(let members)? = StrictJSON.parse(bytes) else {
      throw .malformed(reason: "\(name) is no JSON object")
    }
    return members
  }
}

extension AccessToken {
  private init(apiKey: String, claims: [String: StrictJSON]) throws(AccessTokenRefusal) {
    let read = ClaimReader(claims)
    guard let expires = try read.date("exp") else { throw .malformed(reason: "exp") }
    let identity = try read.text("sub", limit: 128)
    let device = try read.text("roostDevice", limit: 64)
    if let device, !Self.isText(device) { throw .malformed(reason: "roostDevice") }
    if let identity, !identity.isEmpty, !Self.isName(identity) { throw .malformed(reason: "sub") }
    self.init(
      apiKey: apiKey, identity: identity.flatMap { $0.isEmpty ? nil : $0 }, expires: expires,
      notBefore: try read.date("nbf"), issuedAt: try read.date("iat"),
      name: try read.text("name", limit: 256),
      metadata: try read.text("metadata", limit: 65_536), attributes: try read.attributes(),
      grants: try read.grants(), call: try read.call(), device: device, roost: try read.roost())
  }
}

/// Claims by name; a claim of the wrong type is refused rather than read as absent.
private struct ClaimReader {
  let claims: [String: StrictJSON]

  init(_ claims: [String: StrictJSON]) { self.claims = claims }

  func text(_ name: String, limit: Int) throws(AccessTokenRefusal) -> String? {
    switch claims[name] {
    case nil, .null: return nil
    case .string(let text) where text.utf8.count <= limit: return text
    default: throw .malformed(reason: name)
    }
  }

  /// Of an invitation; empty: of none.
  func id(_ name: String) throws(AccessTokenRefusal) -> String? {
    try text(name, limit: 32).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A NumericDate (RFC 7519 §2), whose fraction is dropped.
  func date(_ name: String) throws(AccessTokenRefusal) -> Int? {
    switch claims[name] {
    case nil, .null: return nil
    case .number(let value) where value.magnitude < 1e15: return Int(value)
    default: throw .malformed(reason: name)
    }
  }

  func flag(_ name: String) throws(AccessTokenRefusal) -> Bool? {
    switch claims[name] {
    case nil, .null: return nil
    case .boolean(let value): return value
    default: throw .malformed(reason: name)
    }
  }

  func attributes() throws(AccessTokenRefusal) -> [String: String] {
    switch claims["attributes"] {
    case nil, .null: return [:]
    case .object(let members):
      var pairs: [String: String] = [:]
      var bytes = 0
      for (key, value) in members {
        guard case .string(let text) = value else { throw .malformed(reason: "attributes") }
        bytes += key.utf8.count + text.utf8.count
        pairs[key] = text
      }
      guard pairs.count <= 256, bytes <= 65_536 else { throw .malformed(reason: "attributes") }
      return pairs
    default: throw .malformed(reason: "attributes")
    }
  }

  func call() throws(AccessTokenRefusal) -> CallClaim? {
    switch claims["call"] {
    case nil, .null: return nil
    case .object(let members):
      let read = ClaimReader(members)
      guard let id = try read.text("id", limit: 36), !id.isEmpty else { throw .malformed(reason: "call") }
      return CallClaim(id: id, device: try read.text("device", limit: 128))
    default: throw .malformed(reason: "call")
    }
  }

  func roost() throws(AccessTokenRefusal) -> RoostClaim {
    switch claims["roost"] {
    case nil, .null: return RoostClaim()
    case .object(let members):
      let read = ClaimReader(members)
      return RoostClaim(
        isAdmitted: try read.flag("admitted") ?? false, invitation: try read.id("invitation"),
        admittedBy: try read.id("admittedBy"))
    default: throw .malformed(reason: "roost")
    }
  }

  func grants() throws(AccessTokenRefusal) -> Grants {
    let video: ClaimReader
    switch claims["video"] {
    case nil, .null: return Grants()
    case .object(let members): video = ClaimReader(members)
    default: throw .malformed(reason: "video")
    }
    var grants = Grants()
    if let room = try video.text("room", limit: 128), !room.isEmpty {
      guard AccessToken.isName(room) || room == Grants.everyRoom else { throw .malformed(reason: "room") }
      grants.room = room
    }
    grants.roomJoin = try video.flag("roomJoin") ?? false
    grants.canPublish = try video.flag("canPublish") ?? grants.roomJoin
    grants.canSubscribe = try video.flag("canSubscribe") ?? grants.roomJoin
    grants.canPublishData = try video.flag("canPublishData") ?? grants.canPublish
    grants.canPublishSources = try video.sources()
    grants.canUpdateOwnMetadata = try video.flag("canUpdateOwnMetadata") ?? false
    grants.hidden = try video.flag("hidden") ?? false
    grants.recorder = try video.flag("recorder") ?? false
    grants.roomCreate = try video.flag("roomCreate") ?? false
    grants.roomList = try video.flag("roomList") ?? false
    grants.roomAdmin = try video.flag("roomAdmin") ?? false
    return grants
  }

  /// An empty list is what SDKs send for "no restriction"; a list of unknown names allows none.
  private func sources() throws(AccessTokenRefusal) -> Set<TrackSource>? {
    switch claims["canPublishSources"] {
    case nil, .null, .array([]): return nil
    case .array(let items):
      var sources: Set<TrackSource> = []
      for item in items {
        guard case .string(let text) = item else { throw .malformed(reason: "canPublishSources") }
        if let source = TrackSource(rawValue: text.lowercased()) { sources.insert(source) }
      }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.unknownSource), sources.isEmpty { return nil }
      #endif
      return sources
    default: throw .malformed(reason: "canPublishSources")
    }
  }
}

extension Int {
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other > 0 ? .max : .min) : sum
  }
}
