internal import Model

/// A person: the `sub` of a token. Equal where all bytes are.
public struct PersonID: Hashable, Sendable, Codable, Comparable {
  private let name: ExactName

  public init(_ text: String) { name = ExactName(text) }

  public var text: String { name.text }

  /// By their bytes.
  public static func < (a: Self, b: Self) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
