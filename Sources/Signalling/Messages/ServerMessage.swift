public import Model

/// A message to a client of the native protocol.
public struct ServerMessage: Equatable, Sendable {
  public enum Content: Equatable, Sendable {
    case joined(Joined)
    case resumed(Resumed)
    case answer(Answer)
    case slots([Slot])
    case offerWanted(OfferWanted)
    case event(EventBody)
    case speakers([SpeakerBody])
    case quality([QualityBody])
    case stream(StreamBody)
    case data(DataBody)
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

  /// Every type that there is.
  public static let kinds: [any Message.Type] = [
    Joined.self, Resumed.self, Answer.self, Slots.self, OfferWanted.self, Event.self, Speakers.self,
    Quality.self,
    StreamBody.self, DataBody.self, Token.self, Ok.self, Pong.self, ErrorBody.self, Draining.self,
    Closed.self,
  ]
}

extension ServerMessage {
  /// Reads the type first, and then that type's fields alone.
  /// - Throws: what is wrong with the first field that is.
  public init(json: String) throws(MessageError) {
    (id, content) = try FieldReader.open(json, Self.content)
  }

  private static func content(
    _ type: String, _ reader: inout FieldReader
  ) throws(MessageError) -> Content {
    switch type {
    case Joined.type: return .joined(try reader.read())
    case Resumed.type: return .resumed(try reader.read())
    case Answer.type: return .answer(try reader.read())
    case Slots.type: return .slots((try reader.read() as Slots).assignments)
    case OfferWanted.type: return .offerWanted(try reader.read())
    case Event.type: return .event((try reader.read() as Event).event)
    case Speakers.type: return .speakers((try reader.read() as Speakers).speakers)
    case Quality.type: return .quality((try reader.read() as Quality).participants)
    case StreamBody.type: return .stream(try reader.read())
    case DataBody.type: return .data(try reader.read())
    case Token.type: return .token((try reader.read() as Token).token)
    case Ok.type: return .ok
    case Pong.type: return .pong
    case ErrorBody.type: return .error(try reader.read())
    case Draining.type: return .draining(deadline: (try reader.read() as Draining).deadline)
    case Closed.type: return .closed((try reader.read() as Closed).reason)
    default: return .unknown(type: type)
    }
  }

  /// As it goes out.
  public var json: String {
    switch content {
    case .joined(let message): FieldWriter.json(message, id: id)
    case .resumed(let message): FieldWriter.json(message, id: id)
    case .answer(let message): FieldWriter.json(message, id: id)
    case .slots(let assignments): FieldWriter.json(Slots(assignments: assignments), id: id)
    case .offerWanted(let message): FieldWriter.json(message, id: id)
    case .event(let event): FieldWriter.json(Event(event: event), id: id)
    case .speakers(let speakers): FieldWriter.json(Speakers(speakers: speakers), id: id)
    case .quality(let participants): FieldWriter.json(Quality(participants: participants), id: id)
    case .stream(let message): FieldWriter.json(message, id: id)
    case .data(let message): FieldWriter.json(message, id: id)
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
