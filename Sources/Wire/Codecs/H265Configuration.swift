/// What a decoder of H.265 is given before the first picture, as files have it (ISO/IEC 14496-15 §8.3.3.1).
public enum H265Configuration {
  /// - Parameter sets: a video, a sequence and a picture parameter set, each with its header.
  /// - Returns: nil where a set is longer than a file can say, or the sequence's is cut.
  public static func record(video: [UInt8], sequence: [UInt8], picture: [UInt8]) -> [UInt8]? {
    guard let terms = terms(sequence) else { return nil }
    var record: [UInt8] = [1] + terms.profile
    // No bound on segments, and nothing said about parallel decoding.
    record += [0xF0, 0, 0xFC, 0xFC | terms.chroma, 0xF8 | terms.luma, 0xF8 | terms.depth]
    // No frame rate. Sub-layers, whether they are nested, and sizes of units in four bytes.
    record += [0, 0, (terms.subLayers + 1) << 3 | (terms.areNested ? 4 : 0) | 3, 3]
    for (type, set): (UInt8, [UInt8]) in [(32, video), (33, sequence), (34, picture)] {
      guard !set.isEmpty, let size = UInt16(exactly: set.count) else { return nil }
      record += [type, 0, 1, UInt8(size >> 8), UInt8(size & 0xFF)] + set
    }
    return record
  }

  private struct Terms {
    /// General profile, tier and level: twelve bytes.
    var profile: [UInt8] = []
    var subLayers: UInt8
    var areNested: Bool
    var chroma: UInt8
    var luma: UInt8
    var depth: UInt8
  }

  /// What the record repeats of a sequence parameter set (H.265 §7.3.2.2.1).
  private static func terms(_ sequence: [UInt8]) -> Terms? {
    sequence.withUnsafeBytes { bytes in
      var reader = RBSPReader(bytes, from: 2)
      reader.skip(4)
      let subLayers = reader.read(3)
      guard subLayers < 7 else { return nil }
      let areNested = reader.flag()
      let profile = (0..<12).map { _ in UInt8(reader.read(8)) }
      H265ParameterSet.skipSubLayers(Int(subLayers), &reader)
      _ = reader.unsigned()
      let chroma = reader.unsigned()
      if chroma == 3 { reader.skip(1) }
      _ = (reader.unsigned(), reader.unsigned())
      if reader.flag() { for _ in 0..<4 { _ = reader.unsigned() } }
      let (luma, depth) = (reader.unsigned(), reader.unsigned())
      guard !reader.isOverrun, chroma <= 3, luma <= 8, depth <= 8 else { return nil }
      return Terms(
        profile: profile, subLayers: UInt8(subLayers), areNested: areNested, chroma: UInt8(chroma),
        luma: UInt8(luma & 7), depth: UInt8(depth & 7))
    }
  }
}
