import AccessTokens
import Engine
import Foundation
import HTTPServer
import Model
import Rooms
import Synchronization
import Testing

@testable import Gateway

@Suite("REST: statistics", .timeLimit(.minutes(2)))
struct StatisticsRESTTests {
  private static let path = "/v1/statistics"

  private func house(_ adjust: (inout GatewayConfiguration) -> Void = { _ in }) throws -> House {
    try House { configuration in
      configuration.version = "1.2.3"
      configuration.statisticsPace = .milliseconds(20)
      adjust(&configuration)
    }
  }

  private static func token(
    _ identity: String? = "desk", room: String? = "demo", lists: Bool = true, expires: Int = House.now + 600
  ) -> String {
    House.token(identity, issued: House.now - 5, expires: expires) {
      $0.room = room
      $0.roomList = lists
      $0.roomAdmin = true
    }
  }

  @Test func `the server says how it does, and its rooms, again and again`() async throws {
    let house = try house()
    for name in ["beta", "alpha"] { try await house.room(name) }
    _ = try await house.enter("ada", room: "beta").publish(.audio, as: "microphone")
    let listener = try await house.listener(Self.path)
    let first = try await listener.figures()
    #expect(first["version"] as? String == "1.2.3" && first["startedAt"] is String)
    #expect(first["rooms"] as? Int == 2 && first["participants"] as? Int == 1)
    let workers = try #require(first["workers"] as? [NSDictionary])
    #expect(
      workers.count == 1 && workers[0]["worker"] as? Int == 0 && workers[0]["answered"] as? Bool == true)
    let items = try #require(first["items"] as? [NSDictionary])
    #expect(items.map { $0["name"] as? String } == ["alpha", "beta"] && first["hasMore"] as? Bool == false)
    #expect(items[1]["participants"] as? Int == 1 && items[1]["tracks"] as? Int == 1)
    // What it does is at work in some of a second.
    var load: Double?
    for _ in 2..<400 where load == nil {
      let next = try await listener.figures()
      load = (next["workers"] as? [NSDictionary])?.first?["load"] as? Double
    }
    let share = try #require(load)
    #expect((0...1).contains(share))
    #expect(!listener.isOver)
  }

  @Test func `rooms are found, put into order and cut off as in their list`() async throws {
    let house = try house()
    for name in ["beta", "alpha", "gamma"] { try await house.room(name) }
    _ = try await house.enter("ada", room: "gamma")
    for (query, names, hasMore) in [
      ("?sort=-participants&limit=1", ["gamma"], true), ("?search=ALPH", ["alpha"], false),
      ("?sort=created", ["beta", "alpha", "gamma"], false),
    ] {
      let found = try await house.listener("\(Self.path)\(query)").figures()
      let items = try #require(found["items"] as? [NSDictionary])
      #expect(
        items.map { $0["name"] as? String } == names && found["hasMore"] as? Bool == hasMore, "\(query)")
      #expect(found["rooms"] as? Int == 3)
      let listed = await house.ask(.get, "/v1/rooms\(query)")
      #expect(listed.items.map { $0["name"] as? String } == names && (listed["next"] != nil) == hasMore)
    }
    for query in ["sort=beauty", "sort=", "limit=0", "limit=101", "every=1", "every=61", "every=x"] {
      let refused = await house.ask(.get, "\(Self.path)?\(query)")
      #expect(refused.status == 400 && refused.problem == "query", "\(query)")
    }
    let long = String(repeating: "a", count: 129)
    #expect(await house.ask(.get, "/v1/rooms?search=\(long)").problem == "query")
    #expect(await house.ask(.get, "/v1/rooms?sort=-sent&after=YQ").problem == "query")
  }

  @Test func `pages of a list in another order follow each other`() async throws {
    let house = try house()
    for name in ["a", "b", "c", "d"] { try await house.room(name) }
    for identity in ["ada", "bob"] { _ = try await house.enter(identity, room: "c") }
    var (found, next): ([String], String?) = ([], nil)
    repeat {
      let page = await house.ask(
        .get, "/v1/rooms?sort=-participants&limit=1" + (next.map { "&after=\($0)" } ?? ""))
      found += page.items.compactMap { $0["name"] as? String }
      next = page["next"] as? String
    } while next != nil
    #expect(found == ["c", "d", "b", "a"])
    let people = await house.ask(.get, "/v1/rooms/c/participants?sort=-joined&limit=1")
    let rest = await house.ask(
      .get, "/v1/rooms/c/participants?sort=-joined&after=\(people["next"] as? String ?? "")")
    #expect((people.items + rest.items).map { $0["identity"] as? String } == ["bob", "ada"])
  }

  @Test func `a room's people and their tracks are in the figures of those who may run it`() async throws {
    let house = try house()
    let ada = try await house.enter("ada")
    let camera = try await ada.publish(.video, as: "camera")
    _ = try await house.enter("ghost") { $0.hidden = true }
    let token = House.token {
      ($0.room, $0.roomAdmin) = ("demo", true)
    }
    let listener = try await house.listener("\(Self.path)?room=demo", token: token)
    let found = try await listener.figures()
    let room = try #require(found["room"] as? NSDictionary)
    #expect(room["name"] as? String == "demo" && room["participants"] as? Int == 2)
    let items = try #require(found["items"] as? [NSDictionary])
    #expect(items.map { $0["identity"] as? String } == ["ada", "ghost"])
    #expect(items.map { $0["hidden"] as? Bool } == [false, true])
    let tracks = try #require(items[0]["tracks"] as? [NSDictionary])
    #expect(tracks.map { $0["id"] as? String } == [camera] && tracks[0]["codec"] == nil)
    // A mute is in the next.
    #expect(
      await house.ask(
        .post, "/v1/rooms/demo/participants/ada/tracks/\(camera)/mute", #"{"muted":true}"#
      ).status == 200)
    var isMuted = false
    for _ in 2..<200 where !isMuted {
      let next = try await listener.figures()
      let items = next["items"] as? [NSDictionary] ?? []
      isMuted = (items.first?["tracks"] as? [NSDictionary])?.first?["mutedByAdmin"] as? Bool == true
    }
    #expect(isMuted)
  }

  @Test func `those who are asked for by their ids are in the figures, wherever they stand`() async throws {
    let house = try house()
    var ids: [String] = []
    for identity in ["ada", "bob", "cid", "dan"] { ids.append(try await house.enter(identity).id) }
    for (query, found, hasMore) in [
      ("limit=1", ["ada"], true), ("limit=1&include=\(ids[3])", ["ada", "dan"], true),
      ("limit=1&include=\(ids[0]),\(ids[2])", ["ada", "cid"], true),
      ("limit=3&include=\(ids[3])", ["ada", "bob", "cid", "dan"], false),
      ("search=none&include=\(ids[1]),\(ids[1])", ["bob"], false),
      ("limit=1&include=PA_000000000000", ["ada"], true),
    ] {
      let figures = try await house.listener("\(Self.path)?room=demo&\(query)", token: Self.token()).figures()
      let items = try #require(figures["items"] as? [NSDictionary])
      #expect(items.map { $0["identity"] as? String } == found, "\(query)")
      #expect(figures["hasMore"] as? Bool == hasMore, "\(query)")
    }
    let many = (0..<9).map { "PA_00000000000\($0)" }.joined(separator: ",")
    for wrong in ["", "PA_", "ada", "\(ids[0]),", "\(ids[0])x", "PA_%C3%A9%C3%A90000000000", many] {
      let refused = await house.ask(.get, "\(Self.path)?room=demo&include=\(wrong)")
      #expect(refused.status == 400 && refused.problem == "query", "\(wrong)")
      #expect(refused.detail?.contains("at most 8 participants") == true)
    }
    #expect(await house.ask(.get, "\(Self.path)?include=\(ids[0])").problem == "query", "of no room")
  }

  @Test func `a token opens what it may list or run, and nothing else`() async throws {
    let house = try house()
    try await house.room()
    try await house.room("other")
    let lists = House.token { $0.roomList = true }
    let runs = House.token { ($0.room, $0.roomAdmin) = ("demo", true) }
    let runsAll = House.token { ($0.room, $0.roomAdmin) = ("*", true) }
    for (query, token, status) in [
      ("", lists, 200), ("?room=demo", lists, 403), ("", runs, 403), ("?room=demo", runs, 200),
      ("?room=other", runs, 403), ("", runsAll, 403), ("?room=other", runsAll, 200),
      ("?room=none", runsAll, 404),
      ("?room=*", runsAll, 400), ("?room=", runsAll, 400), ("?room=demo", House.token(), 403),
    ] {
      let answer = await house.ask(.get, "\(Self.path)\(query)", token: token)
      #expect(answer.status == status, "\(query) \(answer.text)")
    }
    #expect(await house.ask(.get, Self.path, token: nil).status == 401)
    #expect(await house.ask(.post, Self.path, "{}").status == 405)
  }

  @Test func `it ends with its token, its holder, its room and its server, each by its name`() async throws {
    let wall = WallClock(House.now)
    let house = try house { $0.now = { wall.now } }
    try await house.room()
    let expiring = try await house.listener(Self.path, token: Self.token(expires: wall.now - 52))
    let removed = try await house.listener("\(Self.path)?room=demo", token: Self.token("guard"))
    let lasting = try await house.listener("\(Self.path)?room=demo", token: Self.token(nil))
    for listener in [expiring, removed, lasting] { _ = try await listener.figures() }
    #expect(await house.ask(.delete, "/v1/rooms/demo/participants/guard").status == 204)
    #expect(removed.source.mustEnd(now: Instant(nanoseconds: 0)))
    #expect(removed.events().map(\.data) == [#"{"reason":"removed"}"#] && removed.isOver)
    wall.advance(by: 8)
    #expect(expiring.events().map(\.data) == [#"{"reason":"tokenExpired"}"#] && expiring.isOver)
    let all = try await house.listener(Self.path, token: Self.token(nil))
    #expect(await house.ask(.delete, "/v1/rooms/demo").status == 204)
    try await lasting.waits(for: .max)
    #expect(lasting.events().last?.data == #"{"reason":"roomFinished"}"# && lasting.isOver)
    _ = try await all.figures()
    await house.directory.drain(for: .seconds(30))
    let said = all.events()
    #expect(said.map(\.type).contains("draining") && !all.isOver)
    #expect(await house.ask(.get, Self.path).problem == "draining")
    #expect(all.events(ending: .shutdown).last?.data == #"{"reason":"serverShutdown"}"# && all.isOver)
    #expect(all.events().isEmpty)
  }

  @Test func `of one identity there are four, of all together sixty-four, and each leaves its place`()
    async throws
  {
    let house = try house()
    func open(_ holder: Int) async -> HTTPResponse {
      await house.respond(.get, Self.path, token: Self.token("holder \(holder)"))
    }
    var readers: [HTTPResponse] = []
    // Whichever of one's tokens they come with.
    for number in 0..<FigureReaders.ofOne {
      let token = Self.token("holder 0", expires: House.now + 300 + number)
      readers.append(await house.respond(.get, Self.path, token: token))
    }
    #expect(readers.allSatisfy { $0.status == 200 && $0.stream != nil })
    let fifth = await open(0)
    #expect(fifth.status == 429 && fifth.stream == nil && fifth.headers["retry-after"] == "5")
    #expect(String(decoding: fifth.body, as: UTF8.self).contains("too-many-streams"))
    for holder in 1..<16 {
      for _ in 0..<4 { readers.append(await open(holder)) }
    }
    #expect(readers.count == FigureReaders.most && readers.allSatisfy { $0.status == 200 })
    let late = await open(99)
    #expect(late.status == 503 && String(decoding: late.body, as: UTF8.self).contains("full"))
    let figures = try #require(house.gateway.rest?.figures)
    #expect(figures.readers.count == FigureReaders.most)
    // All of them have the same view, which is made once.
    #expect(figures.feeds.count == 1)
    readers.removeAll()
    #expect(figures.readers.count == 0)
    for _ in 0..<500 where figures.feeds.count > 0 { try await Task.sleep(for: .milliseconds(2)) }
    #expect(figures.feeds.count == 0)
    #expect(await open(0).status == 200)
  }

  @Test func `those who run a room leave a part of the places to those who run the server`() throws {
    let readers = FigureReaders()
    var seats: [FigureReaders.Seat] = []
    for holder in 0..<48 { seats.append(try readers.take(holder / 4, isOperator: false)) }
    #expect(throws: FigureReaders.Full.all) { _ = try readers.take(99, isOperator: false) }
    for holder in 0..<16 { seats.append(try readers.take(100 + holder / 4, isOperator: true)) }
    #expect(throws: FigureReaders.Full.all) { _ = try readers.take(200, isOperator: true) }
    seats.removeLast()
    #expect(throws: FigureReaders.Full.all) { _ = try readers.take(99, isOperator: false) }
    seats.removeFirst()
    seats.append(try readers.take(99, isOperator: false))
    #expect(readers.count == 63)
  }

  @Test func `a view that no one reads yet costs what a list does, and one that is made nothing`()
    async throws
  {
    let clock = StandingClock()
    let house = try House(clock: clock) { $0.statisticsPace = .milliseconds(20) }
    try await house.room()
    let token = Self.token()
    func open(_ query: String, _ text: String) async -> Int {
      await house.respond(.get, "\(Self.path)?room=demo\(query)", token: text).status
    }
    let held = await house.respond(.get, "\(Self.path)?room=demo", token: token)
    #expect(held.status == 200)
    var made = 0
    while made < 300, await open("&limit=100&search=\(made)", token) == 200 { made += 1 }
    // Of 200,000 looks one has cost 510, and each other 1,010.
    #expect(made == 197)
    let refused = await house.ask(.get, "\(Self.path)?room=demo&limit=100&search=x", token: token)
    #expect(refused.problem == "rate-limited" && refused.headers["retry-after"] == "1")
    #expect(await open("", token) == 200 && held.stream != nil, "it is made for another")
    #expect(await open("&limit=100&search=y", Self.token("other")) == 200)
    clock.advance(by: .seconds(1))
    #expect(await open("&limit=100&search=z", token) == 200)
  }

  @Test func `rooms are listed as often as their number allows`() {
    let pace = ListPace()
    let now = Instant(nanoseconds: 1_000_000_000)
    #expect((0..<10).allSatisfy { _ in pace.take(1, looks: 20_000, now: now) })
    #expect(!pace.take(1, looks: 20_000, now: now) && pace.take(2, looks: 20_000, now: now))
    #expect(pace.take(1, looks: 20_000, now: now + .milliseconds(400)))
    // More than there ever is at once takes all of it.
    #expect(pace.take(3, looks: 9_000_000, now: now) && !pace.take(3, looks: 1_000, now: now))
  }
}
