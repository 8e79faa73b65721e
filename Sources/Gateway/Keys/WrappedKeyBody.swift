internal import AccessTokens
internal import CallDesk
internal import Calls
internal import KeyDirectory
internal import Signalling

/// The key of a call as its device gets it.
struct WrappedKeyBody: Encodable {
  let keyId: String
  /// Base64.
  let ciphertext: String

  init(_ key: CallKey) {
    keyId = key.keyID.text
    ciphertext = String(decoding: Base64.encode(key.ciphertext), as: UTF8.self)
  }
}

extension CurrentKey {
  /// As problems have it.
  var json: StrictJSON {
    .object([
      "person": .string(person.text), "device": .string(device.text), "keyId": .string(keyID.text),
    ])
  }
}
