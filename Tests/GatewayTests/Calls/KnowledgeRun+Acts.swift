import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import Testing

@testable import Gateway

/// What people do, and what comes of it for who knows what.
extension KnowledgeRun {
  mutating func start(_ person: String) async {
    let others = drawPeople()
    let (id, isEncrypted) = (Self.uuid(), draw.below(2) == 0)
    let metadata = model.word(.call, in: id, by: person)
    let letters = isEncrypted ? wrapped(for: others, by: person) : []
    let body =
      #"{"id":"\#(id)","recipients":\#(list(others)),"media":"audio","deviceId":"\#(person)1","e2ee":\#(isEncrypted),"#
      + #""metadata":"\#(metadata)","keys":\#(json(letters))}"#
    let answer = await ask(.post, "/v1/calls", body, token: token(of: person), reader: person)
    guard answer.status == 201, let begun = (answer["call"] as? NSDictionary)?["id"] as? String else {
      return
    }
    // Another: the one by which the other rings.
    if begun == id {
      var call = CallKnowledge.Call(id: id)
      (call.isEncrypted, call.open, call.people) = (isEncrypted, [person], [person])
      model.calls[id] = call
      model.ring(others, in: id, by: person)
      deliver(letters, in: id)
      order.append(id)
    }
    await note(answer, of: begun, to: person)
    await refresh(begun)
  }

  mutating func act(_ person: String, in call: String) async {
    switch draw.below(30) {
    case 0, 1, 2, 3: await join(person, call)
    case 4, 5: await invite(person, call)
    case 6, 7: await signal(person, call)
    case 8: await changeKey(person, call)
    case 9, 10, 11, 12, 13, 14: await share(person, call)
    case 15, 16, 17: await askOfOneself(person)
    case 18: await block(person)
    case 19 where draw.below(3) == 0:
      if let id = CallUUID(call) {
        _ = try? await calls.desk.remove(PersonID(draw.one(of: Self.people)), from: id)
      }
    default: await simple(person, call)
    }
  }

  // MARK: - Parts of requests

  private mutating func drawPeople() -> [String] {
    var people: [String] = []
    for _ in 0...draw.below(3) { people.append(draw.one(of: Self.people)) }
    return people
  }

  private func list(_ people: [String]) -> String {
    "[" + people.map { "\"\($0)\"" }.joined(separator: ",") + "]"
  }

  /// A key for each, which is a word.
  private mutating func wrapped(for people: [String], by person: String) -> [(person: String, word: String)] {
    var letters: [(person: String, word: String)] = []
    for other in Set(people).subtracting([person]).sorted() {
      letters.append((other, model.word(.letter, by: person)))
    }
    return letters
  }

  private func json(_ letters: [(person: String, word: String)]) -> String {
    let items = letters.map {
      #"{"person":"\#($0.person)","device":"\#($0.person)1","keyId":"\#(keys[$0.person] ?? "")","ciphertext":"\#($0.word)"}"#
    }
    return "[" + items.joined(separator: ",") + "]"
  }

  /// Keys that were taken lie ready for those who are of the call, unless they were removed from it.
  private mutating func deliver(_ letters: [(person: String, word: String)], in id: String) {
    guard let call = model.calls[id] else { return }
    for (person, word) in letters where call.people.contains(person) && !call.removed.contains(person) {
      model.deliver(word, to: person)
    }
  }

  // MARK: - In and out

  private mutating func join(_ person: String, _ call: String) async {
    let device = person + (draw.below(4) == 0 ? "2" : "1")
    let takeover = draw.below(2) == 0
    let deed = Deed(
      method: .post, rest: "/join", body: #"{"deviceId":"\#(device)","takeover":\#(takeover)}"#,
      access: .ofCall)
    if let answer = await perform(deed, of: call, by: person) {
      await note(answer, of: call, to: person)
    }
  }

  private mutating func invite(_ person: String, _ call: String) async {
    let (others, known) = (drawPeople(), model.calls[call])
    let letters = known?.isEncrypted == true ? wrapped(for: others, by: person) : []
    let body =
      #"{"recipients":\#(list(others)),"keys":\#(json(letters)),"keyIndex":\#(known?.keyIndex ?? 0)}"#
    let deed = Deed(method: .post, rest: "/invite", body: body)
    guard await perform(deed, of: call, by: person) != nil else { return }
    model.ring(others, in: call, by: person)
    deliver(letters, in: call)
  }

  private mutating func changeKey(_ person: String, _ call: String) async {
    guard let known = model.calls[call] else { return }
    let letters = wrapped(for: Array(known.people), by: person)
    let body = #"{"index":\#(known.keyIndex + 1),"keys":\#(json(letters))}"#
    guard await perform(Deed(method: .post, rest: "/keys", body: body), of: call, by: person) != nil else {
      return
    }
    model.calls[call]?.keyIndex += 1
    deliver(letters, in: call)
  }

  private mutating func signal(_ person: String, _ call: String) async {
    let other = draw.one(of: Self.people)
    let (payload, clear) = (model.word(.letter, by: person), model.word(.letter, by: person))
    let body =
      #"{"id":"\#(Self.uuid())","to":"\#(other)","kind":"note","payload":"\#(payload)","clear":{"a":"\#(clear)"}}"#
    let deed = Deed(method: .post, rest: "/signals", body: body, access: .ofCall, mayMiss: true)
    guard await perform(deed, of: call, by: person) != nil, let known = model.calls[call],
      known.open.contains(other), !known.removed.contains(other)
    else { return }
    for word in [payload, clear] { model.deliver(word, to: other) }
  }

  /// What changes nothing for who knows what, but for metadata.
  private mutating func simple(_ person: String, _ call: String) async {
    var deed = Deed(method: .get, rest: "", access: .ofCallOrAdmin)
    switch draw.below(8) {
    case 0:
      let reason = draw.one(of: ["userLeft", "rejected", "networkError"])
      deed = Deed(method: .post, rest: "/leave", body: #"{"reason":"\#(reason)"}"#, access: .ofCall)
    case 1, 2:
      let metadata = model.word(.call, in: call, by: person)
      deed = Deed(method: .patch, rest: "", body: #"{"metadata":"\#(metadata)"}"#)
    case 3: deed = Deed(method: .post, rest: "/forget")
    case 4: deed = Deed(method: .get, rest: "/deliveries", access: .personOrAdmin)
    case 5 where draw.below(3) == 0: deed = Deed(method: .delete, rest: "", access: .ofCallOrAdmin)
    default: break
    }
    _ = await perform(deed, of: call, by: person)
  }

  // MARK: - What they share

  private mutating func share(_ person: String, _ call: String) async {
    let ofCall = model.sessions.filter { $0.value.call == call }.keys.sorted()
    guard !ofCall.isEmpty, draw.below(5) > 0 else { return await startSession(person, call) }
    // Sometimes one of another call.
    let sessions = draw.below(6) == 0 ? model.sessions.keys.sorted() : ofCall
    let session = draw.one(of: sessions)
    var deed = Deed(method: .post, rest: "/sessions/\(session)/join", access: .ofCall, mayMiss: true)
    switch draw.below(10) {
    case 0, 1:
      guard await perform(deed, of: call, by: person) != nil else { return }
      return model.join(session: session, person)
    case 2: deed.rest = "/sessions/\(session)/leave"
    case 3, 4:
      let word = model.word(.shared, session: session, by: person)
      deed.rest = "/sessions/\(session)/events"
      deed.body = #"{"id":"\#(Self.uuid())","type":"stroke","data":{"text":"\#(word)"}}"#
    case 5:
      let word = model.word(.shared, session: session, by: person)
      (deed.method, deed.rest) = (.put, "/sessions/\(session)/snapshot")
      deed.body = #"{"seq":0,"state":{"text":"\#(word)"}}"#
    case 6: (deed.method, deed.rest) = (.get, "/sessions/\(session)/snapshot")
    case 7: (deed.method, deed.rest) = (.get, "/sessions/\(session)/events?after=0")
    case 8:
      let other = draw.one(of: Self.people)
      (deed.rest, deed.body) = ("/sessions/\(session)/owner", #"{"to":"\#(other)"}"#)
    default: (deed.method, deed.rest, deed.mayMiss) = (.get, "/sessions", false)
    }
    _ = await perform(deed, of: call, by: person)
  }

  private mutating func startSession(_ person: String, _ call: String) async {
    let (id, experience) = (Self.uuid(), model.word(.session, in: call, by: person))
    let earlier = model.sessions.keys.sorted()
    let from = earlier.isEmpty || draw.below(2) == 0 ? nil : draw.one(of: earlier)
    let more = from.map { #","from":"\#($0)""# } ?? ""
    let deed = Deed(
      method: .post, rest: "/sessions", body: #"{"id":"\#(id)","experience":"\#(experience)"\#(more)}"#,
      access: .ofCall, mayMiss: from != nil)
    guard let answer = await perform(deed, of: call, by: person), answer.status == 201 else { return }
    if let from, model.sessions[from]?.people.contains(person) != true {
      Issue.record("\(place): \(person) begins with what others shared")
    }
    model.begin(session: id, in: call, by: person, from: from)
  }

  // MARK: - Of oneself

  private mutating func askOfOneself(_ person: String) async {
    let other = draw.one(of: Self.people)
    switch draw.below(8) {
    case 0: await askAsPerson(.get, "/v1/calls?limit=20", by: person)
    case 1: await askAsPerson(.get, "/v1/devices", by: person)
    case 2:
      // Some take another's token, which then is theirs.
      let word = model.word(.device)
      let body = #"{"platform":"webhook","token":"abcd\#(word)","topic":"t"}"#
      await askAsPerson(.put, "/v1/devices/\(person)2", body, by: person)
    case 3: await askAsPerson(.get, "/v1/blocks", by: person)
    case 4: await askAsPerson(.get, "/v1/keys/\(other)", by: person)
    case 5 where other != person:
      let answer = await ask(.get, "/v1/keys/\(other)/history", token: token(of: person), reader: person)
      if answer.status != 403, answer.status != 429 {
        Issue.record("\(place): \(person) reads the entries of \(other): \(answer.text)")
      }
    default:
      let path = "/v1/calls/events?after=\(heard[person] ?? 0)&limit=20&device=\(person)1"
      if let page = await askAsPerson(.get, path, by: person) { heard[person] = page["last"] as? Int }
    }
  }

  /// By the person's token, or by one of the same person that opens nothing of it.
  /// - Returns: what the person was answered; nil: it wasn't asked as that.
  @discardableResult
  private mutating func askAsPerson(
    _ method: HTTPMethod, _ path: String, _ body: String = "", by person: String
  ) async -> House.Answer? {
    let narrow = given.last { $0.person == person }?.token ?? House.token(person) { $0 = .join("demo") }
    guard draw.below(5) == 0 else {
      let answer = await ask(method, path, body, token: token(of: person), reader: person)
      return answer.status == 200 ? answer : nil
    }
    let answer = await ask(method, path, body, token: narrow, reader: person)
    if answer.status != 429, answer.status != 403 || answer.problem != "not-allowed" {
      Issue.record("\(place), \(person) by a narrower token: \(method.rawValue) \(path) is \(answer.status)")
    }
    return nil
  }

  private mutating func block(_ person: String) async {
    let other = draw.one(of: Self.people)
    let isBlocked = draw.below(2) == 0
    let answer = await ask(
      isBlocked ? .put : .delete, "/v1/blocks/\(other)", token: token(of: person), reader: person)
    guard answer.status == 204 else { return }
    if isBlocked { model.blocks.insert([person, other]) } else { model.blocks.remove([person, other]) }
  }
}
