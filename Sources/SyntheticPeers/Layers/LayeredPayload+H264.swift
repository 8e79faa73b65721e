/// Frames of H.264 in packets, as browsers send them (RFC 6184, packetization mode 1).
///
///     key frame    STAP-A: SPS, PPS, SEI     FU-A: IDR …   FU-A: … IDR       what doesn't fit in one packet
///                  STAP-A: SPS, PPS, IDR                                     what does
///     others       FU-A: slice …  FU-A: … slice     or     slice
extension LayeredPayload {
  private static let (slice, idr): (UInt8, UInt8) = (1, 5)
  private static let (aggregate, fragment): (UInt8, UInt8) = (24, 28)
  /// Of a picture parameter set; and a message of user data, in which the stamp stands in a packet without slices.
  private static let pictureSet: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]
  private static let message: [UInt8] = [0x06, 0x05]

  /// What goes before the stamp, which is the rest of the packet's last unit.
  static func h264(_ mark: Mark, _ structure: LayerStructure, stampSize: Int) -> [UInt8] {
    let isKey = mark.frame.isKey
    // Whether others refer to it (NRI, §5.3).
    let importance: UInt8 = isKey ? 0x60 : structure.isDiscardable(mark.place) ? 0 : 0x40
    // The first byte of a slice that begins its picture.
    let begin: UInt8 = isKey ? 0x88 : 0x9A
    if isKey, mark.part == 0 {
      let last = mark.parts == 1 ? [importance | idr, begin] : message
      var bytes = [importance | aggregate]
      for unit in [sequenceSet(mark.encoding), pictureSet] {
        bytes.append(bigEndian: UInt16(unit.count))
        bytes += unit
      }
      bytes.append(bigEndian: UInt16(last.count + stampSize))
      return bytes + last
    }
    let (type, first) = isKey ? (idr, 1) : (slice, 0)
    // A unit that one packet holds is not cut (§5.8).
    guard mark.parts - first > 1 else { return [importance | type, begin] }
    let (starts, ends) = (mark.part == first, mark.endsFrame)
    return [
      importance | fragment, (starts ? 0x80 : 0) | (ends ? 0x40 : 0) | type, starts ? begin : 0x11,
    ]
  }

  /// A sequence parameter set of the constrained baseline profile, with the size of the pictures (H.264 §7.3.2.1.1).
  static func sequenceSet(_ encoding: LayeredVideo.Encoding) -> [UInt8] {
    let (width, height) = (Int(encoding.width), Int(encoding.height))
    let (columns, rows) = ((width + 15) / 16, (height + 15) / 16)
    var bits = ExpGolomb()
    // Its id; how frames are numbered; their order is that of decoding; one is referred to; no numbers are left out.
    for value in [0, 0, 2, 1] { bits.append(value) }
    bits.append(flag: false)
    bits.append(columns - 1)
    bits.append(rows - 1)
    // Whole frames, and what follows from that.
    bits.append(flag: true)
    bits.append(flag: true)
    // What of the last column and row is no picture, in pairs of pixels.
    let (right, bottom) = ((16 * columns - width) / 2, (16 * rows - height) / 2)
    bits.append(flag: right + bottom > 0)
    if right + bottom > 0 { for cut in [0, right, 0, bottom] { bits.append(cut) } }
    bits.append(flag: false)
    return [0x67, 0x42, 0xE0, 0x1F] + bits.finish()
  }
}

/// Numbers as parameter sets have them (H.264 §9.1). Of pictures up to 8,192 pixels wide and high no two bytes of zeros come of it, which
/// would have to be kept apart from the beginning of a unit (§7.4.1).
private struct ExpGolomb {
  private var bits: [Bool] = []

  mutating func append(flag: Bool) { bits.append(flag) }

  mutating func append(_ value: Int) {
    let length = Int.bitWidth - (value + 1).leadingZeroBitCount
    for place in (0..<2 * length - 1).reversed() { bits.append((value + 1) >> place & 1 == 1) }
  }

  /// - Returns: all of it behind each other, and the bit that ends a unit.
  mutating func finish() -> [UInt8] {
    bits.append(true)
    while bits.count % 8 != 0 { bits.append(false) }
    return stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
    }
  }
}
