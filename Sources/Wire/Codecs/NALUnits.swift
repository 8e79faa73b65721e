/// NAL units of H.264 and H.265 in the two forms that files have: behind start codes (H.264 annex B), and behind their sizes.
public enum NALUnits {
  /// Where the units between start codes lie. What stands before the first start code is none.
  public static func betweenStartCodes(_ bytes: [UInt8]) -> [Range<Int>] {
    var units: [Range<Int>] = []
    var start: Int?
    var zeros = 0
    for (index, byte) in bytes.enumerated() {
      if byte == 1, zeros >= 2 {
        // Zeros in front of a start code belong to none.
        if let start, start < index - zeros { units.append(start..<index - zeros) }
        start = index + 1
      }
      zeros = byte == 0 ? zeros + 1 : 0
    }
    if let start, start < bytes.count - zeros { units.append(start..<bytes.count - zeros) }
    return units
  }

  /// Where the units behind sizes lie.
  /// - Parameter width: bytes of a size, 1–4.
  /// - Returns: nil where one goes beyond the end.
  public static func behindSizes(_ bytes: [UInt8], width: Int) -> [Range<Int>]? {
    var units: [Range<Int>] = []
    var offset = 0
    while offset < bytes.count {
      guard offset + width <= bytes.count else { return nil }
      let size = bytes[offset..<offset + width].reduce(0) { $0 << 8 | Int($1) }
      offset += width
      guard size <= bytes.count - offset else { return nil }
      if size > 0 { units.append(offset..<offset + size) }
      offset += size
    }
    return units
  }
}
