import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import Storage
import TestStores
import Testing

@testable import Gateway

/// Each way to learn of a shared session, by each kind of person: what one may know, and nothing of it by one who may not.
@Suite("Who may know what people of a call share", .timeLimit(.minutes(3)))
struct SessionKnowledgeTests {
  /// In everything that is of the session alone.
  private static let mark = "s3cret"

  /// What one may do while the session goes on, and behind its end.
  private struct Role {
    var person: String
    var hearsLive = false
    var finds = true
    /// The status for its events and its snapshot.
    var reads = 200
    var readsLater = 403
    /// The problem of an event of its own.
    var appends: String?
    var hasToken = true
  }

  /// Ada owns it; bob takes part; kim did, and is in the call; eve is in the call; zoe is rung; max took part and has left the call;
  /// rex took part and was removed.
  private static let roles = [
    Role(person: "ada", hearsLive: true, readsLater: 200),
    Role(person: "bob", hearsLive: true, readsLater: 200),
    Role(person: "kim", readsLater: 200, appends: "not-allowed"),
    Role(person: "eve", appends: "not-allowed"),
    Role(person: "zoe", reads: 403, appends: "not-allowed", hasToken: false),
    Role(person: "max", reads: 403, readsLater: 200, appends: "not-allowed"),
    Role(person: "rex", finds: false, reads: 403, appends: "removed"),
    Role(person: "mallory", finds: false, reads: 404, readsLater: 404, appends: "not-found", hasToken: false),
  ]

  private func scene(_ kind: StoreKind) async throws -> (scene: SessionScene, id: String) {
    let scene = try await SessionScene(
      kind, active: ["ada", "bob", "kim", "eve", "max", "rex"], invited: ["zoe"])
    let id = try await scene.session("ada", "bob", "kim", "max", "rex")
    _ = await scene.ask(.post, "\(id)/leave", by: "kim")
    return (scene, id)
  }

  private func part(_ scene: SessionScene) async throws {
    _ = await scene.calls.ask(.post, "/v1/calls/\(scene.call)/leave", #"{"deviceId":"max1"}"#, by: "max")
    let call = try #require(CallUUID(scene.call))
    _ = try await scene.calls.desk.remove(PersonID("rex"), from: call)
  }

  @Test(arguments: StoreKind.allCases)
  func `by REST, the socket and the stream each learns what is theirs, and nothing else`(kind: StoreKind)
    async throws
  {
    let (scene, id) = try await scene(kind)
    var ears: [String: SessionEar] = [:]
    for role in Self.roles where role.hasToken {
      ears[role.person] = try await scene.connect(role.person)
    }
    // An administrator sees the room, and is none of the people.
    let boss = SessionEar(
      scene.calls.house, room: scene.room,
      token: House.token("boss") {
        $0 = .join(scene.room)
        $0.roomAdmin = true
      })
    try await part(scene)
    let data = #"{"text":"\#(Self.mark)"}"#
    #expect(await scene.append(data, to: id, by: "ada", type: Self.mark).status == 201)
    let state = #"{"seq":1,"state":"\#(Self.mark)"}"#
    #expect(await scene.ask(.put, "\(id)/snapshot", state, by: "ada").status == 204)
    for role in Self.roles { try await check(role, scene, id, mayRead: role.reads) }
    // Those who hear it live have it by now.
    for role in Self.roles where role.hearsLive {
      let ear = try #require(ears[role.person])
      try await eventually { ear.texts.contains { $0.contains(Self.mark) } }
    }
    for role in Self.roles where !role.hearsLive {
      #expect(ears[role.person]?.texts.contains { $0.contains(Self.mark) } != true, "\(role.person)")
    }
    #expect(try await boss.append("1", to: id) == "unknown-session")
    #expect(!boss.texts.contains { $0.contains(Self.mark) })
    _ = await scene.ask(.delete, id, by: "ada")
    for person in ["ada", "bob", "kim", "eve"] {
      _ = await scene.calls.ask(.post, "/v1/calls/\(scene.call)/leave", by: person)
    }
    for role in Self.roles { try await check(role, scene, id, mayRead: role.readsLater, isOver: true) }
  }

  private func check(
    _ role: Role, _ scene: SessionScene, _ id: String, mayRead: Int, isOver: Bool = false
  ) async throws {
    let note = Comment(rawValue: "\(role.person)\(isOver ? ", behind the end" : "")")
    for rest in ["events", "snapshot"] {
      let answer = await scene.ask(.get, "\(id)/\(rest)", by: role.person)
      #expect(answer.status == mayRead, note)
      #expect(answer.text.contains(Self.mark) == (mayRead == 200), note)
    }
    let list = await scene.ask(.get, by: role.person)
    #expect((list.status == 200) == role.finds, note)
    #expect(list.items.isEmpty == !role.finds && !list.text.contains(Self.mark), note)
    let heard = await scene.calls.ask(.get, "/v1/calls/events?after=0&limit=200", by: role.person)
    #expect(!heard.text.contains(Self.mark), note)
    guard !isOver, let problem = role.appends else { return }
    #expect(await scene.append("1", to: id, by: role.person).problem == problem, note)
    #expect(
      await scene.ask(.put, "\(id)/snapshot", #"{"seq":9,"state":1}"#, by: role.person).problem == problem,
      note)
    #expect(await scene.ask(.delete, id, by: role.person).problem == problem, note)
    #expect(await scene.ask(.post, "\(id)/owner", #"{"to":"bob"}"#, by: role.person).problem == problem, note)
  }

  @Test(arguments: StoreKind.allCases)
  func `a stranger is answered byte for byte as of a call that never was`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind)
    let id = try await scene.session("ada", "bob")
    let never = SessionScene.uuid()
    let requests: [(HTTPMethod, String, String)] = [
      (.post, "", #"{"id":"\#(SessionScene.uuid())","experience":"story"}"#), (.get, "", ""),
      (.delete, "/\(id)", ""), (.post, "/\(id)/join", ""), (.post, "/\(id)/leave", ""),
      (.post, "/\(id)/owner", #"{"to":"bob"}"#), (.post, "/\(id)/owner", #"{"accept":true}"#),
      (.post, "/\(id)/events", #"{"id":"\#(SessionScene.uuid())","type":"x"}"#), (.get, "/\(id)/events", ""),
      (.put, "/\(id)/snapshot", #"{"seq":0,"state":1}"#), (.get, "/\(id)/snapshot", ""),
    ]
    for (method, rest, body) in requests {
      let known = await scene.calls.ask(
        method, "/v1/calls/\(scene.call)/sessions\(rest)", body, by: "mallory")
      let unknown = await scene.calls.ask(method, "/v1/calls/\(never)/sessions\(rest)", body, by: "mallory")
      #expect(known.status == 404 && known.text == unknown.text, "\(method) \(rest): \(known.text)")
      #expect("\(known.headers)" == "\(unknown.headers)")
    }
    let paths = Set(CallOperation.all.map(\.path).filter { $0.contains("/sessions") })
    #expect(paths.count == 7 && requests.count >= CallOperation.all.count { $0.path.contains("/sessions") })
  }

  @Test(arguments: StoreKind.allCases)
  func `one who was removed learns of the session no more, by the stream neither`(kind: StoreKind)
    async throws
  {
    let scene = try await SessionScene(kind, active: ["ada", "bob", "rex"])
    let id = try await scene.session("ada", "bob", "rex")
    let rex = try await scene.connect("rex")
    _ = try await scene.calls.desk.remove(PersonID("rex"), from: try #require(CallUUID(scene.call)))
    _ = await scene.append("1", to: id, by: "ada")
    _ = await scene.ask(.delete, id, by: "ada")
    let last = await scene.calls.ask(.get, "/v1/calls/events?after=0&limit=200", by: "rex")
    #expect(!last.items.contains { $0["event"] as? String == "session.ended" })
    #expect(rex.events(of: id).allSatisfy { $0.type != "stroke" && $0.type != "system.ended" })
    // Nor may it begin with what was kept of it.
    let (other, _) = await scene.calls.start("rex", "kim")
    let body = #"{"id":"\#(SessionScene.uuid())","experience":"story","from":"\#(id)"}"#
    #expect(await scene.calls.ask(.post, "/v1/calls/\(other)/sessions", body, by: "rex").status == 404)
  }
}
