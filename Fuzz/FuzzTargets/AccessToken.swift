import AccessTokens
import Crypto
import Rooms

/// Takes the input as a token, and as the payload of one that is signed rightly: neither traps, and only the second
/// is ever believed.
func fuzzAccessToken(_ input: UnsafeRawBufferPointer) {
  let keys = ["key": "a secret that no input can know, 32+"]
  if let text = String(validating: input, as: UTF8.self) {
    let believed = try? AccessToken(verifying: text, keys: keys, now: 1_700_000_000)
    check(believed == nil, "what is not signed is not believed")
  }
  let signed = base64(Array(#"{"alg":"HS256"}"#.utf8)) + "." + base64(Array(input))
  let code = HMAC.code(.sha256, key: Array(keys["key"]!.utf8), message: Array(signed.utf8))
  if let token = try? AccessToken(verifying: signed + "." + base64(code), keys: keys, now: 1_700_000_000) {
    check(token.apiKey == "key", "the key that signed is the token's")
    check(token.expires > 1_700_000_000 - 60, "what is believed has not expired")
    if let call = token.call {
      check((1...36).contains(call.id.utf8.count), "a call's id is as long as one")
      check(call.device?.utf8.count ?? 0 <= 128, "a device's name is short")
    }
    check(
      token.roost.invitation.map { (1...32).contains($0.utf8.count) } ?? true,
      "an invitation's id is as long as one")
  }
}

/// RFC 4648 §5, without padding.
private func base64(_ bytes: [UInt8]) -> String {
  let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  var text: [UInt8] = []
  var bits = 0
  var held = 0
  for byte in bytes {
    bits = (bits << 8 | Int(byte)) & 0xFFFF
    held += 8
    while held >= 6 {
      held -= 6
      text.append(alphabet[bits >> held & 63])
    }
  }
  if held > 0 { text.append(alphabet[bits << (6 - held) & 63]) }
  return String(decoding: text, as: UTF8.self)
}
