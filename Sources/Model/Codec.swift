public enum MediaKind: UInt8, BitwiseCopyable, Sendable, CaseIterable {
  case audio = 0
  case video = 1
}

/// A codec that Roost forwards; formats that can't stand in for each other are distinguished by `CodecFormat`.
public enum Codec: UInt8, BitwiseCopyable, Sendable, CaseIterable {
  case opus = 0
  case vp8 = 1
  case vp9 = 2
  case h264 = 3
  case h265 = 9
  case av1 = 4
  /// RFC 2198: older blocks of another codec travel along with the newest.
  case red = 5
  case pcmu = 6
  case pcma = 7
  case g722 = 8

  public var kind: MediaKind {
    switch self {
    case .vp8, .vp9, .h264, .h265, .av1: .video
    case .opus, .red, .pcmu, .pcma, .g722: .audio
    }
  }

  /// RTP clock in hertz; that of G.722 is 8,000 although it samples at twice that (RFC 3551 §4.5.2).
  public var clockRate: UInt32 {
    switch self {
    case .opus, .red: 48_000
    case .pcmu, .pcma, .g722: 8_000
    case .vp8, .vp9, .h264, .h265, .av1: 90_000
    }
  }

  /// The encoding name of `a=rtpmap`, as registered; compared without regard to case.
  public var encodingName: String {
    switch self {
    case .opus: "opus"
    case .vp8: "VP8"
    case .vp9: "VP9"
    case .h264: "H264"
    case .h265: "H265"
    case .av1: "AV1"
    case .red: "red"
    case .pcmu: "PCMU"
    case .pcma: "PCMA"
    case .g722: "G722"
    }
  }

  /// The payload type that means the codec even where no `a=rtpmap` says so (RFC 3551 §6).
  public var staticPayloadType: UInt8? {
    switch self {
    case .pcmu: 0
    case .pcma: 8
    case .g722: 9
    default: nil
    }
  }
}
