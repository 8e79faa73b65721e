/// How a far end sends its picture in several encodings, or in layers.
public struct LayeredVideo: Sendable {
  /// One encoding of a simulcast.
  public struct Encoding: Sendable {
    public var rid: String
    /// Pixels.
    public var width: UInt16
    public var height: UInt16
    /// Bits per second of payload, of all its layers.
    public var rate: Int
    /// Spans in nanoseconds, from the track's first frame on, in which the encoder leaves it out of its own accord.
    public var absences: [Range<Int64>] = []
    /// What it plays; nil: pictures that are made up, each packet with a stamp that tells it from every other.
    public var recording: RecordedVideo?

    public init(rid: String, width: UInt16, height: UInt16, rate: Int) {
      self.rid = rid
      self.width = width
      self.height = height
      self.rate = rate
    }

    /// A clip, as it is.
    public init(rid: String, _ recording: RecordedVideo) {
      self.init(rid: rid, width: recording.width, height: recording.height, rate: 0)
      self.recording = recording
    }

    func isAbsent(_ moment: Int64) -> Bool { absences.contains { $0.contains(moment) } }
  }

  /// In the order of the offer. Several are distinguished by their RIDs (RFC 8851), or by the SSRCs of their streams.
  public var encodings: [Encoding]
  /// The offer ties the streams of several together (`a=ssrc-group:SIM`), and gives them no names.
  public var isBySSRC = false
  public var structure: LayerStructure
  /// Nanoseconds from one picture to the next.
  public var interval: Int64 = 50_000_000
  /// What stands behind the codec's descriptor can be read by who has the key alone.
  public var isEncrypted = false
  /// Sends what `publish` says is watched, and no other encoding.
  public var obeysPublish = false

  public init(encodings: [Encoding], structure: LayerStructure) {
    self.encodings = encodings
    self.structure = structure
  }

  /// Nanoseconds between pictures of the lowest layer of frame rate.
  package var slowestInterval: Int64 { interval << Int64(structure.temporalLayers - 1) }

  /// It is offered as a simulcast.
  package var isSimulcast: Bool { encodings.count > 1 }
}

/// Which pictures refer to which, by their place behind the key frame: those of libwebrtc's encoders, whose cycle has eight
/// pictures.
///
///     place            0  1  2  3  4  5  6  7
///     three layers     0  2  1  2  0  2  1  2
///     refers to        ·  0  0  2  0 4,2 4,2 6
public struct LayerStructure: Sendable {
  public enum Codec: Sendable {
    case vp8, vp9, vp9Flexible
    /// In one spatial layer. Its frames say no more of layers of frame rate than which of them no other refers to: of three those of the
    /// highest.
    case h264
  }

  public var codec: Codec
  /// 1–3.
  public var temporalLayers: Int
  /// 1–3; of VP9.
  public var spatialLayers = 1
  /// A layer refers to the one below it in key pictures alone (k-SVC).
  public var isKeyOnly = false

  public init(codec: Codec, temporalLayers: Int) {
    self.codec = codec
    self.temporalLayers = temporalLayers
  }

  static let cycle = 8

  func temporal(_ place: Int) -> Int {
    switch temporalLayers {
    case 1: 0
    case 2: place % 2
    default: [0, 2, 1, 2][place % 4]
    }
  }

  /// How many pictures back the ones are that a picture refers to; the key frame refers to none.
  func distances(_ place: Int) -> [Int] {
    guard place > 0 else { return [] }
    switch (temporalLayers, place % Self.cycle) {
    case (1, _): return [1]
    case (2, let turn): return turn % 2 == 0 ? [2] : turn == 1 ? [1] : [1, 2]
    case (_, 0), (_, 4): return [4]
    case (_, 1): return [1]
    case (_, 2): return [2]
    case (_, 6): return [2, 4]
    case (_, 5): return [1, 3]
    default: return [1]
    }
  }

  /// VP8's Y: it refers to the lowest layer alone (RFC 7741 §4.2).
  func refersToBaseAlone(_ place: Int) -> Bool {
    temporal(place) > 0 && distances(place).allSatisfy { temporal(place - $0) == 0 }
  }

  /// VP9's U: no later picture of a higher layer refers to one of a higher layer before this (RFC 9628 §4.2).
  func switchesUp(_ place: Int) -> Bool {
    temporalLayers > 1 && (temporal(place) > 0 || place % Self.cycle == 0)
  }

  /// No picture refers to it.
  func isDiscardable(_ place: Int) -> Bool { temporalLayers == 3 && temporal(place) == 2 }

  /// What a layer takes of an encoding's rate: larger pictures more, faster ones less.
  package func share(spatial: Int) -> Double {
    let weights = [1.0, 3.0, 8.0].prefix(spatialLayers)
    return weights[spatial] / weights.reduce(0, +)
  }

  /// The size of a picture by its layer, relative to the mean.
  func weight(temporal: Int) -> Double {
    switch temporalLayers {
    case 1: 1
    case 2: [1.2, 0.8][temporal]
    default: [1.6, 1.0, 0.7][temporal]
    }
  }
}
