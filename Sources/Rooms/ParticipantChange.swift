/// What a participant changes of itself; nil leaves as it is.
public struct ParticipantChange: Equatable, Sendable {
  public var name: String?
  public var metadata: String?
  /// Merged with those that are there; an empty value takes one away.
  public var attributes: [String: String]?

  /// Bytes; attributes together, keys and values.
  public static let metadataLimit = 65_536
  public static let attributeLimit = 256
  public static let attributeBytes = 65_536

  /// What of a participant is more than may be.
  static func excess(of info: ParticipantInfo) -> String? {
    if (info.metadata?.utf8.count ?? 0) > metadataLimit { return "metadata" }
    let bytes = info.attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    return info.attributes.count > attributeLimit || bytes > attributeBytes ? "attributes" : nil
  }

  public init(name: String? = nil, metadata: String? = nil, attributes: [String: String]? = nil) {
    self.name = name
    self.metadata = metadata
    self.attributes = attributes
  }
}
