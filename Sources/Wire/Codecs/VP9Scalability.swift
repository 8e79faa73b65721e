public import Model

/// How large the pictures of each spatial layer are, from the scalability structure that a key frame's descriptor has
/// (RFC 9628 §4.2.1).
public struct VP9Scalability: BitwiseCopyable, Sendable {
  /// 1–8.
  public var layers: UInt8
  /// Of the first four; 0 where the structure doesn't say.
  public var pictures: InlineArray<4, PictureSize> = InlineArray(repeating: PictureSize())

  /// - Returns: nil where the payload has none.
  public init?(_ payload: UnsafeRawBufferPointer, _ descriptor: VP9Descriptor) {
    let start = descriptor.scalabilityOffset
    guard start > 0, start < payload.count, let bytes = payload.baseAddress else { return nil }
    let first = bytes.byte(at: start)
    layers = (first >> 5) + 1
    guard first & 0x10 != 0, start &+ 1 &+ 4 &* Int(layers) <= payload.count else { return }
    for layer in 0..<min(Int(layers), 4) {
      pictures[layer] = PictureSize(
        width: bytes.loadBigEndian(at: start &+ 1 &+ 4 &* layer, as: UInt16.self),
        height: bytes.loadBigEndian(at: start &+ 3 &+ 4 &* layer, as: UInt16.self))
    }
  }
}
