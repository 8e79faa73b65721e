internal import Crypto

#if PLANTED_DEFECTS
  internal import Model
#endif

extension AccessToken {
  /// The token as a signed JWT. What a reader takes for granted anyway is left out.
  public func signed(secret: String) -> String {
    let header = #"{"alg":"HS256","typ":"JWT"}"#
    let signed =
      Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
    let signature = HMAC.code(.sha256, key: Array(secret.utf8), message: Array(signed.utf8))
    return signed + "." + Base64URL.encode(signature)
  }

  /// Its claims.
  private var payload: String {
    var claims: [(String, StrictJSON)] = [("iss", .string(apiKey)), ("exp", .number(Double(expires)))]
    if let identity { claims.append(("sub", .string(identity))) }
    if let notBefore { claims.append(("nbf", .number(Double(notBefore)))) }
    if let issuedAt { claims.append(("iat", .number(Double(issuedAt)))) }
    if let name { claims.append(("name", .string(name))) }
    if let metadata { claims.append(("metadata", .string(metadata))) }
    if !attributes.isEmpty { claims.append(("attributes", .object(attributes.mapValues { .string($0) }))) }
    if let call {
      var members: [String: StrictJSON] = ["id": .string(call.id)]
      if let device = call.device { members["device"] = .string(device) }
      claims.append(("call", .object(members)))
    }
    if !roost.claims.isEmpty { claims.append(("roost", .object(roost.claims))) }
    if let device { claims.append(("roostDevice", .string(device))) }
    claims.append(("video", .object(grants.claims)))

    return StrictJSON.object(Dictionary(claims) { first, _ in first }).text
  }
}

extension Grants {
  fileprivate var claims: [String: StrictJSON] {
    var claims: [String: StrictJSON] = [:]
    if let room { claims["room"] = .string(room) }
    let flags = [
      ("roomJoin", roomJoin), ("canUpdateOwnMetadata", canUpdateOwnMetadata), ("hidden", hidden),
      ("recorder", recorder), ("roomCreate", roomCreate), ("roomList", roomList), ("roomAdmin", roomAdmin),
    ]
    for (name, value) in flags where value { claims[name] = .boolean(true) }
    if canPublish != roomJoin { claims["canPublish"] = .boolean(canPublish) }
    if canSubscribe != roomJoin { claims["canSubscribe"] = .boolean(canSubscribe) }
    if canPublishData != canPublish { claims["canPublishData"] = .boolean(canPublishData) }
    if let sources = canPublishSources {
      var names = sources.map(\.rawValue).sorted()
      // An empty list is read as no restriction, so none is said by a name that no source has.
      #if PLANTED_DEFECTS
        if names.isEmpty, !PlantedDefect.isOn(.noSourceWritten) { names = [""] }
      #else
        if names.isEmpty { names = [""] }
      #endif
      claims["canPublishSources"] = .array(names.map { .string($0) })
    }
    return claims
  }
}
