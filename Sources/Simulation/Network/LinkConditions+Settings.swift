/// What is wrong with a setting of a link.
public enum LinkSettingError: Error, Equatable {
  /// No `name=value`.
  case shape(String)
  case name(String)
  /// Not a number, or out of bounds.
  case value(String)

  public var text: String {
    switch self {
    case .shape(let word): "\(word) is no name=value"
    case .name(let word):
      "there is no setting \(word): there are \(LinkConditions.settingNames.joined(separator: ", "))"
    case .value(let word): "\(word) is out of bounds"
    }
  }
}

/// Conditions as words: `rate=300000 loss=0.05 delay=20`.
extension LinkConditions {
  /// The most bits a second that a rate may have.
  public static let greatestRate: Int64 = 10_000_000_000
  static let settingNames = ["rate", "queue", "delay", "jitter", "loss", "duplication", "reordering", "span"]
  private static let longest = 10_000.0  // milliseconds

  /// Takes over what the words say and leaves the rest as it is.
  /// - Parameter words: separated by spaces; `delay`, `jitter` and `span` are in milliseconds, `queue` in bytes.
  /// - Throws: `LinkSettingError` for the first word that can't be; nothing is taken over then.
  public mutating func apply(_ words: String) throws(LinkSettingError) {
    var changed = self
    for word in words.split(separator: " ") { try changed.apply(word) }
    self = changed
  }

  private mutating func apply(_ word: Substring) throws(LinkSettingError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw .shape(String(word)) }
    let value = Double(parts[1]) ?? .nan
    func within(_ bounds: ClosedRange<Double>) throws(LinkSettingError) -> Double {
      // Nothing contains NaN.
      guard bounds.contains(value) else { throw .value(String(word)) }
      return value
    }
    func milliseconds() throws(LinkSettingError) -> Int64 { Int64(try within(0...Self.longest) * 1_000_000) }
    switch parts[0] {
    case "rate": rate = Int64(try within(0...Double(Self.greatestRate)))
    case "queue": queue = Int(try within(1_500...100_000_000))
    case "delay": delay = try milliseconds()
    case "jitter": jitter = try milliseconds()
    case "span": reorderingSpan = try milliseconds()
    case "loss": loss = try within(0...0.999)
    case "duplication": duplication = try within(0...0.999)
    case "reordering": reordering = try within(0...0.999)
    default: throw .name(String(parts[0]))
    }
  }

  /// The words that make these conditions.
  public var words: String {
    func milliseconds(_ span: Int64) -> Double { Double(span) / 1_000_000 }
    return
      "rate=\(rate) queue=\(queue) delay=\(milliseconds(delay)) jitter=\(milliseconds(jitter)) loss=\(loss)"
      + " duplication=\(duplication) reordering=\(reordering) span=\(milliseconds(reorderingSpan))"
  }
}
