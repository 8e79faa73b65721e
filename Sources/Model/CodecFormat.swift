/// What a decoder must know of H.264 beyond its name (RFC 6184 §8.1, table 5), in the order in which we like them:
/// the more can decode it, the earlier.
public enum H264Profile: UInt8, BitwiseCopyable, Sendable, CaseIterable {
  case constrainedBaseline = 0
  case baseline = 1
  case main = 2
  case constrainedHigh = 3
  case high = 4
  case high444 = 5

  /// Whether a decoder of this profile decodes all streams of `other`.
  public func decodes(_ other: H264Profile) -> Bool {
    switch (self, other) {
    case (_, _) where self == other: true
    case (.baseline, .constrainedBaseline), (.main, .constrainedBaseline),
      (.constrainedHigh, .constrainedBaseline), (.high, .constrainedBaseline), (.high, .main),
      (.high, .constrainedHigh):
      true
    default: false
    }
  }
}

/// What a decoder must know of H.265 beyond its name: `profile-id` (RFC 7798 §7.1), in the order in which we like them. Other ids
/// stand for several profiles each, which the number alone doesn't tell apart, or for single pictures.
public enum H265Profile: UInt8, BitwiseCopyable, Sendable, CaseIterable {
  case main = 1
  case main10 = 2

  /// Whether a decoder of this profile decodes all streams of `other` (H.265 §A.3.3).
  public func decodes(_ other: H265Profile) -> Bool { rawValue >= other.rawValue }
}

/// A codec together with what its streams need of a decoder: profile, packetization mode and tier.
///
/// One number below `limit`, so that tables by format are arrays of fixed size.
public struct CodecFormat: Hashable, BitwiseCopyable, Sendable, CustomStringConvertible {
  /// Numbers are below this.
  public static var limit: Int { 32 }

  public let rawValue: UInt8

  @inlinable @inline(__always)
  init(unchecked rawValue: UInt8) { self.rawValue = rawValue }

  /// - Returns: nil for a number that no format has.
  public init?(rawValue: UInt8) {
    guard rawValue < 29 else { return nil }
    self.rawValue = rawValue
  }

  /// The format of a codec without parameters.
  public init(_ codec: Codec) {
    rawValue =
      switch codec {
      case .opus: 0
      case .red: 1
      case .pcmu: 2
      case .pcma: 3
      case .g722: 4
      case .vp8: 5
      case .vp9: 6
      case .av1: 10
      // Baseline in single NAL units is what H.264 without a word about it means (RFC 6184 §8.1).
      case .h264: 13 + 2 * H264Profile.baseline.rawValue
      // Main profile in the main tier is what H.265 without a word about it means (RFC 7798 §7.1).
      case .h265: 25
      }
  }

  // Computed: a stored one would be looked up, behind a once, for each packet in another module.
  @inlinable public static var opus: CodecFormat { CodecFormat(unchecked: 0) }
  @inlinable public static var red: CodecFormat { CodecFormat(unchecked: 1) }
  @inlinable public static var vp8: CodecFormat { CodecFormat(unchecked: 5) }

  /// - Parameter profile: 0–3; others are nil.
  public static func vp9(profile: UInt8) -> CodecFormat? {
    profile < 4 ? CodecFormat(unchecked: 6 + profile) : nil
  }
  /// - Parameter profile: 0 main, 1 high, 2 professional; others are nil.
  public static func av1(profile: UInt8) -> CodecFormat? {
    profile < 3 ? CodecFormat(unchecked: 10 + profile) : nil
  }
  /// - Parameter mode: 0 single NAL units, 1 non-interleaved; others are nil.
  public static func h264(_ profile: H264Profile, mode: UInt8) -> CodecFormat? {
    mode < 2 ? CodecFormat(unchecked: 13 + 2 * profile.rawValue + mode) : nil
  }
  /// - Parameter tier: 0 main, 1 high; others are nil.
  public static func h265(_ profile: H265Profile, tier: UInt8) -> CodecFormat? {
    tier < 2 ? CodecFormat(unchecked: 25 + 2 * (profile.rawValue - 1) + tier) : nil
  }

  @inlinable public var codec: Codec {
    switch rawValue {
    case 0: .opus
    case 1: .red
    case 2: .pcmu
    case 3: .pcma
    case 4: .g722
    case 5: .vp8
    case 6...9: .vp9
    case 10...12: .av1
    case 13...24: .h264
    default: .h265
    }
  }

  /// Profile and packetization mode of H.264.
  public var h264: (profile: H264Profile, mode: UInt8)? {
    guard codec == .h264 else { return nil }
    return (H264Profile(rawValue: (rawValue - 13) / 2) ?? .baseline, (rawValue - 13) & 1)
  }

  /// Profile and tier of H.265.
  public var h265: (profile: H265Profile, tier: UInt8)? {
    guard codec == .h265 else { return nil }
    return (H265Profile(rawValue: (rawValue - 25) / 2 + 1) ?? .main, (rawValue - 25) & 1)
  }

  /// The profile of VP9 or AV1; 0 otherwise.
  public var profile: UInt8 {
    switch codec {
    case .vp9: rawValue - 6
    case .av1: rawValue - 10
    default: 0
    }
  }

  /// As people name it: `VP9`, `VP9 profile 2`, `H264 constrainedBaseline mode 1`, `H265 main10 tier 0`.
  public var description: String {
    if let h264 { return "\(codec.encodingName) \(h264.profile) mode \(h264.mode)" }
    if let h265 { return "\(codec.encodingName) \(h265.profile) tier \(h265.tier)" }
    return profile == 0 ? codec.encodingName : "\(codec.encodingName) profile \(profile)"
  }

  /// Whether who asked for this format can be given a stream of `other`.
  ///
  /// A profile of VP9 or AV1 is decoded by those who name it; of H.264 and H.265 one profile may contain another,
  /// packetization mode 1 allows all that mode 0 does, and the high tier all that the main tier does (H.265 §A.4.1).
  public func takes(_ other: CodecFormat) -> Bool {
    if self == other { return true }
    if let h265, let given = other.h265 {
      return h265.tier >= given.tier && h265.profile.decodes(given.profile)
    }
    guard let h264, let given = other.h264 else { return false }
    return h264.mode >= given.mode && h264.profile.decodes(given.profile)
  }
}
