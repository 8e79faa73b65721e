#if PLANTED_DEFECTS
  internal import Model
#endif

/// What the values of flags mean.
extension ParsedFlags {
  var keyChoice: KeyChoice {
    var choice = KeyChoice()
    choice.key = self["key"]
    choice.secret = self["secret"]
    return choice
  }

  func wrong(_ message: String) -> UsageError { UsageError(message, command: command.name) }

  /// A whole number of at least 1.
  func number(_ name: String) throws(UsageError) -> Int? {
    guard let text = self[name] else { return nil }
    guard let number = Int(text), (1...1_000_000).contains(number) else {
      throw wrong("--\(name) \(text): expected a whole number from 1 to 1000000")
    }
    return number
  }

  /// Seconds.
  func time(_ name: String, least: Int, such examples: String) throws(UsageError) -> Int? {
    guard let text = self[name] else { return nil }
    guard let seconds = Self.seconds(text, least: least) else {
      throw wrong("--\(name) \(text): expected a time such as \(examples)")
    }
    return seconds
  }

  /// The words of a list with commas, each one of those.
  func words(_ name: String, _ what: String, among known: [String]) throws(UsageError) -> [String] {
    let words = self[name]?.split(separator: ",").map { String($0.trimmed) } ?? []
    for word in words where !known.contains(word) {
      throw wrong("--\(name): no such \(what): \(word)" + Suggestion.hint(to: word, among: known))
    }
    return words
  }

  /// - Returns: nil for anything but a whole number of at least `least` with its unit, up to ten years.
  static func seconds(_ text: String, least: Int = 1) -> Int? {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    guard let last = text.last, let unit = units[last], let count = Int(text.dropLast()),
      (least...315_360_000 / unit).contains(count)
    else { return nil }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.minutesAsHours), last == "m" { return count * 3600 }
    #endif
    return count * unit
  }
}
