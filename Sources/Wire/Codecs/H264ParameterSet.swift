public import Model

/// The picture's size, from a sequence parameter set of H.264 (§7.3.2.1.1).
public enum H264ParameterSet {
  /// Profiles whose sets say how colours are sampled.
  private static let withChroma: [UInt32] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

  /// - Parameter unit: with its header.
  /// - Returns: nil for one that is cut, or of no size that pictures have.
  public static func pictureSize(_ unit: UnsafeRawBufferPointer) -> PictureSize? {
    var reader = RBSPReader(unit, from: 1)
    let profile = reader.read(8)
    reader.skip(16)
    _ = reader.unsigned()
    let chroma = withChroma.contains(profile) ? readChroma(&reader) : 1
    _ = reader.unsigned()
    switch reader.unsigned() {
    case 0: _ = reader.unsigned()
    case 1:
      reader.skip(1)
      _ = (reader.signed(), reader.signed())
      let cycle = reader.unsigned()
      guard cycle <= 255 else { return nil }
      for _ in 0..<cycle where !reader.isOverrun { _ = reader.signed() }
    default: break
    }
    _ = reader.unsigned()
    reader.skip(1)
    let (width, height) = (UInt64(reader.unsigned()) + 1, UInt64(reader.unsigned()) + 1)
    let fields: UInt64 = reader.flag() ? 1 : 2
    if fields == 2 { reader.skip(1) }
    reader.skip(1)
    var (acrossCut, downCut): (UInt64, UInt64) = (0, 0)
    if reader.flag() {
      acrossCut = UInt64(reader.unsigned()) + UInt64(reader.unsigned())
      downCut = UInt64(reader.unsigned()) + UInt64(reader.unsigned())
    }
    guard !reader.isOverrun else { return nil }
    // Cuts are counted in samples of colour (table 6-1).
    acrossCut *= chroma == 1 || chroma == 2 ? 2 : 1
    downCut *= (chroma == 1 ? 2 : 1) * fields
    return size(16 * width, 16 * fields * height, cut: acrossCut, downCut)
  }

  static func size(_ width: UInt64, _ height: UInt64, cut across: UInt64, _ down: UInt64) -> PictureSize? {
    guard width > across, height > down, let wide = UInt16(exactly: width - across),
      let high = UInt16(exactly: height - down)
    else { return nil }
    return PictureSize(width: wide, height: high)
  }

  private static func readChroma(_ reader: inout RBSPReader) -> UInt32 {
    let chroma = reader.unsigned()
    if chroma == 3 { reader.skip(1) }
    _ = (reader.unsigned(), reader.unsigned())
    reader.skip(1)
    if reader.flag() {
      for list in 0..<(chroma == 3 ? 12 : 8) where reader.flag() {
        skipScalingList(list < 6 ? 16 : 64, &reader)
      }
    }
    return chroma
  }

  private static func skipScalingList(_ size: Int, _ reader: inout RBSPReader) {
    var (last, next): (Int32, Int32) = (8, 8)
    for _ in 0..<size where !reader.isOverrun {
      if next != 0 { next = (last &+ reader.signed()) & 0xFF }
      if next != 0 { last = next }
    }
  }
}
