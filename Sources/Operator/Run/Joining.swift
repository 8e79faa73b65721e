internal import AccessTokens
internal import Client
internal import Configuration
internal import Crypto
internal import HTTPClient

/// What a command joins a room with.
struct Joining {
  let bearer: Bearer
  let server: HTTPURL
  let access: ServerAccess
  let authorities: String?

  /// - Parameters:
  ///   - publishes: whether it sends; it gets otherwise, hidden.
  ///   - now: seconds since 1970.
  func terms(_ wanted: SessionWanted, publishes: Bool, now: Int) -> ClientTerms {
    let token: String
    switch bearer.credential {
    case .token(let given): token = given
    case .keyPair(let key, let secret):
      var grants = Grants()
      (grants.room, grants.roomJoin) = (wanted.room, true)
      (grants.canPublish, grants.canSubscribe, grants.hidden) = (publishes, !publishes, !publishes)
      let identity = wanted.identity ?? Self.madeUp(publishes ? "publisher" : "recorder")
      token = AccessToken(
        apiKey: key, identity: identity, expires: now + Self.lifetime, notBefore: now, issuedAt: now,
        grants: grants
      ).signed(secret: secret)
    }
    return ClientTerms(
      server: server, room: wanted.room, token: token, isInsecure: access.isInsecure,
      authorities: authorities, media: wanted.media.map { ($0.address, $0.port) })
  }

  /// Seconds for which a token is good; who is in stays in beyond that.
  private static let lifetime = 3_600

  private static func madeUp(_ role: String) -> String {
    role + "-" + Random.bytes(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
