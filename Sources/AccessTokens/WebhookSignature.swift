internal import Crypto

/// How a receiver knows that a notice is from this server and arrived as it was sent: a JWT (RFC 7519) in `Authorization`, signed
/// like access tokens, with the body's digest. The layout is that of LiveKit's, so that its SDKs verify it.
package enum WebhookSignature {
  /// Seconds for which it holds.
  package static let lifetime = 300

  /// - Parameters:
  ///   - key: the API key, `iss`, whose secret signs.
  ///   - now: seconds since 1970.
  package static func token(for body: [UInt8], key: String, secret: String, now: Int) -> String {
    let claims = StrictJSON.object([
      "iss": .string(key), "exp": .number(Double(now + lifetime)),
      "sha256": .string(Base64.encode(SHA256.digest(body))),
    ])
    let signed =
      Base64URL.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "."
      + Base64URL.encode(Array(claims.text.utf8))
    let code = HMAC.code(.sha256, key: Array(secret.utf8), message: Array(signed.utf8))
    return signed + "." + Base64URL.encode(code)
  }
}
