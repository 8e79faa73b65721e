internal import Model

/// A client of the native door, from its first socket to the end of its session: what it has been told, and what it
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
      case leave
    }

    var id: Int
    var kind: Kind
    var text: String
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
    let text =
      resumeToken.map { ClientWord.resume($0, after: lastEvent, id: lastRequest) }
      ?? ClientWord.auth(token.text, id: lastRequest)
    let request = Request(id: lastRequest, kind: .enter, text: text)
    pending.insert(request, at: 0)
    return request
  }

  /// The socket is no more.
  func disconnect() {
    socket = nil
    isOpen = false
  }

  // MARK: - Asking

  func ask(_ kind: Request.Kind, _ text: (_ id: Int) -> String) -> Request {
    lastRequest += 1
    let request = Request(id: lastRequest, kind: kind, text: text(lastRequest))
    pending.append(request)
    if case .subscribe(let track) = kind { unsubscribed[track] = nil }
    return request
  }

  // MARK: - Hearing

  /// - Parameter complain: called with what must not be.
  func receive(_ text: String, now: Instant, complain: (String) -> Void) -> [Action] {
    if ServerWord.isSample(text) { return [] }
    guard let word = try? ServerWord(text) else {
      complain("is told what it can't read: \(text.prefix(80))")
      return []
    }
    if let end {
      complain("is told \(word.type) after its session ended by \(end)")
      return []
    }
    switch word.type {
    case "joined": return join(word, complain)
    case "resumed": return resume(word, complain)
    case "answer":
      guard let sdp = word.sdp else { break }
      guard let id = word.id, complete(id) != nil else { return [] }
      takeAnswer(tracks: word.tracks ?? [], slots: word.slots ?? [])
      return [.answered(sdp: sdp)]
    case "slots":
      picture.apply(word.assignments ?? [])
      for slot in word.assignments ?? [] where slot.track.map({ !picture.knows($0) }) ?? false {
        complain("is told that \(slot.track ?? "-") plays in \(slot.mid), which was not announced")
      }
    case "event":
      guard let event = word.event else { break }
      guard event.id == lastEvent + 1 else {
        complain("is told event \(event.id) after \(lastEvent)")
        return []
      }
      lastEvent = event.id
      if let problem = picture.apply(event) {
        complain("is told event \(event.id), \(event.type): \(problem)")
      }
    case "offerWanted":
      return [
        .offerWanted(
          audio: word.audio ?? 0, video: word.video ?? 0, restartsICE: word.reason == "iceRestart")
      ]
    case "draining": isDraining = true
    case "ok":
      if let id = word.id, let request = complete(id), case .unsubscribe(let track) = request.kind,
        !pending.contains(where: { $0.kind == .subscribe(track) })
      {
        unsubscribed[track] = now
      }
    case "error": return refuse(word, complain)
    case "closed":
      end = word.reason ?? "nothing"
      return [.ended(reason: word.reason ?? "nothing")]
    default: break
    }
    return []
  }

  private func complete(_ id: Int) -> Request? {
    pending.firstIndex { $0.id == id }.map { pending.remove(at: $0) }
  }

  private func join(_ word: ServerWord, _ complain: (String) -> Void) -> [Action] {
    guard participantID == nil, let me = word.participant, let id = me.id, let last = word.lastEvent else {
      complain("is told that it has joined, once more")
      return []
    }
    if let request = word.id { _ = complete(request) }
    participantID = id
    picture.insert(me)
    for other in word.participants ?? [] { picture.insert(other) }
    lastEvent = last
    resumeToken = word.resumeToken
    isOpen = true
    return [.joined]
  }

  private func resume(_ word: ServerWord, _ complain: (String) -> Void) -> [Action] {
    guard let id = word.id, complete(id) != nil else {
      complain("is told that it has resumed, which it did not ask for")
      return []
    }
    resumeToken = word.resumeToken
    isOpen = true
    picture.slots = [:]
    picture.apply(word.slots ?? [])
    tracks = Dictionary(
      (word.tracks ?? []).map { ($0.mid, $0.track) }, uniquingKeysWith: { first, _ in first })
    guard let answer = word.answer, let request = answer.id, complete(request) != nil else {
      return [.resumed]
    }
    tracks = Dictionary(answer.tracks.map { ($0.mid, $0.track) }, uniquingKeysWith: { first, _ in first })
    return [.answered(sdp: answer.sdp), .resumed]
  }

  private func takeAnswer(tracks own: [ServerWord.OwnTrack], slots: [ServerWord.Slot]) {
    tracks = Dictionary(own.map { ($0.mid, $0.track) }, uniquingKeysWith: { first, _ in first })
    picture.slots = [:]
    picture.apply(slots)
  }

  private func refuse(_ word: ServerWord, _ complain: (String) -> Void) -> [Action] {
    // A token that came in the request has no id to be refused by.
    let entering = hasJoined ? nil : pending.first { $0.kind == .enter }
    guard let code = word.code, let request = word.id.map({ complete($0) }) ?? entering else {
      complain("is told of an error of no request: \(word.code ?? "-"), \(word.message ?? "-")")
      return []
    }
    if request.kind == .enter {
      end = code
      return [.ended(reason: code)]
    }
    return [.refused(request: request, code: code)]
  }
}
