internal import AccessTokens
internal import Crypto
internal import Model

/// What says to APNs whose pushes these are: a JWT (RFC 7519) by ES256, made again before APNs takes it for too old.
///
/// APNs refuses one that is older than an hour, and those who make another one within 20 minutes.
struct ProviderToken: Sendable {
  /// Within which there is no other, whatever is said of it.
  static let shortestLife = Duration.seconds(20 * 60)
  /// After which the next push has another.
  static let life = Duration.seconds(40 * 60)

  private struct Made: Sendable {
    var text: String
    var at: Instant
    var wall: WallTime
  }

  private let key: SigningKey
  private let keyID: String
  private let teamID: String
  private var made: Made?

  /// - Parameters:
  ///   - keyID: the key's ten characters, as Apple gives them.
  ///   - teamID: the developer account's.
  init(key: SigningKey, keyID: String, teamID: String) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
  }

  /// The token for a push.
  /// - Parameters:
  ///   - now: by a clock that is never stepped.
  ///   - wall: the time of day, which is in it.
  mutating func text(now: Instant, wall: WallTime) -> String {
    if let made, age(of: made, now, wall) < Self.life { return made.text }
    return make(now, wall)
  }

  /// APNs has said of a token that it is expired.
  /// - Returns: another one; nil where that would be too soon.
  mutating func text(insteadOf refused: String, now: Instant, wall: WallTime) -> String? {
    if let made {
      // Another push may have had the same answer before.
      if made.text != refused { return made.text }
      guard age(of: made, now, wall) >= Self.shortestLife else { return nil }
    }
    return make(now, wall)
  }

  /// By the clock that has it older: while a machine sleeps one of them stands still, and the other may be set.
  private func age(of made: Made, _ now: Instant, _ wall: WallTime) -> Duration {
    max(now - made.at, .milliseconds(wall.milliseconds &- made.wall.milliseconds))
  }

  private mutating func make(_ now: Instant, _ wall: WallTime) -> String {
    let header = StrictJSON.object(["alg": .string("ES256"), "kid": .string(keyID)])
    let claims = StrictJSON.object([
      "iss": .string(teamID), "iat": .number(Double(wall.milliseconds / 1_000)),
    ])
    let signed = [header, claims].map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
    // Where OpenSSL has no memory for it APNs refuses the token, and the operator hears of that.
    let signature = (try? key.signature(of: Array(signed.utf8))) ?? []
    let text = signed + "." + Base64URL.encode(signature)
    made = Made(text: text, at: now, wall: wall)
    return text
  }
}
