import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import Testing

@testable import Gateway

/// One run: people ask all there is to ask of calls, by tokens of every kind, and a model judges what each is answered and hears.
struct KnowledgeRun {
  static let people = ["ada", "bob", "eve", "zoe", "max", "mallory"]

  /// Whose a token is.
  enum Key {
    case person
    /// The person's, for some room.
    case room
    /// The person's, of that call.
    case call(String)
    /// Of one who runs another room; of one who runs this call's.
    case otherAdmin
    case admin
  }

  /// Something that is asked of a call.
  struct Deed {
    var method: HTTPMethod
    /// Behind `/v1/calls/{call}`.
    var rest: String
    var body = ""
    var access = CallAccess.person
    /// 404 may also say that something else isn't there.
    var mayMiss = false
  }

  let calls: CallHouse
  let seed: UInt64
  var draw: SeededDraw
  var model = CallKnowledge()
  private(set) var step = 0
  /// The calls in the order in which they began.
  var order: [String] = []
  /// Tokens of people, and those that calls have given.
  private var tokens: [String: String] = [:]
  private(set) var given: [(person: String, call: String, token: String)] = []
  /// The key of each person's device in the log.
  private(set) var keys: [String: String] = [:]
  /// Which event each has read last.
  var heard: [String: Int] = [:]
  private var ears: [(person: String, ear: SessionEar)] = []
  /// What was said, to be judged once it is known what has come of it.
  private var said: [(text: String, reader: String?, what: String)] = []

  init(_ calls: CallHouse, seed: UInt64) {
    (self.calls, self.seed) = (calls, seed)
    draw = SeededDraw(state: seed)
  }

  var place: String { "seed \(seed), step \(step)" }

  static func uuid() -> String { UUID().uuidString.lowercased() }

  /// Everyone has a name, a device, and a key in the log.
  mutating func prepare() async throws {
    for person in Self.people {
      let name = model.word(.name(of: person), by: person)
      tokens[person] = CallHouse.token(person, name: name)
      let secret = model.word(.device)
      let body = #"{"platform":"webhook","token":"abcd\#(secret)","topic":"t"}"#
      let kept = await ask(.put, "/v1/devices/\(person)1", body, token: token(of: person), reader: person)
      try #require(kept.status == 200, "\(kept.text)")
      judge()
      let published = try await calls.put(person, "\(person)1")
      keys[person] = try #require((published["entry"] as? NSDictionary)?["id"] as? String)
    }
  }

  mutating func turn() async throws {
    step += 1
    let person = draw.one(of: Self.people)
    if order.isEmpty || draw.below(14) == 0 {
      await start(person)
    } else {
      let call = draw.one(of: Array(order.suffix(5)))
      await act(person, in: call)
      await refresh(call)
    }
    judge()
  }

  // MARK: - Asking

  func token(of person: String) -> String { tokens[person] ?? "" }

  /// Asks, and remembers what was answered to whom.
  @discardableResult
  mutating func ask(
    _ method: HTTPMethod, _ path: String, _ body: String = "", token: String, reader: String?
  ) async -> House.Answer {
    let answer = await calls.house.ask(method, path, body, token: token)
    said.append((answer.text, reader, "\(method.rawValue) \(path)"))
    return answer
  }

  /// Looks at all that was answered since the last time.
  mutating func judge() {
    model.settle()
    for (text, reader, what) in said {
      if let fault = model.fault(in: text, given: reader) { Issue.record("\(place), \(what): \(fault)") }
    }
    said = []
  }

  /// Asks something of a call by a token of some kind.
  /// - Returns: nil: it wasn't done for the person.
  mutating func perform(_ deed: Deed, of call: String, by person: String) async -> House.Answer? {
    let key = drawKey(person, call)
    guard let token = token(key, person, call) else { return nil }
    let path = "/v1/calls/\(call)\(deed.rest)"
    var reader: String? = person
    if case .admin = key { reader = nil }
    if case .otherAdmin = key { reader = "" }
    let answer = await ask(deed.method, path, deed.body, token: token, reader: reader)
    // Too much was asked lately, which says nothing.
    guard answer.status != 429 else { return nil }
    if let (status, problem) = refusal(of: key, deed, call, person) {
      if answer.status != status || (status >= 400 && answer.problem != problem) {
        Issue.record(
          "\(place), \(person) by a token of \(key): \(deed.method.rawValue) \(path) is \(answer.status) \(answer.text)"
        )
      }
      return nil
    }
    let isOpen = model.calls[call]?.open.contains(person) ?? false
    if !isOpen || !deed.mayMiss, (answer.status == 404) == isOpen {
      Issue.record("\(place), \(person): \(deed.method.rawValue) \(path) is \(answer.status) \(answer.text)")
    }
    if !isOpen { await compare(answer, deed, token) }
    return (200..<300).contains(answer.status) ? answer : nil
  }

  /// Of a call that never was a stranger is answered the very same.
  private func compare(_ answer: House.Answer, _ deed: Deed, _ token: String) async {
    let never = await calls.house.ask(
      deed.method, "/v1/calls/\(Self.uuid())\(deed.rest)", deed.body, token: token)
    guard never.status != 429 else { return }
    if never.text != answer.text || "\(never.headers)" != "\(answer.headers)" {
      Issue.record("\(place), \(deed.method.rawValue) \(deed.rest): \(answer.text) and \(never.text)")
    }
  }

  // MARK: - Tokens

  private mutating func drawKey(_ person: String, _ call: String) -> Key {
    switch draw.below(16) {
    case 0: return .room
    case 1: return .otherAdmin
    case 2: return .admin
    case 3, 4, 5:
      let mine = given.filter { $0.person == person }
      guard !mine.isEmpty else { return .person }
      if draw.below(3) > 0, mine.contains(where: { $0.call == call }) { return .call(call) }
      return .call(draw.one(of: mine).call)
    default: return .person
    }
  }

  /// - Returns: nil: there is none such.
  private func token(_ key: Key, _ person: String, _ call: String) -> String? {
    switch key {
    case .person: token(of: person)
    case .room: House.token(person) { $0 = .join("demo") }
    case .call(let id): given.last { $0.person == person && $0.call == id }?.token
    case .otherAdmin:
      House.token("desk\(step)") {
        $0.roomAdmin = true
        $0.room = "another"
      }
    case .admin:
      model.calls[call]?.room.map { room in
        House.token("desk\(step)") {
          $0.roomAdmin = true
          $0.room = room
        }
      }
    }
  }

  /// What is to be answered to such a token.
  /// - Returns: nil: as to the person itself.
  private func refusal(
    of key: Key, _ deed: Deed, _ call: String, _ person: String
  ) -> (status: Int, problem: String)? {
    let isForAdmins = deed.access == .ofCallOrAdmin || deed.access == .personOrAdmin
    switch key {
    case .person: return nil
    case .room: return (403, "not-allowed")
    case .otherAdmin: return isForAdmins ? (404, "not-found") : (403, "not-allowed")
    case .admin:
      guard isForAdmins else { return (403, "not-allowed") }
      let isLate = deed.method == .delete && model.calls[call]?.isOver == true
      return isLate ? (410, "call-ended") : (200, "")
    case .call(let id):
      guard id == call, deed.access == .ofCall || deed.access == .ofCallOrAdmin else {
        return (403, "not-allowed")
      }
      guard let known = model.calls[id] else { return nil }
      if known.removed.contains(person) { return (403, "removed") }
      return known.isOver ? (410, "call-ended") : nil
    }
  }

  // MARK: - What came of it

  /// A call has given a person a token, and may have let it in.
  mutating func note(_ answer: House.Answer, of call: String, to person: String) async {
    guard let token = answer["token"] as? String else { return }
    given.append((person, call, token))
    guard ears.count < 5, draw.below(6) == 0, let room = (answer["call"] as? NSDictionary)?["room"] as? String
    else { return }
    let ear = SessionEar(calls.house, room: room, token: token)
    ears.append((person, ear))
    // Connecting is a join: it is over before the next step.
    _ = try? await ear.first { ["joined", "error", "closed"].contains($0["type"] as? String ?? "") }
  }

  /// How a call stands by now.
  mutating func refresh(_ id: String) async {
    let boss = House.token("boss\(step)") {
      $0.roomAdmin = true
      $0.room = Grants.everyRoom
    }
    let shown = await ask(.get, "/v1/calls/\(id)", token: boss, reader: nil)
    guard shown.status == 200 else {
      Issue.record("\(place): call \(id) is gone: \(shown.text)")
      return
    }
    let active = Set(shown["activeParticipants"] as? [String] ?? [])
    model.calls[id]?.room = shown["room"] as? String
    model.calls[id]?.active = active
    model.calls[id]?.present = active.union(shown["invitedParticipants"] as? [String] ?? [])
    model.calls[id]?.people = Set(shown["allParticipants"] as? [String] ?? [])
    model.calls[id]?.isOver = shown["status"] as? String == "inactive"
    for left in shown["leftParticipants"] as? [NSDictionary] ?? []
    where left["reason"] as? String == "removed" {
      if let person = left["id"] as? String { model.calls[id]?.removed.insert(person) }
    }
  }

  /// Everything that each has heard, to the end.
  mutating func listen() async throws {
    for person in Self.people {
      var (after, isMore) = (0, true)
      while isMore {
        // Each as if it had asked for nothing lately.
        let page = await ask(
          .get, "/v1/calls/events?after=\(after)&limit=100&device=\(person)1", token: token(of: person),
          reader: person)
        if page.status == 429 {
          try await Task.sleep(for: .milliseconds(200))
          continue
        }
        try #require(page.status == 200, "\(page.text)")
        judge()
        let last = page["last"] as? Int ?? after
        isMore = last > after
        after = last
      }
    }
    for (person, ear) in ears {
      for text in ear.texts {
        if let fault = model.fault(in: text, given: person) { Issue.record("\(place), live: \(fault)") }
      }
    }
  }
}
