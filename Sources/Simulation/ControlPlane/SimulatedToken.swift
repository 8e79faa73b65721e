internal import AccessTokens
internal import Gateway
internal import Model
internal import Rooms
internal import SyntheticPeers

/// A token that says whose it is, what it permits, and when it was issued, without a signature.
struct SimulatedToken: Equatable {
  /// Seconds for which one holds: shorter than a conference, so that it has to be renewed.
  static let lifetime = 24

  var identity: String
  /// Seconds since 1970.
  var issued: Int
  var allowance = Allowance()

  init(identity: String, issued: Int, allowance: Allowance = Allowance()) {
    self.identity = identity
    self.issued = issued
    self.allowance = allowance
  }

  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4, let issued = Int(parts[1]) else { return nil }
    allowance.canPublish = parts[2].contains("p")
    allowance.canSubscribe = parts[2].contains("s")
    allowance.isHidden = parts[2].contains("h")
    allowance.sources = parts[2].contains("a") ? nil : Set(parts[3].split(separator: "+").map(String.init))
    identity = String(parts[0])
    self.issued = issued
  }

  init(renewed token: AccessToken) {
    identity = token.identity ?? ""
    issued = token.issuedAt ?? 0
    allowance.canPublish = token.grants.canPublish
    allowance.canSubscribe = token.grants.canSubscribe
    allowance.isHidden = token.grants.hidden
    allowance.sources = token.grants.canPublishSources.map { Set($0.map(\.rawValue)) }
  }

  var text: String {
    let flags =
      (allowance.canPublish ? "p" : "") + (allowance.canSubscribe ? "s" : "")
      + (allowance.isHidden ? "h" : "")
      + (allowance.sources == nil ? "a" : "")
    return "\(identity)/\(issued)/\(flags)/\((allowance.sources ?? []).sorted().joined(separator: "+"))"
  }

  func access(room: String) -> AccessToken {
    var grants = Grants.join(room)
    grants.canPublish = allowance.canPublish
    grants.canSubscribe = allowance.canSubscribe
    grants.hidden = allowance.isHidden
    grants.canPublishSources = allowance.sources.map { Set($0.compactMap(AccessTokens.TrackSource.init)) }
    return AccessToken(
      apiKey: "simulation", identity: identity, expires: issued + Self.lifetime, issuedAt: issued,
      grants: grants)
  }

  static func seconds(_ now: Instant) -> Int {
    Int((VirtualClock.wallTimeAtZero + now.nanoseconds) / 1_000_000_000)
  }
}
