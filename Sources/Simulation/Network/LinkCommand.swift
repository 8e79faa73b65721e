/// A line that is said to a link while it runs.
public enum LinkCommand {
  case change(EmulatedLink.Direction, settings: String)
  case counts
  /// An empty line.
  case nothing

  /// - Returns: nil for a line that is no command.
  public init?(_ line: Substring) {
    let words = line.split(separator: " ", maxSplits: 1)
    guard let first = words.first else {
      self = .nothing
      return
    }
    let rest = words.count == 2 ? String(words[1]) : ""
    switch first {
    case "counts" where rest.isEmpty: self = .counts
    default:
      guard let direction = EmulatedLink.Direction(rawValue: String(first)) else { return nil }
      self = .change(direction, settings: rest)
    }
  }
}

extension EmulatedLink.Counts {
  /// As settings are written, `late` in milliseconds.
  public var words: String {
    "packets=\(packets) bytes=\(bytes) delivered=\(delivered) deliveredBytes=\(deliveredBytes) lost=\(lost)"
      + " overflowed=\(overflowed) reordered=\(reordered) duplicated=\(duplicated) late=\(Double(late) / 1_000_000)"
  }
}
