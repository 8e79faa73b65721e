/// Metrics in Prometheus's text format 0.0.4: one family after the other, each with its help and type.
struct Exposition: Sendable {
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  enum Kind: String, Sendable { case counter, gauge }

  /// One line of a family.
  struct Sample: Sendable {
    var labels: [(name: String, value: String)]
    /// As it is written.
    var value: String

    init(_ value: some FixedWidthInteger, _ labels: (String, String)...) {
      self.value = String(value)
      self.labels = labels
    }

    /// - Parameter value: finite.
    init(_ value: Double, _ labels: (String, String)...) {
      self.value = "\(value)"
      self.labels = labels
    }
  }

  private(set) var text = ""

  /// - Parameters:
  ///   - name: matches `[a-z_]+`; ends in `_total` if it is a counter. Each at most once.
  ///   - samples: each with the same label names and other values; a family without any is left out.
  mutating func family(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    guard !samples.isEmpty else { return }
    text += "# HELP \(name) \(Self.escaped(help))\n# TYPE \(name) \(kind.rawValue)\n"
    for sample in samples {
      text += name
      if !sample.labels.isEmpty {
        let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
        text += "{" + labels.joined(separator: ",") + "}"
      }
      text += " \(sample.value)\n"
    }
  }

  private static func escaped(_ text: String, quotes: Bool = false) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
