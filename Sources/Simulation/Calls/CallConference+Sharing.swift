internal import HTTPServer
internal import Rooms
internal import SyntheticPeers

/// What people of a call send each other and share, and what those who run its room do.
extension CallConference {
  func signal(_ member: CallMember, _ call: String) -> CallErrand {
    let known = people.filter { !$0.isStranger }.map(\.name)
    let (other, id) = (one(of: known), uuid())
    let (payload, clear) = (ledger.word(.letter, by: member.name), ledger.word(.letter, by: member.name))
    ledger.add(id, .letter, by: member.name)
    let says = ledger.calls[call]?.isDirect == true && below(2) == 0
    let errand = CallErrand(.callSignal, .post, "/signals", of: call)
    let kind = says ? "status" : "note"
    errand.body =
      #"{"id":"\#(id)","to":"\#(other)","kind":"\#(kind)","payload":"\#(payload)","#
      + #""clear":{"connected":\#(says),"text":"\#(clear)"}}"#
    (errand.access, errand.repeats, errand.mayMiss, errand.isInner) = (.ofCall, .same, true, true)
    errand.effect = { [self] _ in
      guard ledger.isOpen(call, to: other), ledger.calls[call]?.removed[other] == nil else { return }
      for word in [payload, clear, id] { ledger.bring(word, to: .person(other)) }
    }
    return errand
  }

  func changeKey(_ member: CallMember, _ call: String) -> CallErrand? {
    guard let known = ledger.calls[call] else { return nil }
    let letters = wrap(for: known.people.sorted(), by: member.name)
    let errand = CallErrand(.callKeyChanged, .post, "/keys", of: call)
    errand.body = #"{"index":\#(known.keyIndex + 1),"keys":\#(json(letters))}"#
    (errand.repeats, errand.isInner) = (.same, true)
    errand.effect = { [self, unowned errand] _ in
      guard errand.first == nil else { return }
      ledger.noteKey(known.keyIndex + 1, of: call)
      bring(letters, in: call)
    }
    return errand
  }

  /// What changes nothing for who knows what, but for metadata.
  func simple(_ member: CallMember, _ call: String) -> CallErrand {
    switch below(6) {
    case 0, 1:
      let metadata = ledger.word(.call, in: call, by: member.name)
      let errand = CallErrand(.callChanged, .patch, "", of: call)
      errand.body = #"{"metadata":"\#(metadata)"}"#
      (errand.shows, errand.isInner) = (.call, true)
      return errand
    case 2:
      let errand = CallErrand(.callForgotten, .post, "/forget", of: call)
      if below(2) == 0 { (errand.key, errand.repeats) = ("forget \(uuid())", .same) }
      return errand
    case 3:
      let errand = CallErrand(.callRead, .get, "/deliveries", of: call)
      errand.access = .personOrAdmin
      errand.price.shortItems = 50
      return errand
    default:
      let errand = CallErrand(.callRead, .get, "", of: call)
      (errand.access, errand.shows) = (.ofCallOrAdmin, .call)
      return errand
    }
  }

  /// By who runs its room; of its people none may.
  func end(_ call: String) -> CallErrand? {
    guard below(3) == 0 else { return nil }
    let errand = CallErrand(.callEndedByAdmin, .delete, "", of: call)
    (errand.access, errand.shows) = (.ofCallOrAdmin, .call)
    return errand
  }

  /// An administrator of the call's room removes a person from it.
  func remove(from call: String) -> CallErrand? {
    let known = people.filter { !$0.isStranger }.map(\.name)
    let person = one(of: known)
    guard below(2) == 0 else { return nil }
    guard let room = ledger.calls[call]?.room else {
      server.remove(person, from: call)
      refresh(call)
      return nil
    }
    let errand = CallErrand(.callPersonRemoved, .delete, "/v1/rooms/\(room)/participants/\(person)", of: call)
    errand.access = .rooms
    errand.price.isFree = true
    return errand
  }

  // MARK: - Media

  /// The media of a person in the call connects, or is lost.
  func sayMedia(in call: String) {
    guard let known = ledger.calls[call], !known.active.isEmpty else { return }
    let words: [MediaPresence] = [.connected, .connected, .connected, .gone, .lost]
    say(one(of: words), of: one(of: known.active), in: call)
  }

  func say(_ presence: MediaPresence, of person: String, in call: String) {
    guard let known = ledger.calls[call], let room = known.room,
      case .active(_, let stay) = known.stand(of: person)
    else { return }
    server.say(presence, of: person, stay: stay, in: room)
  }

  // MARK: - What they share

  func share(_ member: CallMember, _ call: String) -> CallErrand {
    let ofCall = ledger.sessions.filter { $0.value.call == call }.keys.sorted()
    guard !ofCall.isEmpty, below(5) > 0 else { return startSession(member, call) }
    // Sometimes one of another call.
    let session = one(of: below(6) == 0 ? ledger.sessions.keys.sorted() : ofCall)
    let errand: CallErrand
    switch below(12) {
    case 0..<3:
      errand = CallErrand(.sharedSession, .post, "/sessions/\(session)/join", of: call)
      errand.effect = { [self] _ in ledger.join(session: session, member.name) }
    case 3: errand = CallErrand(.sharedSessionLeft, .post, "/sessions/\(session)/leave", of: call)
    case 4, 5, 6: errand = append(to: session, member, call)
    case 7:
      let word = ledger.word(.shared, session: session, by: member.name)
      errand = CallErrand(.sharedSnapshot, .put, "/sessions/\(session)/snapshot", of: call)
      errand.body = #"{"seq":0,"state":{"text":"\#(word)"}}"#
    case 8:
      errand = CallErrand(.sharedRead, .get, "/sessions/\(session)/snapshot", of: call)
      errand.price.isPaidBehind = true
    case 9:
      errand = CallErrand(.sharedRead, .get, "/sessions/\(session)/events", of: call)
      errand.query = "after=0"
      (errand.price.isPaidBehind, errand.price.mayEndAtDoor) = (true, true)
      errand.price.deposit = 50 * CallPrice.shortItem
    case 10:
      errand = CallErrand(.sharedSessionEnded, .delete, "/sessions/\(session)", of: call)
    default:
      errand = CallErrand(.sharedRead, .get, "/sessions", of: call)
      (errand.price.isPaidBehind, errand.price.mayEndAtDoor) = (true, true)
      errand.price.deposit = 16 * CallPrice.shortItem
    }
    (errand.access, errand.mayMiss, errand.isInner) = (.ofCall, errand.path != "/sessions", true)
    return errand
  }

  private func append(to session: String, _ member: CallMember, _ call: String) -> CallErrand {
    let (id, word) = (uuid(), ledger.word(.shared, session: session, by: member.name))
    // It stands in what is said of the session, as the last one.
    ledger.add(id, .session, in: call, by: member.name)
    let errand = CallErrand(.sharedEvent, .post, "/sessions/\(session)/events", of: call)
    errand.body = #"{"id":"\#(id)","type":"stroke","data":{"text":"\#(word)"}}"#
    errand.repeats = .same
    return errand
  }

  private func startSession(_ member: CallMember, _ call: String) -> CallErrand {
    let (id, earlier) = (uuid(), ledger.sessions.keys.sorted())
    let experience = ledger.word(.session, in: call, by: member.name)
    let from = earlier.isEmpty || below(2) == 0 ? nil : one(of: earlier)
    let more = from.map { #","from":"\#($0)""# } ?? ""
    let errand = CallErrand(.sharedSession, .post, "/sessions", of: call)
    errand.body = #"{"id":"\#(id)","experience":"\#(experience)"\#(more)}"#
    (errand.access, errand.mayMiss, errand.isInner) = (.ofCall, from != nil, true)
    errand.price.copies = from != nil
    errand.effect = { [self] reply in
      guard reply.status == 201 else { return }
      if let from, ledger.sessions[from]?.people.contains(member.name) != true {
        violation("\(member.name) begins with what others shared in \(from)")
      }
      ledger.begin(session: id, in: call, by: member.name, from: from)
    }
    return errand
  }
}
