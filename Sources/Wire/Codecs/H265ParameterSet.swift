public import Model

/// What a sequence parameter set of H.265 says of the pictures that follow (§7.3.2.2.1).
public struct H265ParameterSet: Equatable, Sendable {
  /// As it is shown: without what the conformance window leaves out.
  public let picture: PictureSize
  /// The highest sub-layer that there may be, 0–6.
  public let topSubLayer: UInt8
  /// Behind each picture one can go on to every higher sub-layer (`sps_temporal_id_nesting_flag`).
  public let areNested: Bool

  /// - Parameter content: behind the unit's header.
  /// - Returns: nil for one that is cut, or of no size that pictures have.
  public init?(_ content: UnsafeRawBufferPointer) {
    var reader = RBSPReader(content, from: 0)
    reader.skip(4)
    topSubLayer = UInt8(truncatingIfNeeded: reader.read(3))
    guard topSubLayer < 7 else { return nil }
    areNested = reader.flag()
    reader.skip(96)
    Self.skipSubLayers(Int(topSubLayer), &reader)
    _ = reader.unsigned()
    let chroma = reader.unsigned()
    if chroma == 3 { reader.skip(1) }
    let (width, height) = (UInt64(reader.unsigned()), UInt64(reader.unsigned()))
    var (across, down): (UInt64, UInt64) = (0, 0)
    if reader.flag() {
      across = UInt64(reader.unsigned()) + UInt64(reader.unsigned())
      down = UInt64(reader.unsigned()) + UInt64(reader.unsigned())
    }
    guard chroma <= 3, !reader.isOverrun else { return nil }
    // The window is counted in samples of colour (table 6-1).
    across *= chroma == 1 || chroma == 2 ? 2 : 1
    down *= chroma == 1 ? 2 : 1
    guard let size = H264ParameterSet.size(width, height, cut: across, down) else { return nil }
    picture = size
  }

  /// `profile_tier_level` (§7.3.3), behind the 88 bits of the general profile and 8 of its level: as many again of each sub-layer
  /// that has its own.
  static func skipSubLayers(_ subLayers: Int, _ reader: inout RBSPReader) {
    guard subLayers > 0 else { return }
    var bits = 0
    for _ in 0..<subLayers {
      if reader.flag() { bits += 88 }
      if reader.flag() { bits += 8 }
    }
    reader.skip(2 * (8 - subLayers) + bits)
  }
}
