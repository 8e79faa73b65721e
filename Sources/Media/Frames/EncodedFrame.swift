public import Model

/// A picture or a piece of sound as its encoder made it, in the form in which files have it.
///
/// VP8: the frame. VP9: the frame, or those of all layers of size with an index behind them. AV1: a temporal unit whose units have
/// sizes, without the delimiter. H.264 and H.265: NAL units, each behind its size in four bytes. Sound: a packet.
public struct EncodedFrame: Equatable, Sendable {
  public var format: CodecFormat
  public var timestamp: UInt32
  public var bytes: [UInt8]
  /// A decoder can begin with it; so it can with all sound.
  public var isKeyFrame = true
  /// Of a key frame, where it says so.
  public var size: PictureSize?
  /// Of sound, in units of its clock.
  public var samples = 0
  /// Something before it didn't come.
  public var followsLoss = false
  public var layer = FrameLayer()
  public var restart: UInt8 = 0
  public var ssrc: UInt32 = 0
  /// Of its last packet.
  public var arrival: Instant

  public init(
    format: CodecFormat, timestamp: UInt32, bytes: [UInt8], isKeyFrame: Bool = true, size: PictureSize? = nil,
    samples: Int = 0, followsLoss: Bool = false, layer: FrameLayer = FrameLayer(), restart: UInt8 = 0,
    ssrc: UInt32 = 0, arrival: Instant
  ) {
    self.format = format
    self.timestamp = timestamp
    self.bytes = bytes
    self.isKeyFrame = isKeyFrame
    self.size = size
    self.samples = samples
    self.followsLoss = followsLoss
    self.layer = layer
    self.restart = restart
    self.ssrc = ssrc
    self.arrival = arrival
  }
}

/// Which layer of frame rate a frame is of, as far as its packets say.
public struct FrameLayer: Equatable, Sendable {
  public var temporal: UInt8 = 0
  /// Counts frames of the lowest layer: of the frame itself, or the last before it. nil where packets don't say.
  public var baseIndex: UInt8?
  /// It refers to the lowest layer alone.
  public var refersToBase = false
  /// Frames of higher layers behind it refer to none of theirs before it.
  public var opensAbove = false

  public init() {}
}
