internal import Model
internal import Signalling

/// A client of the native door, from its first socket to the end of its session: what it has heard, and what it
/// has asked for. It asks again by the same id for what it got no answer to.
///
/// Sans-I/O: messages in, what to do out.
final class RoomClient {
  enum Action {
    /// It is in: time for the first offer.
    case joined
    case resumed
    /// The description that answers ours.
    case answered(sdp: String)
    /// Which encodings of its own tracks are watched.
    case watched(ServerMessage.Publish)
    case offerWanted(audio: Int, video: Int, restartsICE: Bool)
    case refused(request: Request, code: String)
    /// The session is over; `gone`: there was none to resume.
    case ended(reason: String)
  }

  struct Request {
    enum Kind: Equatable {
      case enter, offer
      case subscribe(String)
      case unsubscribe(String)
      case mute(String, Bool)
      case view([ClientMessage.ViewedTrack])
      case leave
    }

    var id: Int
    var kind: Kind
    var text: String

    /// - Parameter id: 0: none.
    init(id: Int, kind: Kind, _ content: ClientMessage.Content) {
      self.id = id
      self.kind = kind
      text = ClientMessage(content, id: id == 0 ? nil : RequestID(id)).json
    }
  }

  let room: String
  let token: SimulatedToken
  private(set) var socket: SimulatedSocket?
  /// `joined` or `resumed` has come on the present socket.
  private(set) var isOpen = false
  private(set) var participantID: String?
  private(set) var picture = RoomPicture()
  /// Own tracks by mid.
  private(set) var tracks: [String: String] = [:]
  private(set) var lastEvent = 0
  private(set) var isDraining = false
  /// Why it is over.
  private(set) var end: String?
  private var resumeToken: String?
  private var lastRequest = 0
  /// Without an answer, in the order in which they were asked.
  private(set) var pending: [Request] = []
  /// Tracks that were given up, and since when that is known to be done.
  private(set) var unsubscribed: [String: Instant] = [:]

  init(room: String, token: SimulatedToken) {
    self.room = room
    self.token = token
  }

  var hasJoined: Bool { participantID != nil }

  // MARK: - Sockets

  /// There is a socket; what to say on it comes first.
  func connect(_ socket: SimulatedSocket) -> Request {
    self.socket = socket
    isOpen = false
    lastRequest += 1
    pending.removeAll { $0.kind == .enter }
    let content: ClientMessage.Content =
      if let resumeToken {
        .resume(.init(resumeToken: resumeToken, after: lastEvent))
      } else {
        .auth(.init(token: token.text))
      }
    let request = Request(id: lastRequest, kind: .enter, content)
    pending.insert(request, at: 0)
    return request
  }

  /// The socket is no more.
  func disconnect() {
    socket = nil
    isOpen = false
  }

  // MARK: - Asking

  func ask(_ kind: Request.Kind, _ content: (_ id: Int) -> ClientMessage.Content) -> Request {
    lastRequest += 1
    let request = Request(id: lastRequest, kind: kind, content(lastRequest))
    pending.append(request)
    if case .subscribe(let track) = kind { unsubscribed[track] = nil }
    return request
  }

  // MARK: - Hearing

  /// - Parameter complain: called with what must not be.
  func receive(_ text: String, now: Instant, complain: (String) -> Void) -> [Action] {
    if Self.isSample(text) { return [] }
    guard let message = try? ServerMessage(json: text) else {
      complain("gets what it can't read: \(text.prefix(80))")
      return []
    }
    if let end {
      complain("hears something after its session ended by \(end): \(text.suffix(80))")
      return []
    }
    let id = message.id?.number
    switch message.content {
    case .joined(let state): return join(state, id, complain)
    case .resumed(let state): return resume(state, id, complain)
    case .answer(let answer):
      guard let id, complete(id) != nil else { return [] }
      takeAnswer(answer)
      return [.answered(sdp: answer.sdp)]
    case .slots(let assignments):
      picture.apply(assignments)
      for slot in assignments where slot.track.map({ !picture.knows($0) }) ?? false {
        complain("hears that \(slot.track ?? "-") plays in \(slot.mid), which was not announced")
      }
    case .event(let event): hear(event, complain)
    case .offerWanted(let wanted):
      return [
        .offerWanted(
          audio: wanted.audio, video: wanted.video, restartsICE: wanted.reason == .iceRestart)
      ]
    case .draining: isDraining = true
    case .ok: if let id { granted(id, now: now) }
    case .error(let error): return refuse(error, id, complain)
    case .closed(let reason):
      end = reason.rawValue
      return [.ended(reason: reason.rawValue)]
    case .publish(let message): return [.watched(message)]
    // No call has a room here.
    case .sessionEvent, .sessionSeq: complain("gets an event of a shared session")
    // No room here asks its hosts, or keeps messages.
    case .waiting, .history: complain("hears of a waiting room, or of messages that no room keeps")
    case .speakers, .quality, .stream, .data, .explain, .token, .pong: break
    case .unknown(let type): complain("gets \(type), which is no message")
    }
    return []
  }

  /// What is read by its type alone. Members are sorted, so that most messages end with their type.
  static func isSample(_ text: String) -> Bool {
    text.hasSuffix(#""type":"speakers"}"#) || text.hasSuffix(#""type":"quality"}"#)
      || text.hasSuffix(#""type":"stream"}"#)
  }

  private func hear(_ event: EventBody, _ complain: (String) -> Void) {
    guard event.id == lastEvent + 1 else {
      return complain("gets event \(event.id) after \(lastEvent)")
    }
    lastEvent = event.id
    if let problem = picture.apply(event) {
      complain("gets event \(event.id), \(event.type.rawValue): \(problem)")
    }
  }

  private func granted(_ id: Int, now: Instant) {
    guard let request = complete(id), case .unsubscribe(let track) = request.kind,
      !pending.contains(where: { $0.kind == .subscribe(track) })
    else { return }
    unsubscribed[track] = now
  }

  private func complete(_ id: Int) -> Request? {
    pending.firstIndex { $0.id == id }.map { pending.remove(at: $0) }
  }

  private func join(
    _ state: ServerMessage.Joined, _ id: Int?, _ complain: (String) -> Void
  ) -> [Action] {
    guard participantID == nil else {
      complain("hears that it has joined, once more")
      return []
    }
    if let id { _ = complete(id) }
    participantID = state.participant.id
    picture.insert(state.participant)
    for case .value(let other) in state.participants { picture.insert(other) }
    lastEvent = state.lastEvent
    resumeToken = state.resumeToken
    isOpen = true
    return [.joined]
  }

  private func resume(
    _ state: ServerMessage.Resumed, _ id: Int?, _ complain: (String) -> Void
  ) -> [Action] {
    guard let id, complete(id) != nil else {
      complain("hears that it has resumed, which it did not ask for")
      return []
    }
    resumeToken = state.resumeToken
    isOpen = true
    picture.slots = [:]
    picture.apply(state.slots)
    tracks = Self.byMid(state.tracks)
    guard let answer = state.answer, let request = answer.id?.number, complete(request) != nil else {
      return [.resumed]
    }
    tracks = Self.byMid(answer.answer.tracks)
    return [.answered(sdp: answer.answer.sdp), .resumed]
  }

  private func takeAnswer(_ answer: ServerMessage.Answer) {
    tracks = Self.byMid(answer.tracks)
    picture.slots = [:]
    picture.apply(answer.slots)
  }

  private static func byMid(_ tracks: [AnsweredTrack]) -> [String: String] {
    Dictionary(tracks.map { ($0.mid, $0.track) }, uniquingKeysWith: { first, _ in first })
  }

  private func refuse(
    _ error: ServerMessage.ErrorBody, _ id: Int?, _ complain: (String) -> Void
  ) -> [Action] {
    // A token that came in the request has no id to be refused by.
    let entering = hasJoined ? nil : pending.first { $0.kind == .enter }
    guard let request = id.map({ complete($0) }) ?? entering else {
      complain("hears of an error of no request: \(error.code.rawValue), \(error.message)")
      return []
    }
    if request.kind == .enter {
      end = error.code.rawValue
      return [.ended(reason: error.code.rawValue)]
    }
    return [.refused(request: request, code: error.code.rawValue)]
  }
}
