public import Model

/// What a synthetic peer does and lacks.
public struct PeerConfiguration: Sendable {
  /// Its number in the simulation; part of every payload that it sends.
  public var number: Int
  /// Sections in which it wants to receive.
  public var audioReceivers = 0
  public var videoReceivers = 0
  public var publishesAudio = true
  public var publishesVideo = true
  /// `a=setup:passive`: the far end sends the ClientHello.
  public var waitsForHandshake = false
  /// Streams are announced in the description, or only named by their MID.
  public var announcesSSRCs = true
  public var dialect = Dialect()
  /// What it begins to publish in.
  public var audioCodec = Codec.opus
  public var videoCodec = Codec.vp8
  /// Opus and RED are not sent while nothing is said.
  public var pausesInSilence = false
  /// Loud for three seconds and quiet for six, by its number.
  public var talksInTurns = false
  /// Picture ids have 7 bits, not 15.
  public var hasShortPictureIDs = false
  /// Dependency descriptors of key frames need the two-byte form.
  public var hasLongDescriptors = false
  public var clock = DriftingClock()
  public var audioSequence: UInt16 = 0
  public var videoSequence: UInt16 = 0
  public var video = FrameShape.video
  /// It publishes frames that it is given (`send`), and what it receives carries no stamp; see `EncodedMedia`.
  public var isEncoded = false
  /// Its first picture comes in encodings or layers; nil: as `video` has it.
  public var layers: LayeredVideo?

  public init(number: Int) { self.number = number }
}
