import AccessTokens
import CallDesk
import Calls
import Gateway
import HTTPServer
import Synchronization

/// A call of 32 people, of whom two are in it and the others are rung on sixteen devices each, with something that the two share, and
/// behind it a history: as dear as calls become.
///
/// Belongs to one thread. Words in requests stand for what is there: `$c` for the call, `$s` for the session, `$e` for an earlier one
/// with a snapshot, `$u` for an id that nothing has, `$n` for a number that is another each time, `$k{1}` for the key of `p1`.
final class CallStage {
  static let people = (0..<32).map { "p\($0)" }
  /// Bytes of the snapshots.
  static let snapshot = 60_000
  private static let history = 60

  let scene: CallScene
  private let tokens: [String: String]
  private var keys: [String] = []
  private var (call, session, earlier) = ("", "", "")
  private var number = 0
  /// Calls that were made since it is there.
  private(set) var calls = 0

  /// - Returns: nil: it can't be made.
  init?() {
    let opened = Box<CallScene>()
    InlineExecutor.run {
      let scene = await CallScene.open { terms in
        // Nothing is over by itself, and no one has done too much.
        let long: Int64 = 1 << 40
        (terms.book.call.ring, terms.book.call.media) = (long, long)
        (terms.book.call.alone, terms.book.call.grace) = (long, long)
        (terms.rates.starts, terms.rates.rings) = (1 << 30, 1 << 30)
        (terms.keys.entriesPerMinute, terms.keys.entriesPerHour) = (1 << 30, 1 << 30)
        (terms.keys.changesPerMinute, terms.sharing.changesPerMinute) = (1 << 30, 1 << 30)
        (terms.changesPerMinute, terms.book.calls) = (1 << 30, 1 << 30)
      }
      if let scene { opened.set(scene) }
    }
    guard let scene = opened.value else { return nil }
    self.scene = scene
    var tokens = Dictionary(uniqueKeysWithValues: Self.people.map { ($0, CallScene.token($0)) })
    tokens["boss"] = CallScene.token("boss") {
      $0.grants.roomAdmin = true
      $0.grants.room = Grants.everyRoom
    }
    self.tokens = tokens
    furnish()
  }

  private final class Box<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    func set(_ value: Value) { state.withLock { $0 = value } }
    var value: Value? { state.withLock { $0 } }
  }

  // MARK: - Asking

  /// Answers a request, while nothing else is done.
  func answer(_ request: HTTPRequest) -> HTTPResponse? {
    let answer = Box<HTTPResponse>()
    InlineExecutor.run { [scene] in answer.set(await scene.gateway.respond(to: request)) }
    return answer.value
  }

  /// Lets time pass, so that budgets are full again.
  func rest() { scene.rest(60_000) }

  @discardableResult
  private func ask(_ method: HTTPMethod, _ path: String, _ body: String, by person: String) -> [String:
    StrictJSON]
  {
    rest()
    var headers: HTTPHeaders = ["authorization": "Bearer \(person)", "host": "localhost"]
    if !body.isEmpty { headers.add("content-type", "application/json") }
    let request = HTTPRequest(
      method: method, path: path, query: "", headers: headers, body: Array(body.utf8))
    guard let answer = answer(filled(request)) else { return [:] }
    // What was asked of it may have ended the call.
    let isOver = answer.status == 410 && method == .delete
    check(answer.status < 300 || isOver, "what the stage is made of is taken")
    guard
      case .object(let members)? = StrictJSON.parse(answer.body, maximumMembers: answer.body.count + 1)
    else { return [:] }
    return members
  }

  /// With what its words stand for.
  func filled(_ given: HTTPRequest) -> HTTPRequest {
    number += 1
    var request = given
    request.path = filled(given.path)
    request.query = filled(given.query)
    request.body = Array(filled(String(decoding: given.body, as: UTF8.self)).utf8)
    var headers = HTTPHeaders()
    for (name, value) in given.headers.fields {
      let token = value.hasPrefix("Bearer ") ? tokens[String(value.dropFirst(7))] : nil
      headers.add(name, token.map { "Bearer \($0)" } ?? value)
    }
    request.headers = headers
    return request
  }

  private func filled(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
    var text = text
    if text.contains("$k{") {
      for (place, key) in keys.enumerated() { text = text.replacing("$k{\(place)}", with: key) }
    }
    for (word, value) in [
      ("$c", call), ("$s", session), ("$e", earlier), ("$u", id(number)), ("$n", "\(number)"),
    ] {
      text = text.replacing(word, with: value)
    }
    return text
  }

  /// A UUID for each number.
  private func id(_ number: Int) -> String {
    let digits = String(number)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  // MARK: - Furniture

  private func furnish() {
    for person in Self.people {
      for device in 0..<16 {
        ask(
          .put, "/v1/devices/d\(device)", #"{"platform":"webhook","token":"\#(person)-\#(device)"}"#,
          by: person)
      }
      let published = ask(.put, "/v1/keys/\(person)", Self.publication("phone"), by: person)
      if case .object(let entry)? = published["entry"], case .string(let key)? = entry["id"] {
        keys.append(key)
      }
    }
    check(keys.count == Self.people.count, "everyone has a key in the log")
    for device in 1..<16 { ask(.put, "/v1/keys/p1", Self.publication("d\(device)"), by: "p1") }
    // A history, of which the last has a snapshot.
    for _ in 0..<Self.history { begin() }
    ask(.put, "/v1/calls/$c/sessions/$s/snapshot", snapshotBody, by: "p0")
    earlier = session
    begin()
  }

  /// The base point of P-256, which is a key like any other.
  private static func publication(_ device: String) -> String {
    #"{"device":"\#(device)","algorithm":"p256","key":"#
      + #""BGsX0fLhLEJH+Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/UfU="}"#
  }

  private var snapshotBody: String {
    #"{"seq":1,"state":"\#(String(repeating: "s", count: Self.snapshot))"}"#
  }

  /// The call of before is over, and another stands as it did.
  func begin() {
    if !call.isEmpty { ask(.delete, "/v1/calls/$c", "", by: "boss") }
    calls += 1
    let others = Self.people.dropFirst()
    let recipients = others.map { "\"\($0)\"" }.joined(separator: ",")
    let wrapped = others.enumerated().map { place, person in
      #"{"person":"\#(person)","device":"phone","keyId":"$k{\#(place + 1)}","ciphertext":"AAAA"}"#
    }.joined(separator: ",")
    number += 1
    let id = id(number)
    ask(
      .post, "/v1/calls",
      #"{"id":"\#(id)","recipients":[\#(recipients)],"media":"audio","e2ee":true,"keys":[\#(wrapped)],"deviceId":"phone"}"#,
      by: "p0")
    call = id
    ask(.post, "/v1/calls/$c/join", #"{"deviceId":"phone"}"#, by: "p1")
    number += 1
    session = self.id(number)
    ask(.post, "/v1/calls/$c/sessions", #"{"id":"\#(session)","experience":"story"}"#, by: "p0")
    ask(.post, "/v1/calls/$c/sessions/$s/join", "", by: "p1")
    for _ in 0..<8 {
      ask(
        .post, "/v1/calls/$c/sessions/$s/events",
        #"{"id":"$u","type":"stroke","data":"\#(String(repeating: "e", count: 4_000))"}"#, by: "p1")
    }
    ask(.put, "/v1/calls/$c/sessions/$s/snapshot", snapshotBody, by: "p0")
  }

  /// What one kind finds as if it had not been asked before.
  func prepare(_ kind: String) {
    switch kind {
    case "PUT /v1/keys/{person}": revoke("d")
    case "DELETE /v1/keys/{person}/{device}": ask(.put, "/v1/keys/p0", Self.publication("d"), by: "p0")
    case "DELETE /v1/devices/{device}":
      ask(.put, "/v1/devices/d0", #"{"platform":"webhook","token":"p0-0"}"#, by: "p0")
    default: break
    }
  }

  /// Where it has a key.
  private func revoke(_ device: String) {
    ask(.put, "/v1/keys/p0", Self.publication(device), by: "p0")
    ask(.delete, "/v1/keys/p0/\(device)", "", by: "p0")
  }
}
