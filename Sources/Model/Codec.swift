public enum MediaKind: UInt8, BitwiseCopyable, Sendable, CaseIterable {
  case audio = 0
  case video = 1
}

/// A payload format that Roost forwards.
public enum Codec: UInt8, BitwiseCopyable, Sendable, CaseIterable {
  case opus = 0
  case vp8 = 1

  public var kind: MediaKind { self == .opus ? .audio : .video }
  /// RTP clock in hertz.
  public var clockRate: UInt32 { self == .opus ? 48_000 : 90_000 }
  /// The encoding name of `a=rtpmap`, as registered; compared without regard to case.
  public var encodingName: String { self == .opus ? "opus" : "VP8" }
}
