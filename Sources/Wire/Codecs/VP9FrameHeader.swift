public import Model

/// What a frame of VP9 says of itself in front, uncompressed (VP9 bitstream specification §6.2).
public struct VP9FrameHeader: Equatable, Sendable {
  public var isKeyFrame: Bool
  /// Of a key frame.
  public var size: PictureSize?

  /// - Parameter frame: its first bytes; 20 are enough.
  /// - Returns: nil where it doesn't begin as frames do.
  public init?(_ frame: UnsafeRawBufferPointer) {
    var bits = BitReader(frame)
    guard bits.read(2) == 2 else { return nil }
    let low = bits.read(1)
    let profile = bits.read(1) << 1 | low
    if profile == 3 { _ = bits.read(1) }
    // A picture that was sent before is shown again.
    let isRepeated = bits.flag()
    isKeyFrame = !isRepeated && !bits.flag()
    guard isKeyFrame else {
      guard !bits.isOverrun else { return nil }
      return
    }
    _ = bits.read(2)
    guard bits.read(24) == 0x49_8342 else { return nil }
    if profile >= 2 { _ = bits.read(1) }
    let hasAllColours = bits.read(3) == 7
    if !hasAllColours { _ = bits.read(1) }
    if profile & 1 == 1 { _ = bits.read(hasAllColours ? 1 : 3) }
    let (width, height) = (bits.read(16) + 1, bits.read(16) + 1)
    guard !bits.isOverrun else { return nil }
    size = PictureSize(width: UInt16(clamping: width), height: UInt16(clamping: height))
  }

  /// The index behind frames that stand together in one piece, which says how long each is (§ Annex B).
  /// - Parameter sizes: 2–8, of the frames in front of it.
  public static func index(of sizes: [Int]) -> [UInt8] {
    let width = max(1, (sizes.max().map { Int.bitWidth - $0.leadingZeroBitCount + 7 } ?? 8) / 8)
    let marker = 0xC0 | UInt8(truncatingIfNeeded: width - 1) << 3 | UInt8(truncatingIfNeeded: sizes.count - 1)
    var bytes = [marker]
    for size in sizes {
      for place in 0..<width { bytes.append(UInt8(truncatingIfNeeded: size >> (8 * place))) }
    }
    return bytes + [marker]
  }
}
