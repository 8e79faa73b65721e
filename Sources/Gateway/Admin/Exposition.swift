internal import Model

/// Metrics in Prometheus's text format 0.0.4: one family after the other, each with its help and type.
struct Exposition: Sendable {
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  enum Kind: String, Sendable { case counter, gauge, histogram }

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
    for sample in samples { line(name, sample.labels, sample.value) }
  }

  /// - Parameters:
  ///   - unit: what a value of the histogram is divided by to be in the unit of the name.
  ///   - ranges: of the histogram's, those that are written; what lies above is in `+Inf`.
  mutating func histogram(
    _ name: String, _ help: String, unit: Double = 1, ranges: Range<Int> = 0..<Histogram.rangeCount,
    _ samples: [(labels: [(name: String, value: String)], histogram: Histogram)]
  ) {
    guard !samples.isEmpty else { return }
    text += "# HELP \(name) \(Self.escaped(help))\n# TYPE \(name) \(Kind.histogram.rawValue)\n"
    for (labels, histogram) in samples {
      for (bound, count) in histogram.cumulative[ranges] {
        line(name + "_bucket", labels + [("le", "\(Double(bound) / unit)")], String(count))
      }
      line(name + "_bucket", labels + [("le", "+Inf")], String(histogram.count))
      line(name + "_sum", labels, "\(Double(histogram.sum) / unit)")
      line(name + "_count", labels, String(histogram.count))
    }
  }

  private mutating func line(_ name: String, _ labels: [(name: String, value: String)], _ value: String) {
    text += name
    if !labels.isEmpty {
      let labels = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
      text += "{" + labels.joined(separator: ",") + "}"
    }
    text += " \(value)\n"
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
