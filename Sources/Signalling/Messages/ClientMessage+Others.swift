/// What is said to the others in the room.
extension ClientMessage {
  /// What a participant changes of itself; nil leaves as it is.
  public struct Update: Message {
    public static let type = "update"
    public static let definition = "Update"
    public static let summary = "Changes what others see."

    public var name: String?
    public var metadata: String?
    /// Merged with those that are there; an empty value takes one away.
    public var attributes: [String: String]?

    public init() {}
    public init(name: String? = nil, metadata: String? = nil, attributes: [String: String]? = nil) {
      self.name = name
      self.metadata = metadata
      self.attributes = attributes
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("name", &name, .name)
      try coder.text("metadata", &metadata, .atMost(ClientMessage.maximumMetadataBytes))
      try coder.attributes("attributes", &attributes)
    }
  }

  /// A message to others.
  public struct SendData: Message {
    public static let type = "data"
    public static let definition = "SendData"
    public static let summary = "A message to others."

    /// At most 16 KiB.
    public var payload: [UInt8] = []
    public var topic: String?
    public var reliable = true
    /// Identities; nil: everybody.
    public var destinations: [String]?

    public init() {}
    public init(
      payload: [UInt8], topic: String? = nil, reliable: Bool = true, destinations: [String]? = nil
    ) {
      self.payload = payload
      self.topic = topic
      self.reliable = reliable
      self.destinations = destinations
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.bytes(
        Field("payload", "Base64 of at most 16 KiB."), &payload,
        limit: ClientMessage.maximumPayloadCharacters)
      try coder.text("topic", &topic, .name)
      try coder.flag(
        Field("reliable", "May it be left out where a receiver is slow? True means no."), &reliable, or: true)
      try coder.texts(
        Field("destinations", "Identities; absent: everybody."), &destinations,
        .atMost(ClientMessage.maximumDestinations, "a list of identities"))
    }
  }

  /// Asks why one gets what one gets; answered by a message of the same name.
  public struct Explain: Message {
    public static let type = "explain"
    public static let definition = "Explain"
    public static let summary = "Asks what comes of each track, and why; once a second at most."

    public init() {}

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
  }
}
