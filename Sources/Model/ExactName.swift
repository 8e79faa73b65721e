/// A room's name or an identity as a key: equal where all bytes are.
///
/// Strings are equal where Unicode calls them canonically equivalent (UAX #15), so that "é" in one character is "é" in two.
/// Names are what tokens and paths say, byte for byte: what looks the same may be two participants.
public struct ExactName: Hashable, Sendable {
  public let text: String

  public init(_ text: String) { self.text = text }

  public static func == (a: ExactName, b: ExactName) -> Bool { a.text.isExactly(b.text) }

  public func hash(into hasher: inout Hasher) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.namesLookAlike) { return hasher.combine(text) }
    #endif
    for byte in text.utf8 { hasher.combine(byte) }
    // 0xFF is no byte of UTF-8, so it separates the name from what follows in the same key.
    hasher.combine(0xFF as UInt8)
  }
}

extension String {
  /// Whether it has the same bytes.
  public func isExactly(_ other: String) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.namesLookAlike) { return self == other }
    #endif
    return utf8.elementsEqual(other.utf8)
  }
}
