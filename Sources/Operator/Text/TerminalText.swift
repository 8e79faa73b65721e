#if PLANTED_DEFECTS
  internal import Model
#endif

/// Text of strangers, such as names and metadata, as a terminal may show it.
package enum TerminalText {
  /// The text without what a terminal would obey, or what would make it read otherwise than it is: control characters, line ends,
  /// changes of direction and characters that no one sees stand as `\u{1B}`, and a backslash is doubled, so that each text has a
  /// form of its own.
  package static func shown(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case _ where isHidden(scalar):
        result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// JSON as a terminal may show it: what it would obey stands as JSON has it, which only strings have.
  package static func json(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x7F || $0 == 0xC2 }) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if (0x7F...0x9F).contains(scalar.value) {
        result += "\\u00" + String(scalar.value, radix: 16)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.upperControls), scalar.value > 0x7F { return false }
    #endif
    return switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
    // What joins the parts of emoji is seen by what it makes of them.
    case .format: scalar.value != 0x200D
    case .spaceSeparator: scalar != " "
    default: false
    }
  }

  /// How many columns a terminal gives it.
  package static func columns(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + columns($1) } }

  static func columns(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  /// What UAX #11 calls wide or full-width, in blocks.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
    0x17000...0x18AFF, 0x1B000...0x1B2FF, 0x20000...0x3FFFD,
  ]

  /// At most so many columns: of a longer text the beginning and the end, which tell names apart that are made by a pattern.
  package static func shortened(_ text: String, to limit: Int) -> String {
    guard columns(text) > limit else { return text }
    guard limit > 1 else { return limit == 1 ? "…" : "" }
    let tail = (limit - 1) / 3
    let head = prefix(text.unicodeScalars, limit - 1 - tail)
    let end = prefix(text.unicodeScalars.reversed(), tail).reversed()
    var result = String.UnicodeScalarView(head)
    result.append("…")
    // A mark would sit on the dots.
    result.append(contentsOf: end.drop { columns($0) == 0 })
    return String(result)
  }

  private static func prefix(_ scalars: some Sequence<Unicode.Scalar>, _ limit: Int) -> [Unicode.Scalar] {
    var left = limit
    return Array(
      scalars.prefix { scalar in
        left -= columns(scalar)
        return left >= 0
      })
  }

  static func padded(_ text: String, to width: Int, right: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - columns(text)))
    return right ? space + text : text + space
  }
}
