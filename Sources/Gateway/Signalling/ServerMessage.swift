internal import FoundationEssentials
internal import Rooms

/// A message to a client of the native door.
enum ServerMessage: Equatable, Sendable {
  case joined(JoinedBody, resumeToken: String, iceServers: [ICEServerBody], pingInterval: Int)
  case resumed(ResumedBody, resumeToken: String, answer: ResumedAnswer?)
  case answer(SessionAnswer)
  case slots([Slot])
  case offerWanted(audio: Int, video: Int, reason: OfferReason)
  case event(EventBody)
  case speakers([SpeakerBody])
  case quality([QualityBody])
  case stream(StreamBody)
  case data(DataBody)
  /// A request was done that has no answer of its own; only where it had an id.
  case ok
  case pong
  case error(SignallingErrorCode, message: String)
  /// An access token that holds longer than the last.
  case token(String)
  case draining(deadline: String)
  case closed(LeaveReason)

  /// - Parameter id: of the request that this answers; its bytes come back as they were.
  func json(id: RequestID? = nil) -> String {
    var text = Self.encode(Envelope(message: self))
    switch self {
    case .joined(let state, _, let iceServers, _): text = Self.joined(state, iceServers, before: text)
    case .resumed(_, _, let answer?):
      text = #"{"answer":\#(Self.mark(Self.encode(answer.answer), with: answer.id)),"# + text.dropFirst()
    default: break
    }
    return Self.mark(text, with: id)
  }

  /// Puts the other participants, which are JSON already, between what stands before and after them.
  private static func joined(_ state: JoinedBody, _ iceServers: [ICEServerBody], before rest: String)
    -> String
  {
    let size = state.others.reduce(rest.utf8.count) { $0 + $1.utf8.count + 1 }
    var text = encode(
      JoinedHead(iceServers: iceServers, lastEvent: state.lastEvent, participant: state.participant))
    text.reserveCapacity(text.utf8.count + size + 32)
    text.removeLast()
    text += #","participants":["#
    for (index, other) in state.others.enumerated() {
      if index > 0 { text += "," }
      text += other
    }
    text += "],"
    text += rest.dropFirst()
    return text
  }

  static func encode(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else {
      preconditionFailure("a message of strings and whole numbers is always JSON")
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// Puts a request's id, byte for byte, in front of an object's other members.
  private static func mark(_ object: String, with id: RequestID?) -> String {
    id.map { #"{"id":\#($0.json),"# + object.dropFirst() } ?? object
  }
}

/// What of `joined` stands before its participants.
private struct JoinedHead: Encodable {
  let iceServers: [ICEServerBody]
  let lastEvent: Int
  let participant: ParticipantBody
}

private struct Envelope: Encodable {
  let message: ServerMessage

  enum Key: String, CodingKey {
    case type, room, participants, pingInterval, lastEvent, resumeToken
    case sdp, tracks, slots, declined, assignments, audio, video, reason, event, code, message, retry
    case speakers, track, state, from, payload, topic, reliable, deadline, token
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Key.self)
    switch message {
    case .joined(let state, let resumeToken, _, let pingInterval):
      // What stands behind the participants, in the order of the names; `JoinedHead` has the rest.
      try fields.encode("joined", forKey: .type)
      try fields.encode(state.room, forKey: .room)
      try fields.encode(pingInterval, forKey: .pingInterval)
      try fields.encode(resumeToken, forKey: .resumeToken)
    case .resumed(let state, let resumeToken, _):
      try fields.encode("resumed", forKey: .type)
      try fields.encode(state.lastEvent, forKey: .lastEvent)
      try fields.encode(state.slots, forKey: .slots)
      try fields.encode(state.tracks, forKey: .tracks)
      try fields.encode(resumeToken, forKey: .resumeToken)
    case .token(let token):
      try fields.encode("token", forKey: .type)
      try fields.encode(token, forKey: .token)
    case .answer(let answer):
      try fields.encode("answer", forKey: .type)
      try fields.encode(answer.sdp, forKey: .sdp)
      try fields.encode(answer.tracks, forKey: .tracks)
      try fields.encode(answer.slots, forKey: .slots)
      try fields.encode(answer.declined, forKey: .declined)
    case .slots(let slots):
      try fields.encode("slots", forKey: .type)
      try fields.encode(slots, forKey: .assignments)
    case .offerWanted(let audio, let video, let reason):
      try fields.encode("offerWanted", forKey: .type)
      try fields.encode(audio, forKey: .audio)
      try fields.encode(video, forKey: .video)
      try fields.encode(reason, forKey: .reason)
    case .event(let event):
      try fields.encode("event", forKey: .type)
      try fields.encode(event, forKey: .event)
    case .speakers(let speakers):
      try fields.encode("speakers", forKey: .type)
      try fields.encode(speakers, forKey: .speakers)
    case .quality(let participants):
      try fields.encode("quality", forKey: .type)
      try fields.encode(participants, forKey: .participants)
    case .stream(let stream):
      try fields.encode("stream", forKey: .type)
      try fields.encode(stream.track, forKey: .track)
      try fields.encode(stream.state, forKey: .state)
      try fields.encodeIfPresent(stream.reason, forKey: .reason)
    case .data(let data):
      try fields.encode("data", forKey: .type)
      try fields.encode(data.from, forKey: .from)
      try fields.encode(data.payload, forKey: .payload)
      try fields.encodeIfPresent(data.topic, forKey: .topic)
      try fields.encode(data.reliable, forKey: .reliable)
    case .ok: try fields.encode("ok", forKey: .type)
    case .pong: try fields.encode("pong", forKey: .type)
    case .error(let code, let message):
      try fields.encode("error", forKey: .type)
      try fields.encode(code, forKey: .code)
      try fields.encode(message, forKey: .message)
      try fields.encode(code.retry, forKey: .retry)
    case .draining(let deadline):
      try fields.encode("draining", forKey: .type)
      try fields.encode(deadline, forKey: .deadline)
    case .closed(let reason):
      try fields.encode("closed", forKey: .type)
      try fields.encode(reason, forKey: .reason)
    }
  }
}
