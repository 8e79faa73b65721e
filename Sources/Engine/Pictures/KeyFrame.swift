public import Model

/// A picture that can be decoded by itself, as its publisher sent it.
public struct KeyFrame: Equatable, Sendable {
  public var format: CodecFormat
  /// VP8 and VP9: the frame, of VP9 with all its layers of size. H.264: units, each behind its size in four bytes.
  public var bytes: [UInt8]
  /// Where it says so.
  public var size: PictureSize?
  /// Of its last packet.
  public var arrival: Instant

  public init(format: CodecFormat, bytes: [UInt8], size: PictureSize? = nil, arrival: Instant) {
    self.format = format
    self.bytes = bytes
    self.size = size
    self.arrival = arrival
  }
}
