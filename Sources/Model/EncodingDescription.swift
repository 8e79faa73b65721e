/// What a publisher says of one encoding, beside what can be counted.
public struct EncodingDescription: BitwiseCopyable, Sendable {
  /// Layers of size that are distinguished.
  public static var spatialLimit: Int { 4 }

  /// How large pictures are, by layer of size, as the last key frame said; all 0 where it didn't.
  public var pictures: InlineArray<4, PictureSize> = InlineArray(repeating: PictureSize())
  /// Of its best layer, as an offer said; both 0 where none did. Of frames that are encrypted nothing else says it.
  public var said = PictureSize()
  /// What it comes in, or would: nil where nothing is agreed on.
  public var codec: Codec?
  /// Nil where the publisher announces nothing.
  public var announced: EncodingAnnouncement?

  public init() {}

  /// Of pictures of the highest layer that is known.
  public var picture: PictureSize {
    for layer in (0..<4).reversed() where pictures[layer].pixels > 0 { return pictures[layer] }
    return PictureSize()
  }

  /// One layer alone has a size.
  public mutating func set(_ picture: PictureSize) {
    pictures = InlineArray(repeating: PictureSize())
    pictures[0] = picture
  }

  /// Of pictures of a layer, or of the highest below it that is known.
  public func picture(spatial: Int) -> PictureSize {
    for layer in (0...min(max(spatial, 0), 3)).reversed() where pictures[layer].pixels > 0 {
      return pictures[layer]
    }
    return PictureSize()
  }
}

/// What a publisher announces of one encoding (`video-layers-allocation00`).
public struct EncodingAnnouncement: BitwiseCopyable, Sendable {
  /// By layer of size.
  public var layers: InlineArray<4, AnnouncedLayer> = InlineArray(repeating: AnnouncedLayer())
  /// When its packet came.
  public var arrival: Instant

  public init(arrival: Instant) { self.arrival = arrival }

  /// It is sent.
  public var isActive: Bool {
    for layer in 0..<4 where layers[layer].temporalCount > 0 { return true }
    return false
  }
}

/// What a publisher announces of one layer of size.
public struct AnnouncedLayer: BitwiseCopyable, Sendable {
  /// Layers of frame rate, 1–4; 0: it isn't sent.
  public var temporalCount: UInt8 = 0
  /// Pictures a second with all of them; 0 where it isn't said.
  public var frameRate: UInt8 = 0
  /// Kilobits per second of everything up to each layer of frame rate.
  public var rates: InlineArray<4, UInt32> = InlineArray(repeating: 0)
  /// 0 where it isn't said.
  public var picture = PictureSize()

  public init() {}
}
