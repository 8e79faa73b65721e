import AccessTokens
import Foundation
import HTTPServer
import Logging
import Model
import Rooms
import Storage
import Synchronization
import Testing

@testable import Gateway

/// A house whose rooms write to a store in memory.
private struct StoredHouse {
  let house: House
  let store: Store
  let journal: StoredJournal
  let running: Task<Void, Never>

  init(_ store: Store? = nil) async throws {
    let log = Log(level: .error) { _ in }
    if let store { self.store = store } else { self.store = try await Store.open(.memory, log: log) }
    journal = StoredJournal(store: self.store, log: log)
    let recovery = try await journal.recover()
    running = Task { [journal] in await journal.run() }
    house = try House(journal: journal)
    await house.directory.recover(recovery)
  }

  func run(_ statement: SQLStatement) async throws {
    try await store.write(bytes: 0) { transaction throws(StoreError) in _ = try transaction.run(statement) }
  }

  /// Nothing of events can be written until `mend`.
  func hurt() async throws { try await run("ALTER TABLE events RENAME TO events_away") }
  func mend() async throws { try await run("ALTER TABLE events_away RENAME TO events") }

  func count(_ statement: SQLStatement) async throws -> Int {
    Int(
      try await store.read { transaction throws(StoreError) in
        try transaction.run(statement).first?.integer(0) ?? -1
      })
  }
}

@Suite("REST: what is answered is stored", .timeLimit(.minutes(2)))
struct StoredRESTTests {
  /// In an order in which each works.
  private static let stored: [(method: HTTPMethod, path: String, body: String, status: Int, again: Int)] = [
    (.post, "/v1/rooms", #"{"name":"new"}"#, 201, 200),
    (.patch, "/v1/rooms/new", #"{"metadata":"m"}"#, 200, 200),
    (.delete, "/v1/rooms/new/participants/eve", "", 204, 204),
    (.delete, "/v1/rooms/new", "", 204, 404),
  ]

  @Test func `an answer waits until what it says is stored`() async throws {
    let stored = try await StoredHouse()
    defer { stored.running.cancel() }
    for (method, path, body, status, _) in Self.stored {
      let gate = OpenGate()
      let held = Task {
        try await stored.store.write(bytes: 1) { _ throws(StoreError) in gate.wait() }
      }
      while stored.store.report.waiting == 0 { await Task.yield() }
      let answer = Task { [house = stored.house] in
        let answer = await house.ask(method, path, body)
        gate.note()
        return answer
      }
      try await Task.sleep(for: .milliseconds(200))
      #expect(!gate.isNoted, "\(method) \(path)")
      gate.open()
      try await held.value
      #expect(await answer.value.status == status, "\(method) \(path)")
    }
  }

  @Test func `what was answered is there after the process has gone without a word`() async throws {
    let first = try await StoredHouse()
    let made = await first.house.ask(.post, "/v1/rooms", #"{"name":"r","metadata":"m","maxParticipants":3}"#)
    #expect(await first.house.ask(.patch, "/v1/rooms/r", #"{"departureTimeout":9}"#).status == 200)
    #expect(await first.house.ask(.post, "/v1/rooms", #"{"name":"closed"}"#).status == 201)
    #expect(await first.house.ask(.delete, "/v1/rooms/closed").status == 204)
    #expect(await first.house.ask(.delete, "/v1/rooms/r/participants/eve").status == 204)
    first.running.cancel()
    let second = try await StoredHouse(first.store)
    defer { second.running.cancel() }
    let room = await second.house.ask(.get, "/v1/rooms/r")
    #expect(
      room["id"] == made["id"] && room["createdAt"] == made["createdAt"]
        && room["metadata"] == "m" as NSString)
    #expect(room["departureTimeout"] == 9 as NSNumber && room["maxParticipants"] == 3 as NSNumber)
    #expect(await second.house.ask(.get, "/v1/rooms/closed").problem == "room-not-found")
    let token = House.token("eve", issued: House.now - 1) { $0 = Grants.join("r") }
    #expect(await second.house.upgrade(token, room: "r").problem == "token-removed")
    let events = await second.house.ask(.get, "/v1/rooms/r/events?after=1")
    #expect(events.items.map { $0["type"] as? String } == ["room.updated"])
    let closed = await second.house.ask(.get, "/v1/rooms/closed/events")
    #expect(closed.items.map { $0["type"] as? String } == ["room.started", "room.finished"])
  }

  @Test func `settings of who comes, and invitations as they were used, are there after that`() async throws {
    let first = try await StoredHouse()
    let history = #"{"topics":["chat"],"max":5,"seconds":60}"#
    #expect(
      await first.house.ask(
        .post, "/v1/rooms", #"{"name":"r","admission":true,"locked":true,"dataHistory":\#(history)}"#
      ).status == 201)
    func make(_ uses: Int) async -> House.Answer {
      await first.house.ask(
        .post, "/v1/rooms/r/invitations", #"{"ttl":600,"uses":\#(uses)}"#, token: House.host(of: "r"))
    }
    func open(_ made: House.Answer, of house: House) async -> House.Answer {
      let secret = made["invitation"] as? String ?? ""
      return await house.ask(.post, "/v1/invitations/open", #"{"invitation":"\#(secret)"}"#, token: nil)
    }
    let (twice, revoked) = (await make(2), await make(9))
    #expect(await open(twice, of: first.house).status == 200)
    let path = "/v1/rooms/r/invitations/\(revoked["id"] as? String ?? "")"
    #expect(await first.house.ask(.delete, path, token: House.host(of: "r")).status == 204)
    first.running.cancel()
    let second = try await StoredHouse(first.store)
    defer { second.running.cancel() }
    let room = await second.house.ask(.get, "/v1/rooms/r")
    #expect(room["admission"] == true as NSNumber && room["locked"] == true as NSNumber)
    #expect((room["dataHistory"] as? NSDictionary)?["max"] as? Int == 5)
    let listed = await second.house.ask(.get, "/v1/rooms/r/invitations")
    #expect(listed.items.map { $0["id"] as? String } == [twice["id"] as? String])
    #expect(await open(twice, of: second.house).status == 200)
    for made in [twice, revoked] {
      #expect(await open(made, of: second.house).problem == "invitation-not-found")
    }
    // With its room it goes from the database.
    #expect(await second.house.ask(.delete, "/v1/rooms/r").status == 204)
    #expect(try await second.count("SELECT count(*) FROM invitations") == 0)
  }

  @Test func `a host hears that one is refused once that is stored, and is heard meanwhile`() async throws {
    let stored = try await StoredHouse()
    defer { stored.running.cancel() }
    let house = stored.house
    try await house.makeAsking()
    let host = try await house.enterHost()
    let guest = try await house.wait("guest")
    let id = try #require(try await house.waiting()["guest"])
    let gate = OpenGate()
    let held = Task {
      try await stored.store.write(bytes: 1) { _ throws(StoreError) in gate.wait() }
    }
    while stored.store.report.waiting == 0 { await Task.yield() }
    host.socket.say(#"{"type":"admit","id":901,"waiting":"\#(id)","allowed":false}"#)
    host.socket.say(#"{"type":"ping","id":902}"#)
    var heard: [Int] = []
    while heard.last != 902 {
      let message = try await host.next()
      if let id = message["id"] as? Int { heard.append(id) }
    }
    #expect(heard == [902])
    #expect(try await guest.next("closed")["reason"] as? String == "removed", "it has waited for nothing")
    gate.open()
    try await held.value
    #expect(try await host.answer(to: 901)["type"] as? String == "ok")
    #expect(try await stored.count("SELECT count(*) FROM removals") == 1)

    try await stored.hurt()
    _ = try await house.wait("other")
    let other = try #require(try await house.waiting()["other"])
    host.socket.say(#"{"type":"admit","id":903,"waiting":"\#(other)","allowed":false}"#)
    let failed = try await host.answer(to: 903)
    #expect(failed["code"] as? String == "unavailable" && failed["retry"] as? String == "after")
    #expect(try await house.waiting().isEmpty)
    let path = "/v1/rooms/demo/participants/third/admit"
    _ = try await house.wait("third")
    #expect(await house.ask(.post, path, #"{"allowed":false}"#).problem == "not-stored")
    try await stored.mend()
  }

  @Test func `what can't be stored is answered by 503, holds, and is stored later`() async throws {
    let stored = try await StoredHouse()
    defer { stored.running.cancel() }
    let house = stored.house
    #expect(await house.ask(.post, "/v1/rooms", #"{"name":"before"}"#).status == 201)
    try await stored.hurt()
    for (method, path, body, _, _) in Self.stored.dropLast() {
      let answer = await house.ask(method, path, body)
      #expect(answer.status == 503 && answer.problem == "not-stored", "\(method) \(path)")
      #expect(Int(answer.headers["retry-after"] ?? "") ?? 0 > 0)
    }
    let there = await house.ask(.get, "/v1/rooms/new")
    #expect(there.status == 200 && there["metadata"] == "m" as NSString)
    // Those who are in a room notice nothing, and what stores nothing is done as ever.
    let ada = try await house.enter("ada", room: "new")
    #expect(try await ada.ask("ping")["type"] as? String == "pong")
    let track = try await ada.publish(.audio, as: "microphone")
    let participant = "/v1/rooms/new/participants/ada"
    #expect(await house.ask(.post, "\(participant)/tracks/\(track)/mute", #"{"muted":true}"#).status == 200)
    #expect(await house.ask(.patch, participant, #"{"metadata":"x"}"#).status == 200)
    #expect(await house.ask(.post, "/v1/rooms/new/data", #"{"payload":"aGk="}"#).status == 204)
    // What is refused has changed nothing.
    #expect(await house.ask(.delete, "/v1/rooms/none").problem == "room-not-found")
    #expect(await house.ask(.patch, "/v1/rooms/none", "{}").problem == "room-not-found")

    try await stored.mend()
    for (method, path, body, _, again) in Self.stored.dropLast() {
      var answer = await house.ask(method, path, body)
      for _ in 0..<20 where answer.status == 503 { answer = await house.ask(method, path, body) }
      #expect(answer.status == again, "\(method) \(path)")
    }
    #expect(try await stored.count("SELECT count(*) FROM lives") == 2)
    #expect(try await stored.count("SELECT count(*) FROM removals") == 1)
    #expect(try await stored.count("SELECT count(*) FROM participants") == 1)
    #expect(await house.ask(.delete, "/v1/rooms/new").status == 204)
    #expect(try await stored.count("SELECT count(*) FROM participants") == 0)
  }

  @Test
  func `each request whose effect outlives the process is stored before its answer, and no other waits`() {
    let waiting = RESTOperation.all.filter(\.isStored).map { "\($0.method.rawValue) \($0.path)" }
    #expect(
      waiting == [
        "POST /v1/rooms", "PATCH /v1/rooms/{room}", "DELETE /v1/rooms/{room}",
        "DELETE /v1/rooms/{room}/participants/{identity}",
        "POST /v1/rooms/{room}/invitations", "DELETE /v1/rooms/{room}/invitations/{invitation}",
        "POST /v1/invitations/open",
      ])
  }
}

/// Holds a store's thread, and notes what comes too early.
private final class OpenGate: Sendable {
  private let isOpen = Atomic<Bool>(false)
  private let noted = Atomic<Bool>(false)

  func wait() { for _ in 0..<20_000 where !isOpen.load(ordering: .acquiring) { usleep(1_000) } }
  func open() { isOpen.store(true, ordering: .releasing) }
  func note() { noted.store(true, ordering: .releasing) }
  var isNoted: Bool { noted.load(ordering: .acquiring) }
}
