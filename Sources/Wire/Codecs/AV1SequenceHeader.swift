public import Model

/// The largest pictures of a coded video sequence of AV1, from its sequence header (AV1 specification §5.5).
public enum AV1SequenceHeader {
  /// - Parameter payload: of an RTP packet whose first unit is the header.
  /// - Returns: nil for one that is cut.
  public static func pictureSize(_ payload: UnsafeRawBufferPointer, _ units: AV1Payload) -> PictureSize? {
    let start = units.firstUnit
    guard units.startsKeyFrame, start > 0, start < payload.count, payload[start] >> 3 & 0x0F == 1 else {
      return nil
    }
    var offset = start &+ (payload[start] & 0x04 != 0 ? 2 : 1)
    if payload[start] & 0x02 != 0 {
      guard let (_, end) = AV1Payload.length(payload, at: offset) else { return nil }
      offset = end
    }
    guard offset < payload.count else { return nil }
    return pictureSize(of: UnsafeRawBufferPointer(rebasing: payload[offset...]))
  }

  /// - Parameter content: of the header, without the unit's own header; its first bytes are enough.
  /// - Returns: nil for one that is cut.
  public static func pictureSize(of content: UnsafeRawBufferPointer) -> PictureSize? {
    var bits = BitReader(content)
    readOperatingPoints(&bits)
    let (wide, high) = (Int(bits.read(4)) + 1, Int(bits.read(4)) + 1)
    let (width, height) = (bits.read(wide) &+ 1, bits.read(high) &+ 1)
    guard !bits.isOverrun, let width = UInt16(exactly: width), let height = UInt16(exactly: height) else {
      return nil
    }
    return PictureSize(width: width, height: height)
  }

  /// What stands before the size.
  struct Beginning {
    var profile: UInt8
    /// A header of a single picture, which leaves out most of the rest.
    var isReduced = false
    /// Of the first operating point.
    var level: UInt8 = 0
    var isHighTier = false
  }

  @discardableResult
  static func readOperatingPoints(_ bits: inout BitReader) -> Beginning {
    var read = Beginning(profile: UInt8(bits.read(3)))
    _ = bits.flag()
    if bits.flag() {
      read.isReduced = true
      read.level = UInt8(bits.read(5))
      return read
    }
    var delayBits = 0
    if bits.flag() {
      _ = (bits.read(32), bits.read(32))
      if bits.flag() { skipVariable(&bits) }
      if bits.flag() {
        delayBits = Int(bits.read(5)) + 1
        _ = (bits.read(32), bits.read(10))
      }
    }
    let hasDisplayDelay = bits.flag()
    for point in 0...bits.read(5) where !bits.isOverrun {
      _ = bits.read(12)
      let level = UInt8(bits.read(5))
      let isHighTier = level > 7 && bits.flag()
      if point == 0 { (read.level, read.isHighTier) = (level, isHighTier) }
      if delayBits > 0, bits.flag() { _ = (bits.read(delayBits), bits.read(delayBits), bits.flag()) }
      if hasDisplayDelay, bits.flag() { _ = bits.read(4) }
    }
    return read
  }

  /// uvlc() (§4.10.3).
  private static func skipVariable(_ bits: inout BitReader) {
    var zeros = 0
    while zeros < 32, !bits.isOverrun, !bits.flag() { zeros &+= 1 }
    if zeros < 32 { _ = bits.read(zeros) }
  }
}
