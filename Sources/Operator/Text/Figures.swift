/// Numbers as people read them.
enum Figures {
  /// Three digits at least of what is below a thousand of its unit: `0`, `840`, `64.0 k`, `2.4 M`.
  static func rate(_ bitsPerSecond: Int) -> String {
    var value = Double(max(0, bitsPerSecond))
    if value < 1_000 { return String(Int(value)) }
    for unit in ["k", "M", "G"] {
      value /= 1_000
      if value < 999.95 || unit == "G" {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
      }
    }
    return ""
  }

  /// The two largest units: `12 s`, `3 min 5 s`, `2 h 10 min`, `5 d 1 h`.
  static func span(seconds: Double) -> String {
    let whole = seconds.isFinite ? Int(min(max(0, seconds), 1e12)) : 0
    let units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)]
    guard let first = units.firstIndex(where: { whole >= $0.1 }) else { return "0 s" }
    let (name, size) = units[first]
    guard first + 1 < units.count else { return "\(whole) s" }
    let (nextName, nextSize) = units[first + 1]
    let rest = whole % size / nextSize
    return "\(whole / size) \(name)" + (rest > 0 ? " \(rest) \(nextName)" : "")
  }

  /// Day and time of day of an RFC 3339 time in UTC; nil where it is none.
  static func moment(_ text: String) -> (day: String, time: String)? {
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 10, parts[1].utf8.count >= 9, parts[1].hasSuffix("Z"),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    return (String(parts[0]), String(parts[1].prefix(8)))
  }

  /// `2026-11-25 10:33:39 UTC`; as it came where it is no time.
  static func time(_ text: String?) -> String? {
    guard let text else { return nil }
    return moment(text).map { "\($0.day) \($0.time) UTC" } ?? text
  }
}
