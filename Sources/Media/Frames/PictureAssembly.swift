internal import Model

/// The payloads of one picture, joined as its codec wants it.
struct PictureAssembly: Sendable {
  struct Picture {
    var bytes: [UInt8]
    var isKeyFrame: Bool
    var size: PictureSize?
    var layer = FrameLayer()
  }

  /// What has been joined so far.
  var bytes: [UInt8] = []
  var isKeyFrame = false
  var size: PictureSize?
  var layer = FrameLayer()
  /// Of VP9: where each layer of size begins in `bytes`, and whether the last one has ended.
  var layerStarts: [Int] = []
  var hasEnded = false
  /// Where a unit lies whose last fragment hasn't come: H.264 and H.265 its size, AV1 its first byte.
  var openUnit: Int?
  /// Of AV1: the unit that goes on in the next packet.
  var fragment: [UInt8] = []
  /// Of AV1: the first frame has been seen.
  var hasFrame = false

  /// Whether a picture may begin with this payload, where nothing is known of what came before.
  static func begins(with payload: [UInt8], _ codec: Codec) -> Bool {
    payload.withUnsafeBytes { payload in
      switch codec {
      case .vp8: beginsVP8(payload)
      case .vp9: beginsVP9(payload)
      case .h264: beginsH264(payload)
      case .h265: beginsH265(payload)
      case .av1: beginsAV1(payload)
      case .opus, .red, .pcmu, .pcma, .g722: false
      }
    }
  }

  /// - Returns: false for a payload that isn't the next of its picture.
  mutating func add(_ payload: UnsafeRawBufferPointer, _ codec: Codec, marker: Bool) -> Bool {
    switch codec {
    case .vp8: addVP8(payload)
    case .vp9: addVP9(payload)
    case .h264: addH264(payload)
    case .h265: addH265(payload)
    case .av1: addAV1(payload)
    case .opus, .red, .pcmu, .pcma, .g722: false
    }
  }

  /// - Returns: nil where something of it is missing.
  func finish(_ codec: Codec) -> Picture? {
    guard !bytes.isEmpty, openUnit == nil, fragment.isEmpty else { return nil }
    let whole = codec == .vp9 ? finishedVP9() : bytes
    return whole.map { Picture(bytes: $0, isKeyFrame: isKeyFrame, size: size, layer: layer) }
  }

  mutating func clear() { self = PictureAssembly() }
}
