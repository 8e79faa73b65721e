import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import Synchronization
import TestStores
import Testing

@testable import Gateway

/// A call with people in it, for what they share.
struct SessionScene {
  let calls: CallHouse
  let call: String
  let room: String
  /// Of the call, for those who have joined.
  let tokens: [String: String]

  static func uuid() -> String { UUID().uuidString.lowercased() }

  /// - Parameters:
  ///   - active: who is in the call; the first starts it.
  ///   - invited: who is rung, and doesn't answer.
  init(
    _ kind: StoreKind? = nil, active: [String] = ["ada", "bob"], invited: [String] = [],
    _ adjust: (inout CallDeskTerms) -> Void = { _ in },
    outlet: @escaping (CallRooms) -> any CallOutlet = { $0 }
  ) async throws {
    var terms = CallDeskTerms()
    // No media comes in these tests.
    terms.book.call.media = 600_000
    adjust(&terms)
    let calls = try await CallHouse(terms, on: kind, outlet: outlet)
    let call = Self.uuid()
    let list = (active.dropFirst() + invited).map { "\"\($0)\"" }.joined(separator: ",")
    let body = #"{"id":"\#(call)","recipients":[\#(list)],"media":"audio","deviceId":"\#(active[0])1"}"#
    let started = await calls.ask(.post, "/v1/calls", body, by: active[0])
    try #require(started.status == 201, "\(started.text)")
    var tokens = [active[0]: try #require(started["token"] as? String)]
    for person in active.dropFirst() {
      tokens[person] = try #require(await calls.join(call, person)["token"] as? String)
    }
    (self.calls, self.call, self.tokens) = (calls, call, tokens)
    room = try #require((started["call"] as? NSDictionary)?["room"] as? String)
  }

  func path(_ rest: String = "") -> String { "/v1/calls/\(call)/sessions\(rest.isEmpty ? "" : "/\(rest)")" }

  func ask(
    _ method: HTTPMethod, _ rest: String = "", _ body: String = "", by person: String
  ) async -> House.Answer {
    await calls.ask(method, path(rest), body, by: person)
  }

  /// A session that the first starts and the others join.
  func session(_ people: String..., experience: String = "story") async throws -> String {
    let id = Self.uuid()
    let started = await ask(
      .post, "", #"{"id":"\#(id)","experience":"\#(experience)"}"#, by: people[0])
    try #require(started.status == 201, "\(started.text)")
    for person in people.dropFirst() {
      let joined = await ask(.post, "\(id)/join", by: person)
      try #require(joined.status == 200, "\(joined.text)")
    }
    return id
  }

  func append(
    _ data: String, to session: String, by person: String, id: String = uuid(), type: String = "stroke"
  ) async -> House.Answer {
    await ask(
      .post, "\(session)/events", #"{"id":"\#(id)","type":"\#(type)","data":\#(data)}"#, by: person)
  }

  /// Somebody's socket in the call's room, once it is let in.
  func connect(_ person: String) async throws -> SessionEar {
    let ear = SessionEar(calls.house, room: room, token: try #require(tokens[person]))
    _ = try await ear.first { $0["type"] as? String == "joined" }
    return ear
  }
}

/// One socket at the native door, and all that is heard on it.
final class SessionEar: Sendable {
  let socket = TestSocket()
  private let heard = Texts()
  private let tasks: [Task<Void, Never>]
  private let count = Mutex(0)

  private final class Texts: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
  }

  /// - Parameter greeting: the first message; nil: `auth` with the token.
  init(
    _ house: House, room: String, token: String, greeting: String? = nil,
    tokens: ResumeTokens = ResumeTokens()
  ) {
    let gateway = house.gateway
    var terms = SignallingTerms(room: room) { text throws(AccessTokenRefusal) in
      try gateway.authorize(text, joining: room)
    }
    terms.now = { House.now }
    terms.instant = GatewayConfiguration(keys: [:], development: nil) { 0 }.instant
    terms.sessions = gateway.sessions
    let connection = SignallingConnection(
      socket: socket, terms: terms, rooms: house.directory, tokens: tokens)
    let texts = socket.sent
    tasks = [
      Task { await connection.run(authorized: nil) },
      Task { [heard] in for await text in texts { heard.add(text) } },
    ]
    socket.say(greeting ?? #"{"type":"auth","token":"\#(token)"}"#)
  }

  func hangUp() { socket.hangUp() }

  /// All texts so far.
  var texts: [String] { heard.all }

  /// Messages so far, of that type.
  func messages(_ type: String) -> [NSDictionary] {
    texts.map(Self.fields).filter { $0["type"] as? String == type }
  }

  /// Events of a session so far.
  func events(of session: String) -> [SeenEvent] {
    messages("session.event").filter { $0["sid"] as? String == session }.compactMap { SeenEvent($0["event"]) }
  }

  /// Says something with an id, and waits for what it is answered.
  func ask(_ type: String, _ fields: String) async throws -> NSDictionary {
    let id = count.withLock { count in
      count += 1
      return count
    }
    socket.say(#"{"type":"\#(type)","id":\#(id),\#(fields)}"#)
    return try await first { $0["id"] as? Int == id }
  }

  /// The number of an event, or the error's code.
  func append(
    _ data: String, to session: String, id: String = SessionScene.uuid(), type: String = "stroke"
  ) async throws -> String {
    let event = #"{"id":"\#(id)","type":"\#(type)","data":\#(data)}"#
    let answer = try await ask("session.event", #""sid":"\#(session)","event":\#(event)"#)
    return (answer["seq"] as? Int).map(String.init) ?? answer["code"] as? String ?? "\(answer)"
  }

  /// The first message like that, once it is there.
  func first(_ isWanted: (NSDictionary) -> Bool) async throws -> NSDictionary {
    var seen = 0
    for _ in 0..<4_000 {
      let new = texts.dropFirst(seen)
      seen += new.count
      for text in new {
        let message = Self.fields(text)
        if isWanted(message) { return message }
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw Silence(heard: texts)
  }

  struct Silence: Error { let heard: [String] }

  private static func fields(_ text: String) -> NSDictionary {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? NSDictionary ?? [:]
  }
}

/// An event of a session as a client has it.
struct SeenEvent: Hashable {
  let seq: Int64
  let id: String
  let type: String
  let sender: String?
  /// All of it, in one form.
  let text: String

  init?(_ value: Any?) {
    guard let fields = value as? NSDictionary, let seq = fields["seq"] as? Int,
      let id = fields["id"] as? String,
      let type = fields["type"] as? String,
      let text = try? JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys])
    else { return nil }
    (self.seq, self.id, self.type) = (Int64(seq), id, type)
    sender = fields["sender"] as? String
    self.text = String(decoding: text, as: UTF8.self)
  }

  /// Whether it says of that person that it has come or gone.
  func isComing(of person: String) -> Bool {
    ["system.joined", "system.left"].contains(type) && text.contains("\"\(person)\"")
  }
}

/// Waits until something holds.
func eventually(_ what: String = "", _ holds: () async throws -> Bool) async throws {
  for _ in 0..<4_000 {
    if try await holds() { return }
    try await Task.sleep(for: .milliseconds(5))
  }
  Issue.record("it doesn't come to be: \(what)")
}
