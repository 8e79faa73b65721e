public import Model

/// A message to a client of the native protocol.
public struct ServerMessage: Equatable, Sendable {
  public enum Content: Equatable, Sendable {
    case joined(Joined)
    case waiting(Waiting)
    case history(History)
    case resumed(Resumed)
    case answer(Answer)
    case slots([Slot])
    case offerWanted(OfferWanted)
    case publish(Publish)
    case event(EventBody)
    case speakers([SpeakerBody])
    case quality([QualityBody])
    case stream(StreamBody)
    case data(DataBody)
    case explain(Explanation)
    case sessionEvent(SessionEvent)
    case sessionSeq(SessionSeq)
    /// An access token that holds longer than the last.
    case token(String)
    /// A request was done that has no answer of its own; only where it had an id.
    case ok
    case pong
    case error(ErrorBody)
    /// The server stops at that time (RFC 3339) at the latest.
    case draining(deadline: String)
    case closed(LeaveReason)
    /// A type that isn't known here: newer servers can speak to older clients.
    case unknown(type: String)
  }

  /// Of the request that this answers; its bytes come back as they were.
  public var id: RequestID?
  public var content: Content

  public init(_ content: Content, id: RequestID? = nil) {
    self.id = id
    self.content = content
  }

  private static let table = MessageTable<Content>([
    .init { .joined($0) }, .init { .waiting($0) }, .init { .history($0) }, .init { .resumed($0) },
    .init { .answer($0) },
    .init { (message: Slots) in .slots(message.assignments) }, .init { .offerWanted($0) },
    .init { .publish($0) },
    .init { (message: Event) in .event(message.event) },
    .init { (message: Speakers) in .speakers(message.speakers) },
    .init { (message: Quality) in .quality(message.participants) }, .init { .stream($0) },
    .init { .data($0) }, .init { .explain($0) }, .init { .sessionEvent($0) }, .init { .sessionSeq($0) },
    .init { (message: Token) in .token(message.token) },
    .init { (_: Ok) in .ok },
    .init { (_: Pong) in .pong }, .init { .error($0) },
    .init { (message: Draining) in .draining(deadline: message.deadline) },
    .init { (message: Closed) in .closed(message.reason) },
  ])

  /// Every type that there is.
  public static var kinds: [any Message.Type] { table.kinds.map(\.message) }
}

extension ServerMessage {
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
    case .joined(let message): FieldWriter.json(message, id: id)
    case .waiting(let message): FieldWriter.json(message, id: id)
    case .history(let message): FieldWriter.json(message, id: id)
    case .resumed(let message): FieldWriter.json(message, id: id)
    case .answer(let message): FieldWriter.json(message, id: id)
    case .slots(let assignments): FieldWriter.json(Slots(assignments: assignments), id: id)
    case .offerWanted(let message): FieldWriter.json(message, id: id)
    case .publish(let message): FieldWriter.json(message, id: id)
    case .event(let event): FieldWriter.json(Event(event: event), id: id)
    case .speakers(let speakers): FieldWriter.json(Speakers(speakers: speakers), id: id)
    case .quality(let participants): FieldWriter.json(Quality(participants: participants), id: id)
    case .stream(let message): FieldWriter.json(message, id: id)
    case .data(let message): FieldWriter.json(message, id: id)
    case .explain(let message): FieldWriter.json(message, id: id)
    case .sessionEvent(let message): FieldWriter.json(message, id: id)
    case .sessionSeq(let message): FieldWriter.json(message, id: id)
    case .token(let token): FieldWriter.json(Token(token: token), id: id)
    case .ok: FieldWriter.json(Ok(), id: id)
    case .pong: FieldWriter.json(Pong(), id: id)
    case .error(let message): FieldWriter.json(message, id: id)
    case .draining(let deadline): FieldWriter.json(Draining(deadline: deadline), id: id)
    case .closed(let reason): FieldWriter.json(Closed(reason: reason), id: id)
    case .unknown(let type): FieldWriter.json(type: type, id: id)
    }
  }
}
