/// What a decoder of H.264 is given before the first picture, as files have it (ISO/IEC 14496-15 §5.3.3.1).
public enum H264Configuration {
  /// - Parameters:
  ///   - sequence: a sequence parameter set with its header.
  ///   - picture: a picture parameter set with its header.
  /// - Returns: nil where the sets are longer than a file can say, or the first is cut.
  public static func record(sequence: [UInt8], picture: [UInt8]) -> [UInt8]? {
    guard sequence.count >= 4, !picture.isEmpty, let size = UInt16(exactly: sequence.count),
      let pictureSize = UInt16(exactly: picture.count)
    else { return nil }
    // Units have their size in four bytes before them; one set of each kind.
    var record: [UInt8] = [1, sequence[1], sequence[2], sequence[3], 0xFF, 0xE1]
    record += [UInt8(size >> 8), UInt8(size & 0xFF)] + sequence
    record += [1, UInt8(pictureSize >> 8), UInt8(pictureSize & 0xFF)] + picture
    if [100, 110, 122, 144].contains(sequence[1]) {
      guard let (chroma, luma, depth) = sampling(sequence) else { return nil }
      record += [0xFC | chroma, 0xF8 | luma, 0xF8 | depth, 0]
    }
    return record
  }

  /// What stands in a record.
  /// - Returns: bytes of the sizes in front of units, and the parameter sets in their order; nil where it is none.
  public static func read(_ record: [UInt8]) -> (width: Int, sets: [[UInt8]])? {
    guard record.count >= 7, record[0] == 1 else { return nil }
    let width = Int(record[4] & 3) + 1
    var sets: [[UInt8]] = []
    var offset = 5
    for mask in [UInt8(0x1F), 0xFF] {
      guard offset < record.count else { return nil }
      let count = Int(record[offset] & mask)
      offset += 1
      for _ in 0..<count {
        guard offset + 2 <= record.count else { return nil }
        let size = Int(record[offset]) << 8 | Int(record[offset + 1])
        offset += 2
        guard size > 0, offset + size <= record.count else { return nil }
        sets.append(Array(record[offset..<offset + size]))
        offset += size
      }
    }
    return width == 3 ? nil : (width, sets)
  }

  /// How colours are sampled, and bits of a sample beyond eight, as sets of the higher profiles say.
  private static func sampling(_ sequence: [UInt8]) -> (chroma: UInt8, luma: UInt8, depth: UInt8)? {
    sequence.withUnsafeBytes { bytes in
      var reader = RBSPReader(bytes, from: 4)
      _ = reader.unsigned()
      let chroma = reader.unsigned()
      if chroma == 3 { reader.skip(1) }
      let (luma, depth) = (reader.unsigned(), reader.unsigned())
      guard !reader.isOverrun, chroma <= 3, luma <= 6, depth <= 6 else { return nil }
      return (UInt8(chroma), UInt8(luma), UInt8(depth))
    }
  }
}
