import Model
import Wire

extension Codec {
  func matches(_ map: RTPMapAttribute) -> Bool {
    map.encodingName.lowercased() == encodingName.lowercased() && map.clockRate == clockRate
      && map.channels ?? 1 == channels ?? 1
  }

  /// RFC 7587 §4.1: Opus is always announced as stereo, and so is RED around it.
  var channels: UInt16? { self == .opus || self == .red ? 2 : nil }

  /// Which format the parameters of `a=fmtp` make of the codec; nil for one that isn't forwarded.
  func format(_ parameters: FormatParameters) -> CodecFormat? {
    switch self {
    case .vp9: .vp9(profile: Self.number(parameters["profile-id"]))
    case .av1: .av1(profile: Self.number(parameters["profile"]))
    case .h264:
      H264Profile(levelID: parameters["profile-level-id"] ?? "420010").flatMap {
        .h264($0, mode: Self.number(parameters["packetization-mode"]))
      }
    case .h265: Self.h265(parameters)
    case .opus, .red, .pcmu, .pcma, .g722, .vp8: CodecFormat(self)
    }
  }

  /// What nothing is said of has the value that RFC 7798 §7.1 infers. Levels of two ends may differ (§7.2.2), so that it is enough
  /// for the level to be one. Pictures in several streams are declined, and so are streams whose units come in another order
  /// than they are decoded in, because a number stands before each of them then.
  private static func h265(_ parameters: FormatParameters) -> CodecFormat? {
    guard number(parameters["profile-space"]) == 0, parameters["level-id"].map({ UInt8($0) != nil }) ?? true,
      number(parameters["sprop-max-don-diff"]) == 0
    else { return nil }
    #if PLANTED_DEFECTS
      let isSingle =
        PlantedDefect.isOn(.manyStreamsTaken) || (parameters["tx-mode"] ?? "SRST") == "SRST"
    #else
      let isSingle = (parameters["tx-mode"] ?? "SRST") == "SRST"
    #endif
    guard isSingle, let profile = H265Profile(rawValue: number(parameters["profile-id"] ?? "1")) else {
      return nil
    }
    return .h265(profile, tier: number(parameters["tier-flag"]))
  }

  /// 0 where nothing stands, 255 for what is no number.
  private static func number(_ text: String?) -> UInt8 { text.map { UInt8($0) ?? 255 } ?? 0 }

  /// What our answer says about a codec that was offered with these parameters.
  ///
  /// In an answer they are the receiver's preferences. Those who will hear the track take what the offer's side can
  /// decode, so its own preferences come back, profile and level too; limits on picture size say nothing about what we
  /// forward.
  func answerParameters(to offered: String) -> String {
    let echoed: [String]
    switch self {
    case .opus: echoed = ["minptime", "useinbandfec", "stereo", "usedtx"]
    case .vp9: echoed = ["profile-id"]
    case .av1: echoed = ["level-idx", "profile", "tier"]
    case .h264: echoed = ["level-asymmetry-allowed", "packetization-mode", "profile-level-id"]
    case .h265:
      // All that a format is known by comes back unchanged (RFC 7798 §7.2.2).
      echoed = [
        "interop-constraints", "level-id", "profile-compatibility-indicator", "profile-id", "tier-flag",
        "tx-mode",
      ]
    case .red: return offered
    case .vp8, .pcmu, .pcma, .g722: return ""
    }
    return FormatAttribute(payloadType: 0, parameters: offered).pairs
      .filter { pair in
        echoed.contains(pair.name) && Self.isSound(pair.name, pair.value)
      }
      .prefix(echoed.count).map { "\($0.name)=\($0.value)" }.joined(separator: ";")
  }
}

extension Codec {
  /// Whether a value is of the form that its parameter has: nothing else is repeated.
  private static func isSound(_ name: String, _ value: String) -> Bool {
    guard name != "tx-mode" else { return value == "SRST" }
    let isLong = name == "interop-constraints" || name == "profile-compatibility-indicator"
    return (1...(isLong ? 12 : 6)).contains(value.utf8.count)
      && value.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39: true
        case 0x41...0x46, 0x61...0x66: isLong || name == "profile-level-id"
        default: false
        }
      }
  }
}

extension H264Profile {
  /// From the six hexadecimal digits of `profile-level-id`: profile_idc, constraint flags, level (RFC 6184 §8.1,
  /// table 5).
  init?(levelID text: String) {
    guard text.utf8.count == 6, text.utf8.first != 0x2B, let value = UInt32(text, radix: 16) else {
      return nil
    }
    let profile = value >> 16
    let flags = value >> 8 & 0xFF
    switch (profile, flags) {
    case (0x42, _) where flags & 0x4F == 0x40, (0x4D, _) where flags & 0x8F == 0x80,
      (0x58, _) where flags & 0xCF == 0xC0:
      self = .constrainedBaseline
    case (0x42, _) where flags & 0x4F == 0, (0x58, _) where flags & 0xCF == 0x80: self = .baseline
    case (0x4D, _) where flags & 0xAF == 0: self = .main
    case (0x64, 0): self = .high
    case (0x64, 0x0C): self = .constrainedHigh
    case (0xF4, 0): self = .high444
    default: return nil
    }
  }
}
