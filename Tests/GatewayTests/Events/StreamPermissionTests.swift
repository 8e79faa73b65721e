import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import Synchronization
import Testing

@testable import Gateway

@Suite("Who may read events as they happen, and how long", .timeLimit(.minutes(2)))
struct StreamPermissionTests {
  private static let paths = ["/v1/rooms/demo/events", "/v1/events"]

  private static func token(
    _ identity: String? = "watcher", room: String? = "demo", expires: Int = House.now + 600,
    issued: Int? = House.now - 5
  ) -> String {
    House.token(identity, issued: issued, expires: expires) {
      $0.room = room
      $0.roomList = true
      $0.roomAdmin = true
    }
  }

  @Test func `a token in the header alone opens one, and only with the grant for it`() async throws {
    let house = try House()
    try await house.room()
    for path in Self.paths {
      #expect(await house.listen(path, token: nil).status == 401)
      #expect(await house.listen("\(path)?access_token=\(House.admin)", token: nil).status == 401)
      #expect(await house.listen(path, token: House.token()).problem == "token-not-for-this")
      #expect(await house.listen(path, token: Self.token(expires: House.now - 61)).problem == "token-expired")
      #expect(await house.listen(path, token: Self.token()).status == 200)
    }
    let list = House.token { $0.roomList = true }
    #expect(await house.listen(Self.paths[0], token: list).status == 403)
    #expect(await house.listen(Self.paths[1], token: list).status == 200)
    let admin = House.token {
      $0.room = "demo"
      $0.roomAdmin = true
    }
    #expect(await house.listen(Self.paths[0], token: admin).status == 200)
    #expect(await house.listen(Self.paths[1], token: admin).status == 403)
    try await house.room("other")
    #expect(await house.listen("/v1/rooms/other/events", token: admin).status == 403)
  }

  @Test(arguments: Self.paths)
  func `it ends when its token does, a minute of leeway included, at the moment that it has asked for`(
    path: String
  ) async throws {
    let wall = WallClock(House.now)
    let house = try House { $0.now = { wall.now } }
    try await house.room()
    let token = Self.token(expires: wall.now - 52)
    let listener = try await house.listener(path, token: token)
    #expect(listener.events().count == 1)
    let asked = listener.wakesAt
    wall.advance(by: 7)
    try await house.update()
    #expect(listener.events().map(\.type) == ["room.updated"])
    #expect(listener.wakesAt <= asked)
    wall.advance(by: 1)
    try await house.update()
    let events = listener.events()
    #expect(events.map(\.type) == ["end"] && events[0].json == ["reason": "tokenExpired"] && listener.isOver)
    #expect(await house.listen(path, token: token).problem == "token-expired")
  }

  @Test(arguments: Self.paths)
  func
    `it ends when its holder is removed from the room, though it was never in it, and is looked at for that`(
      path: String
    ) async throws
  {
    let house = try House()
    try await house.room()
    let listener = try await house.listener(path, token: Self.token())
    #expect(!listener.source.mustEnd(now: Instant(nanoseconds: 0)))
    let others = [
      try await house.listener(path, token: Self.token("another")),
      try await house.listener(path, token: Self.token(room: "*")),
      try await house.listener(path, token: Self.token(issued: House.now + 50)),
    ]
    for each in others + [listener] { #expect(each.events().count == 1) }
    #expect(await house.ask(.delete, "/v1/rooms/demo/participants/watcher").status == 204)
    #expect(listener.source.mustEnd(now: Instant(nanoseconds: 0)), "also while its client takes nothing")
    try await house.update()
    let events = listener.events()
    #expect(events.map(\.type) == ["end"] && events[0].json == ["reason": "removed"] && listener.isOver)
    let refused = await house.listen(path, token: Self.token())
    #expect(refused.status == 403 && refused.problem == "token-removed")
    // Those of another name, of a token that is newer, and of one for every room, as far as that is not this room's.
    #expect(others[0].events().count == 1 && others[2].events().count == 1)
    #expect(others[1].events().first?.type == (path == "/v1/events" ? "room.updated" : "end"))
  }

  @Test func `a removal has those look who read the room or all rooms, and none who read others`()
    async throws
  {
    let house = try House()
    let ids = [try await house.room("demo"), try await house.room("other")]
    let looks = Looks()
    let log = house.directory.events
    let demo = try log.events(of: "demo", after: nil).room.id
    let other = try log.events(of: "other", after: nil).room.id
    let watches = [
      log.watch(demo) { looks.note("demo") }, log.watch(other) { looks.note("other") },
      log.watch { looks.note("all") },
    ]
    #expect(await house.ask(.delete, "/v1/rooms/demo/participants/somebody").status == 204)
    #expect(looks.taken() == ["all", "demo"])
    await house.directory.drain(for: .seconds(9))
    #expect(looks.taken() == ["all", "demo", "other"])
    #expect(watches.count == 3 && ids.count == 2)
  }

  @Test func `a draining server says so once, begins none, and ends with all that happened`() async throws {
    let house = try House()
    try await house.room()
    _ = try await house.enter("ada")
    let (one, all) = (try await house.listener(), try await house.listener("/v1/events"))
    for listener in [one, all] { _ = listener.events() }
    await house.directory.drain(for: .seconds(30))
    let deadline = try #require(house.directory.drainDeadline).text
    for listener in [one, all] {
      let events = listener.events()
      #expect(events.map(\.type) == ["draining"] && events[0].json == ["deadline": deadline as NSString])
      #expect(listener.events().isEmpty && !listener.isOver)
    }
    for path in Self.paths {
      let refused = await house.listen(path)
      #expect(refused.status == 503 && refused.problem == "draining" && refused.headers["retry-after"] == "5")
      #expect(refused.headers["access-control-allow-origin"] == "*")
    }
    await house.directory.close()
    let end = ["participant.left", "room.finished", "end"]
    #expect(one.events(ending: .shutdown).map(\.type) == end && one.isOver)
    let last = all.events(ending: .shutdown)
    #expect(last.map(\.type) == end && last.last?.json == ["reason": "serverShutdown"])
    #expect(all.isOver)
  }

  @Test func `one that takes nothing is given the reason and nothing else`() async throws {
    let house = try House()
    try await house.room(updates: 50)
    let listener = try await house.listener()
    let events = listener.events(ending: .stalled)
    #expect(events.map(\.type) == ["end"] && events[0].json == ["reason": "tooSlow"] && listener.isOver)
  }

  @Test
  func
    `the client's words for what it takes decide between a page and a stream, and HEAD begins none of its own`()
    async throws
  {
    let house = try House()
    try await house.room()
    for path in Self.paths {
      for accept in [
        "*/*", "application/json", "text/*", "application/json, text/event-stream;q=0.9",
        "text/event-stream;q=0",
      ] {
        let page = await house.respond(.get, path, headers: [("accept", accept)])
        #expect(page.stream == nil && page.headers["content-type"] == "application/json", "\(accept)")
        #expect(page.headers["vary"] == "accept")
      }
      for accept in [
        "text/event-stream", "Text/Event-Stream; charset=utf-8", "text/event-stream, */*",
        "*/*, text/event-stream",
      ] {
        let stream = await house.respond(.get, path, headers: [("accept", accept)])
        #expect(stream.stream != nil && stream.headers["content-type"] == "text/event-stream", "\(accept)")
      }
      let head = await house.listen(path, method: .head)
      #expect(head.status == 200 && head.headers["content-type"] == "text/event-stream")
    }
  }
}

/// Who was called, in the order of names.
private final class Looks: Sendable {
  private let names = Mutex<[String]>([])
  func note(_ name: String) { names.withLock { $0.append(name) } }
  func taken() -> [String] {
    names.withLock { names in
      defer { names = [] }
      return Set(names).sorted()
    }
  }
}
