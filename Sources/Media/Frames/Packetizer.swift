public import Model

/// Divides frames into RTP payloads: VP8, VP9, AV1 and H.264, and sound, which needs no dividing.
///
/// Frames are in the form of `EncodedFrame`; of one layer, as encoders make them for files.
public struct Packetizer: Sendable {
  public struct Payload: Equatable, Sendable {
    public var bytes: [UInt8]
    /// The last of its frame; of sound never set, because pauses aren't known.
    public var marker: Bool

    public init(bytes: [UInt8], marker: Bool) {
      self.bytes = bytes
      self.marker = marker
    }
  }

  public let codec: Codec
  let maximum: Int
  /// Of VP8 and VP9, 15 bits.
  var pictureID: UInt16

  /// - Parameters:
  ///   - maximum: bytes of a payload, at least 64. A packet of sound is never divided, however long.
  ///   - pictureID: of the first picture.
  /// - Returns: nil of a codec that isn't divided here.
  public init?(_ codec: Codec, maximum: Int = 1_180, pictureID: UInt16 = 0) {
    switch codec {
    case .vp8, .vp9, .av1, .h264, .opus, .pcmu, .pcma, .g722: break
    case .h265, .red: return nil
    }
    self.codec = codec
    self.maximum = max(64, maximum)
    self.pictureID = pictureID & 0x7FFF
  }

  /// - Returns: in the order in which they are sent; none of a frame that isn't one of its codec.
  public mutating func payloads(of frame: [UInt8]) -> [Payload] {
    guard !frame.isEmpty else { return [] }
    var payloads: [[UInt8]]
    switch codec {
    case .vp8: payloads = vp8(frame)
    case .vp9: payloads = vp9(frame)
    case .h264: payloads = h264(frame)
    case .av1: payloads = av1(frame)
    default: return [Payload(bytes: frame, marker: false)]
    }
    if codec == .vp8 || codec == .vp9 { pictureID = (pictureID &+ 1) & 0x7FFF }
    let last = payloads.count - 1
    return payloads.enumerated().map { Payload(bytes: $1, marker: $0 == last) }
  }

  /// Pieces of about the same size, none above `limit`.
  static func divide(_ count: Int, limit: Int) -> [Range<Int>] {
    let pieces = max(1, (count + limit - 1) / limit)
    return (0..<pieces).map { count * $0 / pieces..<count * ($0 + 1) / pieces }
  }
}
