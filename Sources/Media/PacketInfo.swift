public import Model

/// What is known of a received packet, found once: later stages read it here and never parse again.
///
/// Fixed in size and plain in memory, so it crosses to another worker as it is; to another node as `PacketInfo+Wire` has it. Offsets are from the packet's
/// first byte unless they say otherwise.
public struct PacketInfo: BitwiseCopyable, Sendable {
  /// When the kernel had it.
  public var arrival = Instant(nanoseconds: 0)
  /// Never wraps; a source that starts over goes on far above its old numbers.
  public var extendedSequence: Int64 = 0
  public var timestamp: UInt32 = 0
  /// Counts how often the source started over; streams are anchored again when it changes.
  public var restart: UInt8 = 0
  public var format = CodecFormat.opus
  /// Of RED's newest block, which is what those get who lack RED; otherwise as `format`.
  public var primaryFormat = CodecFormat.opus
  /// RFC 6464: bit 7 voice, the rest decibels below overload. Meaningful with `.audioLevel`.
  public var audioLevel: UInt8 = 0
  public var flags: Flags = []
  /// Contributing sources, 0–15; their list starts at offset 12.
  public var contributors: UInt8 = 0
  /// RED: how many blocks come before its newest.
  public var olderBlocks: UInt8 = 0
  public var payloadOffset: UInt16 = 0
  /// Bytes without padding.
  public var payloadSize: UInt16 = 0
  /// RED: where in the payload its newest block starts.
  public var primaryOffset: UInt16 = 0
  /// VP8 and VP9: 7 or 15 bits, in the payload at `pictureIDOffset`; there is none where that is 0.
  public var pictureID: UInt16 = 0
  public var pictureIDOffset: UInt8 = 0
  public var tl0PictureIndexOffset: UInt8 = 0
  public var tl0PictureIndex: UInt8 = 0
  /// Header extensions that go on to subscribers who take them.
  public var carried = CarriedExtensions()
  /// Which of its track's streams the packet is of: a simulcast has several, each with numbers and timestamps of its own.
  public var encoding: UInt8 = 0
  /// Where the packet stands in its encoding's layers; all 0 where it has only one.
  public var layer = LayerID()

  public struct Flags: OptionSet, BitwiseCopyable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable public static var marker: Flags { Flags(rawValue: 1) }
    /// The first packet of a frame.
    @inlinable public static var frameStart: Flags { Flags(rawValue: 2) }
    /// The first packet of a key frame.
    @inlinable public static var keyFrame: Flags { Flags(rawValue: 4) }
    /// No other frame refers to this one.
    @inlinable public static var discardable: Flags { Flags(rawValue: 8) }
    @inlinable public static var audioLevel: Flags { Flags(rawValue: 16) }
    /// It came as a retransmission.
    @inlinable public static var recovered: Flags { Flags(rawValue: 32) }
    /// The picture id has 15 bits.
    @inlinable public static var longPictureID: Flags { Flags(rawValue: 64) }
    /// `carried` has something.
    @inlinable public static var carriesExtensions: Flags { Flags(rawValue: 128) }
    /// A consumer may go on to this packet's layer of frame rate from here.
    @inlinable public static var switchingPoint: Flags { Flags(rawValue: 256) }
    /// The last packet of its picture in one layer of size.
    @inlinable public static var endsLayerFrame: Flags { Flags(rawValue: 512) }
    /// A consumer may go on to this packet's layer of size from here: nothing before this picture is referred to in it.
    @inlinable public static var beginsSpatialLayer: Flags { Flags(rawValue: 1_024) }
    /// Those who get a higher layer of size do without this frame: no frame there refers to it, as between two key frames of a
    /// scalability mode with `_KEY` (WebRTC-SVC §6.1.3).
    @inlinable public static var notNeededAbove: Flags { Flags(rawValue: 2_048) }
    /// No higher layer of size is sent at present. Set only where the source says so.
    @inlinable public static var topSpatialLayer: Flags { Flags(rawValue: 4_096) }
    /// Its descriptor names a template that isn't known here, as of a structure that was lost: which layer it is of can't be said.
    @inlinable public static var layerUnknown: Flags { Flags(rawValue: 8_192) }
    /// The frame is encrypted end to end: nothing is added to its payload, or taken out.
    @inlinable public static var encrypted: Flags { Flags(rawValue: 16_384) }
    /// A consumer that gets the layer of frame rate below this packet's may go on to its layer from here; one that gets less may not.
    @inlinable public static var switchesFromBelow: Flags { Flags(rawValue: 32_768) }
  }

  public init() {}

  @inlinable public var isSwitchingPoint: Bool { flags.contains(.switchingPoint) }
  @inlinable public var isDiscardable: Bool { flags.contains(.discardable) }
}

/// Which layer of an encoding a packet belongs to, of size and of frame rate, and what it opens.
public struct LayerID: BitwiseCopyable, Equatable, Sendable {
  public var spatial: UInt8 = 0
  public var temporal: UInt8 = 0
  /// A bit for each layer of frame rate that those who get this packet's layer of size may go on to behind this frame.
  public var opens: UInt8 = 0

  @inlinable public init(spatial: UInt8 = 0, temporal: UInt8 = 0) {
    self.spatial = spatial
    self.temporal = temporal
  }
}

/// Where in a packet those extensions lie whose data belongs to the media, so that it is passed on. An offset of 0
/// means that there is none.
public struct CarriedExtensions: BitwiseCopyable, Equatable, Sendable {
  public var descriptorOffset: UInt16 = 0
  public var colorSpaceOffset: UInt16 = 0
  public var playoutDelayOffset: UInt16 = 0
  /// Eight bytes, on the server's time line.
  public var captureTimeOffset: UInt16 = 0
  /// Of the dependency descriptor.
  public var frameNumber: UInt16 = 0
  public var descriptorSize: UInt8 = 0
  public var colorSpaceSize: UInt8 = 0

  public static var playoutDelaySize: UInt8 { 3 }
  public static var captureTimeSize: UInt8 { 8 }

  @inlinable public init() {}

  @inlinable public var isEmpty: Bool {
    descriptorOffset | colorSpaceOffset | playoutDelayOffset | captureTimeOffset == 0
  }
}

/// Why a received packet goes nowhere; counted by this name.
public enum MediaDrop: UInt8, Error, Sendable, CaseIterable {
  case unknownPayloadType
  case malformedPayload
  case duplicate
  /// Older than the window of sequence numbers that can be distinguished.
  case tooOld
  /// The first packet after a jump; a second one in line confirms it (RFC 3550 A.1).
  case sequenceJump
  /// A retransmission or padding before the stream it belongs to.
  case retransmissionWithoutStream
  case paddingOnly
  /// From before the codec changed to one with another clock, and overtaken by that change.
  case otherClock
}
