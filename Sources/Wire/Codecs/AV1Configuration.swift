/// What a decoder of AV1 is given before the first picture, as files have it (AV1 in ISOBMFF §2.3.3, in Matroska the same).
public enum AV1Configuration {
  /// - Parameter content: of a sequence header, without the unit's own header.
  /// - Returns: nil for one that is cut.
  public static func record(sequence content: [UInt8]) -> [UInt8]? {
    guard let terms = terms(content) else { return nil }
    var unit: [UInt8] = [0x0A]
    AV1Unit.append(length: content.count, to: &unit)
    return [0x81, terms.profile << 5 | terms.level, terms.sampling, 0] + unit + content
  }

  /// - Returns: profile and level, and a byte of tier, depth and colours.
  private static func terms(_ content: [UInt8]) -> (profile: UInt8, level: UInt8, sampling: UInt8)? {
    content.withUnsafeBytes { bytes in
      var bits = BitReader(bytes)
      let beginning = AV1SequenceHeader.readOperatingPoints(&bits)
      let (wide, high) = (Int(bits.read(4)) + 1, Int(bits.read(4)) + 1)
      _ = (bits.read(wide), bits.read(high))
      skipTools(&bits, isReduced: beginning.isReduced)
      let sampling = sampling(&bits, profile: beginning.profile)
      guard !bits.isOverrun, beginning.profile <= 2 else { return nil }
      return (beginning.profile, beginning.level, (beginning.isHighTier ? 0x80 : 0) | sampling)
    }
  }

  /// Which tools the coder may use (AV1 specification §5.5.1).
  private static func skipTools(_ bits: inout BitReader, isReduced: Bool) {
    if !isReduced, bits.flag() { _ = bits.read(7) }
    _ = bits.read(3)
    if !isReduced {
      _ = bits.read(4)
      let hasOrder = bits.flag()
      if hasOrder { _ = bits.read(2) }
      // Screen content: chosen picture by picture, or said here; integer vectors likewise where there may be any.
      let mayForce = bits.flag() || bits.flag()
      if mayForce, !bits.flag() { _ = bits.flag() }
      if hasOrder { _ = bits.read(3) }
    }
    _ = bits.read(3)
  }

  /// `color_config` (§5.5.2), as the record has it: depth, no colour, and where samples of colour lie.
  private static func sampling(_ bits: inout BitReader, profile: UInt8) -> UInt8 {
    let isDeep = bits.flag()
    let isDeepest = profile == 2 && isDeep && bits.flag()
    let isGrey = profile != 1 && bits.flag()
    var colours: [UInt32] = [2, 2, 2]
    if bits.flag() { colours = (0..<3).map { _ in bits.read(8) } }
    var packed: UInt8 = (isDeep ? 0x40 : 0) | (isDeepest ? 0x20 : 0) | (isGrey ? 0x10 : 0)
    if isGrey { return packed | 0x0C }
    if colours == [1, 13, 0] { return packed }
    _ = bits.flag()
    let (across, down): (Bool, Bool)
    switch profile {
    case 0: (across, down) = (true, true)
    case 1: (across, down) = (false, false)
    default:
      let isHalved = isDeepest ? bits.flag() : true
      (across, down) = (isHalved, isDeepest && isHalved ? bits.flag() : false)
    }
    packed |= (across ? 0x08 : 0) | (down ? 0x04 : 0)
    return across && down ? packed | UInt8(bits.read(2)) : packed
  }
}
