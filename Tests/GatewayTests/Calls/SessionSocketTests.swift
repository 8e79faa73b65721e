import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import Storage
import TestStores
import Testing

@testable import Gateway

@Suite("What people of a call share, over the room's WebSocket", .timeLimit(.minutes(3)))
struct SessionSocketTests {
  @Test(arguments: StoreKind.allCases)
  func `an event is answered with its number, and those who take part get it once, in order`(kind: StoreKind)
    async throws
  {
    let scene = try await SessionScene(kind, active: ["ada", "bob", "eve"])
    let id = try await scene.session("ada", "bob")
    let (ada, bob) = (try await scene.connect("ada"), try await scene.connect("bob"))
    let eve = try await scene.connect("eve")
    let own = SessionScene.uuid()
    #expect(try await ada.append(#"{"x":1.50}"#, to: id, id: own) == "2")
    let event = #"{"id":"\#(own)","type":"stroke","data":{"x":1.50}}"#
    let answer = try await ada.ask("session.event", #""sid":"\#(id)","event":\#(event)"#)
    #expect(answer["type"] as? String == "session.seq" && answer["seq"] as? Int == 2)
    #expect(answer["sid"] as? String == id && answer["event"] as? String == own)
    // By the other way it is the same event.
    #expect(await scene.append(#"{"x":1.50}"#, to: id, by: "ada", id: own)["seq"] as? Int == 2)
    #expect(try await ada.append(#"{"x":1.50}"#, to: id, id: own) == "2")
    for value in 3..<20 { _ = await scene.append("\(value)", to: id, by: value % 2 == 0 ? "ada" : "bob") }
    for ear in [ada, bob] {
      try await eventually { ear.events(of: id).count == 18 }
      #expect(ear.events(of: id).map(\.seq) == Array(2..<20))
    }
    let page = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?after=1", by: "bob")
    #expect(page.items.compactMap { SeenEvent($0) } == bob.events(of: id))
    #expect(bob.texts.contains { $0.contains(#""data":{"x":1.50}"#) })
    #expect(try await eve.ask("ping", #""x":0"#)["type"] as? String == "pong")
    #expect(eve.messages("session.event").isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `who comes hears from its coming on, and who goes up to its going`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind, active: ["ada", "bob", "eve"])
    let id = try await scene.session("ada", "bob")
    let (bob, eve) = (try await scene.connect("bob"), try await scene.connect("eve"))
    _ = await scene.append("1", to: id, by: "ada")
    _ = await scene.ask(.post, "\(id)/join", by: "eve")
    _ = await scene.append("2", to: id, by: "ada")
    _ = await scene.ask(.post, "\(id)/leave", by: "eve")
    _ = await scene.append("3", to: id, by: "ada")
    _ = await scene.ask(.delete, id, by: "ada")
    try await eventually { bob.events(of: id).last?.type == "system.ended" }
    #expect(bob.events(of: id).map(\.seq) == Array(2...7))
    try await eventually { eve.events(of: id).count == 3 }
    #expect(
      eve.events(of: id).map(\.type) == ["system.joined", "stroke", "system.left"]
        && eve.events(of: id).map(\.seq) == [3, 4, 5])
    #expect(scene.calls.rooms.sessions.counts.sessions == 0, "what is over is followed no longer")
  }

  @Test(arguments: StoreKind.allCases)
  func `each refusal has its code`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind, active: ["ada", "bob", "eve"])
    let id = try await scene.session("ada", "bob")
    let (ada, eve) = (try await scene.connect("ada"), try await scene.connect("eve"))
    let taken = SessionScene.uuid()
    #expect(try await ada.append("1", to: id, id: taken) == "2")
    #expect(try await ada.append("2", to: id, id: taken) == "id-taken")
    #expect(try await ada.append("1", to: SessionScene.uuid()) == "unknown-session")
    #expect(try await ada.append("1", to: "x") == "bad-message")
    #expect(try await ada.append("1", to: id, id: "x") == "bad-message")
    #expect(try await ada.append("1", to: id, type: "system.joined") == "reserved-type")
    #expect(try await ada.append("1", to: id, type: "") == "bad-message")
    #expect(try await ada.append(#""\ud800""#, to: id) == "bad-message")
    #expect(try await ada.append("\"\(String(repeating: "x", count: 16_383))\"", to: id) == "bad-message")
    #expect(try await eve.append("1", to: id) == "not-allowed", "it takes no part")
    // A session of another call is none here.
    let other = try await SessionScene(kind, active: ["ada", "kim"])
    let foreign = try await other.session("ada", "kim")
    #expect(try await ada.append("1", to: foreign) == "unknown-session")
    _ = await scene.ask(.delete, id, by: "ada")
    #expect(try await ada.append("3", to: id) == "session-ended")
    #expect(try await ada.append("1", to: id, id: taken) == "2", "it was done before")
    await scene.calls.store.close()
    #expect(try await ada.append("3", to: id) == "unavailable")
    let elsewhere = SessionEar(
      scene.calls.house, room: "demo", token: House.token("ada") { $0 = .join("demo") })
    #expect(try await elsewhere.append("1", to: id) == "unavailable", "it isn't known that it is no call's")
  }

  @Test(arguments: StoreKind.allCases)
  func `in a room that is no call's there is no session, and without calls no such message`(kind: StoreKind)
    async throws
  {
    let scene = try await SessionScene(kind)
    let id = try await scene.session("ada", "bob")
    let elsewhere = SessionEar(
      scene.calls.house, room: "demo", token: House.token("ada") { $0 = .join("demo") })
    #expect(try await elsewhere.append("1", to: id) == "unknown-session")
    let bare = try House()
    let ear = SessionEar(bare, room: "demo", token: House.token("ada") { $0 = .join("demo") })
    #expect(try await ear.append("1", to: id) == "unsupported")
  }

  @Test(arguments: StoreKind.allCases)
  func `who may say nothing in the room says nothing in its sessions there, from that moment on`(
    kind: StoreKind
  )
    async throws
  {
    let scene = try await SessionScene(kind)
    let id = try await scene.session("ada", "bob")
    let (ada, bob) = (try await scene.connect("ada"), try await scene.connect("bob"))
    #expect(try await ada.append("1", to: id) == "2")
    let path = "/v1/rooms/\(scene.room)/participants/ada"
    let body = #"{"permissions":{"canPublishData":false}}"#
    #expect(await scene.calls.house.ask(.patch, path, body).status == 200)
    #expect(try await ada.append("2", to: id) == "not-allowed")
    _ = await scene.append("3", to: id, by: "bob")
    try await eventually { bob.events(of: id).count == 2 && ada.events(of: id).count == 2 }
  }

  @Test(arguments: StoreKind.allCases)
  func `more than its share is refused by its name`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind) { $0.sharing.eventsPerSecond = 4 }
    let id = try await scene.session("ada", "bob")
    let (ada, bob) = (try await scene.connect("ada"), try await scene.connect("bob"))
    var refused: Set<String> = []
    for _ in 0..<100 where refused.isEmpty {
      let answer = try await ada.append("1", to: id)
      if Int(answer) == nil { refused.insert(answer) }
    }
    #expect(refused == ["rate-limited"])
    #expect(Int(try await bob.append("1", to: id)) != nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `what one client says stays in order, however fast it says it`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind)
    let id = try await scene.session("ada", "bob")
    let (ada, bob) = (try await scene.connect("ada"), try await scene.connect("bob"))
    for value in 0..<40 {
      let event = #"{"id":"\#(SessionScene.uuid())","type":"n","data":\#(value)}"#
      ada.socket.say(#"{"type":"session.event","sid":"\#(id)","event":\#(event)}"#)
    }
    try await eventually { bob.events(of: id).count == 40 }
    let data = bob.messages("session.event").compactMap { ($0["event"] as? NSDictionary)?["data"] as? Int }
    #expect(data == Array(0..<40))
    #expect(ada.messages("session.seq").isEmpty, "no answer was asked for")
  }

  @Test(arguments: StoreKind.allCases)
  func `a socket that is gone misses what happens, and the next one begins where REST ends`(kind: StoreKind)
    async throws
  {
    let scene = try await SessionScene(kind)
    let id = try await scene.session("ada", "bob")
    let bob = try await scene.connect("bob")
    _ = await scene.append("1", to: id, by: "ada")
    try await eventually { bob.events(of: id).count == 1 }
    bob.hangUp()
    _ = await scene.append("2", to: id, by: "ada")
    let again = try await scene.connect("bob")
    let page = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?after=2", by: "bob")
    #expect(page.items.compactMap { $0["seq"] as? Int } == [3])
    _ = await scene.append("3", to: id, by: "ada")
    try await eventually { again.events(of: id).map(\.seq) == [4] }
    #expect(bob.events(of: id).map(\.seq) == [2])
  }

  @Test(arguments: StoreKind.allCases)
  func `lines end with their sessions at the door`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind)
    let bob = try await scene.connect("bob")
    #expect(scene.calls.rooms.sessions.counts.rooms == 1)
    bob.socket.say(#"{"type":"leave"}"#)
    try await eventually { scene.calls.rooms.sessions.counts.rooms == 0 }
  }
}
