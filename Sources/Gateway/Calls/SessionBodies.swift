internal import CallDesk
internal import Calls
internal import FoundationEssentials
internal import HTTPServer
internal import Signalling

/// A shared session as JSON.
struct SharedSessionBody: Encodable {
  private enum CodingKeys: String, CodingKey {
    case id, callId, experience, status, owner, offeredTo, participants, lastSeq, lastEventId, snapshotSeq,
      createdAt,
      endedAt
  }

  private let document: SharedSessionDocument

  init(_ document: SharedSessionDocument) { self.document = document }

  func encode(to encoder: any Encoder) throws {
    let session = document.state
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(session.id.text, forKey: .id)
    try values.encode(session.call.text, forKey: .callId)
    try values.encode(session.experience, forKey: .experience)
    try values.encode(session.status.rawValue, forKey: .status)
    // Null is said: there is none by now.
    try values.encode(session.owner?.text, forKey: .owner)
    try values.encodeIfPresent(session.offer?.to.text, forKey: .offeredTo)
    try values.encode(session.participants.map(\.text), forKey: .participants)
    try values.encode(session.lastSeq, forKey: .lastSeq)
    try values.encodeIfPresent(document.lastEventId, forKey: .lastEventId)
    try values.encodeIfPresent(session.snapshotSeq, forKey: .snapshotSeq)
    try values.encode(CallBody.time(session.createdAt), forKey: .createdAt)
    try values.encodeIfPresent(session.endedAt.map(CallBody.time), forKey: .endedAt)
  }
}

extension SharedEventBody {
  init(_ event: SharedEvent) {
    self.init(
      id: event.id, seq: Int(event.seq), type: event.type, sender: event.sender?.text,
      time: CallBody.time(event.time), data: OpaqueJSON(known: event.data))
  }
}

extension SharedEventPage {
  /// `{items, last, next?}`, each event as it stands in a message of the WebSocket.
  var json: [UInt8] {
    var bytes = Array("{\"items\":[".utf8)
    for (place, event) in events.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += Array(SharedEventBody(event).json.utf8)
    }
    bytes += Array("],\"last\":\(last)".utf8)
    if let end = events.last?.seq, end < last { bytes += Array(",\"next\":\(end)".utf8) }
    return bytes + Array("}".utf8)
  }
}

extension SharedSnapshot {
  /// Who took part, as the owner says.
  struct People: Codable {
    var participants: [String] = []
    var owner: String?
  }

  init(seq: Int64, _ people: People, state: OpaqueJSON) {
    guard let bytes = try? JSONEncoder().encode(people) else { preconditionFailure("texts are always JSON") }
    self.init(seq: seq, people: Array(bytes), state: state.bytes)
  }

  /// `{seq, state, participants, owner}`
  var json: [UInt8] {
    let people = (try? JSONDecoder().decode(People.self, from: Data(self.people))) ?? People()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    guard let participants = try? encoder.encode(people.participants),
      let owner = try? encoder.encode(people.owner)
    else { preconditionFailure("texts are always JSON") }
    return Array("{\"seq\":\(seq),\"participants\":".utf8) + Array(participants) + Array(",\"owner\":".utf8)
      + Array(owner) + Array(",\"state\":".utf8) + state + Array("}".utf8)
  }
}

/// A request's JSON object one of whose members is an app's, and stays as it came.
struct OpaqueBody {
  /// Bytes of all other members, as they come.
  private static let mostOthers = 65_536

  /// The others.
  let reader: BodyReader
  /// nil: it is absent.
  let value: OpaqueJSON?

  /// - Parameters:
  ///   - most: bytes that the app's member can have.
  ///   - bounds: of the others.
  init(
    _ request: HTTPRequest, _ name: String, most: Int, within bounds: BodyBounds, knowing others: Set<String>
  ) throws(RESTProblem) {
    guard request.body.count <= most + Self.mostOthers else {
      throw .bodyTooLarge(most: most + Self.mostOthers)
    }
    guard let (rest, value) = OpaqueJSON.take(name, from: request.body) else { throw .noObject }
    guard rest.count <= Self.mostOthers else {
      throw RESTProblem(CallProblem.tooLarge("the members beside \(name)"))
    }
    var request = request
    request.body = rest
    reader = try BodyReader(
      request, types: ["application/json"], within: bounds, knowing: others.union([name]))
    guard let value else {
      self.value = nil
      return
    }
    guard let sound = OpaqueJSON(value) else {
      throw .body(
        "\(name) must be JSON of whole characters and finite numbers, \(OpaqueJSON.maximumDepth) levels deep at most"
      )
    }
    self.value = sound
  }
}
