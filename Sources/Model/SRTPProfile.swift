/// What protects the media of one transport (RFC 5764 §4.1.2, RFC 7714 §14.2); the raw value is the
/// DTLS-SRTP protection profile.
public enum SRTPProfile: UInt16, Sendable, CaseIterable {
  case aeadAES128GCM = 0x0007
  case aeadAES256GCM = 0x0008
  // swift-format-ignore: AlwaysUseLowerCamelCase, the name that the profile has
  case aes128CMSHA1_80 = 0x0001

  public var name: String {
    switch self {
    case .aeadAES128GCM: "AEAD_AES_128_GCM"
    case .aeadAES256GCM: "AEAD_AES_256_GCM"
    case .aes128CMSHA1_80: "AES128_CM_SHA1_80"
    }
  }
}
