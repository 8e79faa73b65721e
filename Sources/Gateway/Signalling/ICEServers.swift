internal import Crypto
internal import FoundationEssentials
internal import Signalling

#if PLANTED_DEFECTS
  internal import Model
#endif

/// The STUN and TURN servers that clients get. For TURN each gets a user name of its own that expires, signed
/// with a secret that the TURN server shares (coturn's `use-auth-secret`, draft-uberti-behave-turn-rest-00).
public struct ICEServers: Sendable {
  public var stunURLs: [String]
  public var turnURLs: [String]
  public var turnSecret: String
  /// Seconds for which a user name may be used.
  public var turnLifetime: Int

  public init(
    stunURLs: [String] = [], turnURLs: [String] = [], turnSecret: String = "", turnLifetime: Int = 86_400
  ) {
    self.stunURLs = stunURLs
    self.turnURLs = turnURLs
    self.turnSecret = turnSecret
    self.turnLifetime = turnLifetime
  }

  /// What one client gets.
  /// - Parameters:
  ///   - user: names the client in the TURN server's log: its session's id, which says nothing to strangers.
  ///   - now: seconds since 1970.
  func list(for user: String, now: Int) -> [ICEServerBody] {
    var servers: [ICEServerBody] = []
    if !stunURLs.isEmpty { servers.append(ICEServerBody(urls: stunURLs)) }
    if !turnURLs.isEmpty {
      #if PLANTED_DEFECTS
        let name =
          "\(PlantedDefect.isOn(.relayInMilliseconds) ? (now + turnLifetime) * 1_000 : now + turnLifetime):\(user)"
      #else
        let name = "\(now + turnLifetime):\(user)"
      #endif
      let code = HMAC.code(.sha1, key: Array(turnSecret.utf8), message: Array(name.utf8))
      servers.append(
        ICEServerBody(urls: turnURLs, username: name, credential: Data(code).base64EncodedString()))
    }
    return servers
  }
}
