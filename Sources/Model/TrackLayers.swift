/// What is known of a video track's encodings: which of them come, how large their pictures are and what they cost.
public struct TrackLayers: Equatable, Sendable {
  /// In the order of the description, from 1 to `ReceiveSection.mostEncodings`.
  public var encodings: [EncodingLayers]
  /// What else there is to know of the track.
  public var traits: TrackTraits

  public init(encodings: [EncodingLayers], traits: TrackTraits = []) {
    self.encodings = encodings
    self.traits = traits
  }

  /// Those that come, from the smallest to the best: by the pixels of their pictures where both are known, else by what they
  /// cost, else as they were listed.
  public var ranking: [UInt8] {
    encodings.indices.filter { encodings[$0].isActive }
      .sorted { encodings[$0].isBelow(encodings[$1]) ?? ($0 < $1) }
      .map { UInt8($0) }
  }
}

/// One encoding of a track.
public struct EncodingLayers: Equatable, Sendable {
  /// Packets of it come, or came until the whole track fell silent.
  public var isActive = false
  /// Of its pictures.
  public var picture = PictureSize()
  /// Of the encoding's layers those that come, from the smallest and slowest to the best. One that is off counts as it was.
  public var layers: [LayerRate] = []

  public init() {}

  /// Of all layers together.
  public var rate: UInt32 { layers.last?.rate ?? 0 }

  /// Nil where nothing tells.
  fileprivate func isBelow(_ other: EncodingLayers) -> Bool? {
    let (pixels, others) = (picture.pixels, other.picture.pixels)
    if pixels != others, pixels > 0, others > 0 { return pixels < others }
    // Rates of two pictures of one size, or of unknown ones, lie apart where it matters.
    let (least, most) = (UInt64(min(rate, other.rate)), UInt64(max(rate, other.rate)))
    if pixels == others, least > 0, 2 * most > 3 * least { return rate < other.rate }
    return nil
  }
}

/// What everything up to one layer takes: bits per second, with UDP and IP.
public struct LayerRate: BitwiseCopyable, Equatable, Sendable {
  public var spatial: UInt8
  public var temporal: UInt8
  /// The mean of the last second, and the most that a second of the last three had.
  public var rate: UInt32
  public var peak: UInt32
  /// The mean of these three.
  public var steady: UInt32
  /// What it counts as at least where it isn't the cheapest of its track, while it is measured for less than a second; 0: nothing.
  public var assumed: UInt32 = 0
  /// Of its pictures; both 0 where it isn't known.
  public var picture: PictureSize
  /// Pictures a second; 0 where it isn't known.
  public var frameRate: UInt8

  public init(
    spatial: UInt8, temporal: UInt8, rate: UInt32, peak: UInt32, steady: UInt32? = nil,
    picture: PictureSize = PictureSize(), frameRate: UInt8 = 0
  ) {
    self.spatial = spatial
    self.temporal = temporal
    self.rate = rate
    self.peak = peak
    self.steady = steady ?? rate
    self.picture = picture
    self.frameRate = frameRate
  }
}

/// In pixels; both 0 while it isn't known.
public struct PictureSize: BitwiseCopyable, Equatable, Sendable {
  public var width: UInt16
  public var height: UInt16

  @inlinable public init(width: UInt16 = 0, height: UInt16 = 0) {
    self.width = width
    self.height = height
  }

  public var pixels: Int { Int(width) * Int(height) }
}
