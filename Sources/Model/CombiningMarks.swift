/// Runs of combining marks, such as accents, in text from outside.
///
/// Swift compares and hashes strings in their normal form, for which the marks behind a letter are sorted by their class
/// (UAX #15): that costs the square of how many stand in a row, a third of a second for 32 KiB of them. So no text becomes a
/// string of the server's that has more of them in a row than the Stream-Safe Text Format (UAX #15 §13), which no language needs.
public enum CombiningMarks {
  /// As many may stand in a row.
  public static let limit = 30

  /// Whether no more than `limit` stand in a row anywhere.
  public static func areFew(in text: some StringProtocol) -> Bool {
    // The first of them is U+0300, which begins with this byte. Bytes in a row are looked at as such: through the collection that
    // a caller's text is, each would cost a call.
    let mayHaveSome =
      text.utf8.withContiguousStorageIfAvailable { bytes in bytes.contains { $0 >= 0xCC } }
      ?? text.utf8.contains { $0 >= 0xCC }
    guard mayHaveSome else { return true }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.marksUnbounded) { return true }
    #endif
    var run = 0
    for scalar in text.unicodeScalars {
      run = isMark(scalar) ? run + 1 : 0
      if run > limit { return false }
    }
    return true
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0x300: false
    // Vowel signs of Tibetan that begin no run themselves, and decompose into marks that do.
    case 0xF73, 0xF75, 0xF81: true
    default: scalar.properties.canonicalCombiningClass != .notReordered
    }
  }
}
