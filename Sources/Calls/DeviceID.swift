internal import Model

/// A device of a person; of two people the same text names two devices.
public struct DeviceID: Hashable, Sendable, Codable {
  private let name: ExactName

  public init(_ text: String) { name = ExactName(text) }

  public var text: String { name.text }

  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
