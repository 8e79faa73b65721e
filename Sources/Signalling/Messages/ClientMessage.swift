/// A message from a client of the native protocol.
public struct ClientMessage: Equatable, Sendable {
  public enum Content: Equatable, Sendable {
    case auth(Auth)
    case resume(Resume)
    case offer(Offer)
    case candidate(Candidate)
    case subscribe(Subscribe)
    case unsubscribe(Unsubscribe)
    case view(View)
    case layers(Layers)
    case mute(Mute)
    case update(Update)
    case data(SendData)
    case hand(Hand)
    case admit(Admit)
    case explain
    case sessionEvent(SessionEvent)
    case leave
    case ping
    /// A type that isn't known here: nothing is done, so that newer clients can speak to older servers.
    case unknown(type: String)
  }

  /// Names the request, so that its answer can; nil: no answer is wanted beyond those that come anyway.
  public var id: RequestID?
  public var content: Content

  public init(_ content: Content, id: RequestID? = nil) {
    self.id = id
    self.content = content
  }

  public static let maximumSDPBytes = 262_144
  public static let maximumTracks = 64
  public static let maximumMetadataBytes = 65_536
  public static let maximumAttributes = 256
  /// Of attributes together, keys and values.
  public static let maximumAttributeBytes = 65_536
  /// Characters of a payload: 16 KiB in base64.
  public static let maximumPayloadCharacters = 21_848
  public static let maximumDestinations = 256
  /// Bytes of an event's data in a shared session.
  public static let maximumEventBytes = 16_384

  private static let table = MessageTable<Content>([
    .init { .auth($0) }, .init { .resume($0) }, .init { .offer($0) }, .init { .candidate($0) },
    .init { .subscribe($0) }, .init { .unsubscribe($0) }, .init { .view($0) }, .init { .layers($0) },
    .init { .mute($0) }, .init { .update($0) },
    .init { .data($0) }, .init { .hand($0) }, .init { .admit($0) }, .init { (_: Explain) in .explain },
    .init { .sessionEvent($0) },
    .init { (_: Leave) in .leave },
    .init { (_: Ping) in .ping },
  ])

  /// Every type that there is.
  public static var kinds: [any Message.Type] { table.kinds.map(\.message) }
}

extension ClientMessage {
  /// Reads the type first, and then that type's fields alone, each within its bound.
  /// - Throws: what is wrong with the first field that is.
  public init(json: String) throws(MessageError) {
    (id, content) = try FieldReader.open(json, Self.content)
  }

  private static func content(
    _ type: String, _ reader: inout FieldReader
  ) throws(MessageError) -> Content {
    try table.content(type, &reader) ?? .unknown(type: type)
  }

  /// As it goes out.
  public var json: String {
    switch content {
    case .auth(let message): FieldWriter.json(message, id: id)
    case .resume(let message): FieldWriter.json(message, id: id)
    case .offer(let message): FieldWriter.json(message, id: id)
    case .candidate(let message): FieldWriter.json(message, id: id)
    case .subscribe(let message): FieldWriter.json(message, id: id)
    case .unsubscribe(let message): FieldWriter.json(message, id: id)
    case .view(let message): FieldWriter.json(message, id: id)
    case .layers(let message): FieldWriter.json(message, id: id)
    case .mute(let message): FieldWriter.json(message, id: id)
    case .update(let message): FieldWriter.json(message, id: id)
    case .data(let message): FieldWriter.json(message, id: id)
    case .hand(let message): FieldWriter.json(message, id: id)
    case .admit(let message): FieldWriter.json(message, id: id)
    case .explain: FieldWriter.json(Explain(), id: id)
    case .sessionEvent(let message): FieldWriter.json(message, id: id)
    case .leave: FieldWriter.json(Leave(), id: id)
    case .ping: FieldWriter.json(Ping(), id: id)
    case .unknown(let type): FieldWriter.json(type: type, id: id)
    }
  }
}
