/// What the control plane says of a track that its packets don't.
public struct TrackTraits: OptionSet, BitwiseCopyable, Hashable, Sendable {
  public var rawValue: UInt8
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A screen: its sharpness counts, not its motion.
  @inlinable public static var screen: TrackTraits { TrackTraits(rawValue: 1) }
  /// Its frames are encrypted end to end: its payload is passed on as it is.
  @inlinable public static var encrypted: TrackTraits { TrackTraits(rawValue: 2) }
  /// Its participant speaks, or did last.
  @inlinable public static var speaking: TrackTraits { TrackTraits(rawValue: 4) }
}
