import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import Synchronization
import TestStores
import Testing

@testable import Gateway

@Suite("REST: what is read of calls costs what it has", .timeLimit(.minutes(2)))
struct CallChargeTests {
  private final class Sum: Sendable {
    let units = Mutex(0)
    /// What was charged for events that were read.
    let read = Mutex<[Int]>([])
    var readings: Int { read.withLock { $0.reduce(0, +) } }
  }

  /// - Parameters:
  ///   - most: what people can pay before something is done.
  ///   - mostRead: what they can read of events before something is owed: a thousand seconds.
  private func door(
    _ calls: CallHouse, _ sum: Sum, most: Int = .max, mostRead: Int = .max
  ) -> CallDoor {
    CallDoor(
      desk: calls.desk, rooms: calls.rooms, crossOrigin: CrossOrigin(),
      tokens: CallTokens(keys: ["APIkey": House.secret], now: { House.now }), iceServers: { _ in [] },
      verify: { text throws(AccessTokenRefusal) in
        try AccessToken(verifying: text, keys: ["APIkey": House.secret], now: House.now)
      },
      charge: { units, _ in
        sum.units.withLock { sum -> Duration in
          guard sum + units <= most else { return .seconds(1) }
          sum += units
          return .zero
        }
      },
      owe: { units, _ in sum.units.withLock { $0 += units } },
      readings: ReadingBudgets(
        charge: { units, _, _ in
          sum.read.withLock { read in
            read.append(units)
            return ReadingDebt(ofDevice: read.reduce(0, +) > mostRead ? .seconds(1_000) : .zero)
          }
        },
        take: { units, _, _ in
          sum.read.withLock { read in
            guard read.reduce(0, +) + units <= mostRead else { return .seconds(1) }
            read.append(units)
            return .zero
          }
        }),
      publicURL: nil, authorizer: nil, isDirectoryOpen: true, wallMilliseconds: { calls.desk.now.wall })
  }

  private func request(_ path: String, by token: String, stream: Bool = false) -> HTTPRequest {
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    var request = HTTPRequest(
      method: .get, path: parts[0], query: parts.count > 1 ? parts[1] : "",
      headers: ["host": "relay.example", "authorization": "Bearer \(token)"])
    if stream { request.headers.add("accept", "text/event-stream") }
    return request
  }

  /// The answer to a request, and its cost: the units of the request itself, and the bytes of events read.
  private func read(
    _ path: String, by person: String, _ calls: CallHouse, most: Int = .max, mostRead: Int = .max
  ) async throws -> (answer: HTTPResponse, units: Int, readings: Int) {
    let sum = Sum()
    let request = request(path, by: CallHouse.token(person))
    let door = door(calls, sum, most: most, mostRead: mostRead)
    let answer = try #require(await door.response(to: request))
    return (answer, sum.units.withLock { $0 }, sum.readings)
  }

  @Test(arguments: StoreKind.allCases)
  func `signals cost what they have: a part before they are read, and the rest behind that in any case`(
    kind: StoreKind
  ) async throws {
    var terms = CallDeskTerms()
    terms.signals = 3
    let calls = try await CallHouse(terms, on: kind)
    let (id, _) = await calls.start("ada", "bob")
    func send() async -> Int {
      let payload = String(repeating: "A", count: 80_000)
      let body = #"{"id":"\#(UUID().uuidString)","to":"bob","kind":"offer","payload":"\#(payload)"}"#
      return await calls.ask(.post, "/v1/calls/\(id)/signals", body, by: "ada").status
    }
    for _ in 0..<3 { #expect(await send() == 201) }
    let path = "/v1/calls/events?after=0&limit=9"
    // What is refused has cost the request, and nothing was read.
    let broke = try await read(path, by: "bob", calls, mostRead: 9_000)
    #expect(broke.answer.status == 429 && broke.units == CallDoor.price && broke.readings == 0)
    // They wait for bob still.
    #expect(await send() == 429)
    // What turns out to be more than can be paid is done by then: it is given, and owed. The request costs as ever, and no more.
    let poor = try await read(path, by: "bob", calls, mostRead: 10_000)
    #expect(poor.answer.status == 200 && poor.answer.body.count > 240_000)
    #expect(poor.readings == poor.answer.body.count && poor.units == CallDoor.price)
    // What was sent within two seconds waits in any case.
    calls.clock.move(2_000)
    #expect(await send() == 201)
  }

  @Test(arguments: StoreKind.allCases)
  func `a page of events has no one owe more than comes in a second`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    let payload = String(repeating: "A", count: 80_000)
    for _ in 0..<9 {
      let body = #"{"id":"\#(UUID().uuidString)","to":"bob","kind":"offer","payload":"\#(payload)"}"#
      #expect(await calls.ask(.post, "/v1/calls/\(id)/signals", body, by: "ada").status == 201)
    }
    let page = try await read("/v1/calls/events?after=0&limit=20", by: "bob", calls)
    #expect(page.answer.status == 200 && page.answer.body.count > 700_000)
    #expect(page.readings == 20 * CallDoor.pricePerItem + CallDoor.mostBehindPage)
    #expect(Double(CallDoor.mostBehindPage) <= IntakeBudget.rate)
  }

  @Test(arguments: StoreKind.allCases)
  func
    `a stream costs what it reads, as pages do, and waits for a second where that is more than can be paid`(
      kind: StoreKind
    ) async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    func send() async {
      let payload = String(repeating: "A", count: 80_000)
      let body = #"{"id":"\#(UUID().uuidString)","to":"bob","kind":"offer","payload":"\#(payload)"}"#
      #expect(await calls.ask(.post, "/v1/calls/\(id)/signals", body, by: "ada").status == 201)
    }
    for _ in 0..<3 { await send() }
    let sum = Sum()
    let door = door(calls, sum, mostRead: 200_000)
    let asked = request("/v1/calls/events?after=0&device=phone", by: CallHouse.token("bob"), stream: true)
    let opened = try #require(await door.response(to: asked))
    let listener = try #require(EventListener(opened))
    // Its clock goes on with each look: it looks again once they are read.
    var heard = listener.events()
    try await eventually("they are read") { sum.read.withLock { $0.count } == 2 }
    try await eventually("the signals") {
      heard += listener.events()
      return heard.count == 4
    }
    let read = sum.read.withLock { $0 }
    #expect(read.reduce(0, +) >= heard.reduce(0) { $0 + $1.data.utf8.count })
    // A request costs as ever, and nothing of what the stream has read.
    #expect(sum.units.withLock { $0 } == CallDoor.price)
    // It looks at the fourth in a second: had it asked already, it would wait for its next comment.
    await send()
    var waits = Duration.seconds(60)
    try await eventually("it knows of the fourth") {
      #expect(listener.events().isEmpty)
      waits = listener.untilWoken
      return waits <= ReadingPace.patience
    }
    #expect(waits > .zero && sum.read.withLock { $0 } == read)
    // Another of the same device waits from the start, which isn't for ever either.
    let second = try #require(await door.response(to: asked))
    let other = try #require(EventListener(second))
    #expect(other.events().isEmpty && other.untilWoken == ReadingPace.patience)
    for each in [listener, other] {
      each.advance(by: ReadingPace.patience)
      try await eventually("the fourth") { each.events().contains { $0.type == "call.signal" } }
    }
  }

  @Test func `what a token isn't for costs the request`() async throws {
    let calls = try await CallHouse()
    let (sum, room) = (Sum(), House.token("eve") { $0 = .join("demo") })
    let answer = try #require(
      await door(calls, sum).response(to: request("/v1/calls?limit=200", by: room)))
    #expect(answer.status == 403 && sum.units.withLock { $0 } == CallDoor.price)
  }

  @Test(arguments: StoreKind.allCases)
  func `sessions and calls that are listed cost what they have`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let ada = Caller(PersonID("ada"), name: "Ada", device: DeviceID("ada1"), apiKey: "APIkey")
    let metadata = #","metadata":"\#(String(repeating: "m", count: 4_096))""#
    for person in ["bob", "eve", "kim"] {
      let (id, started) = await calls.start("ada", person, more: metadata)
      #expect(started.status == 201)
      #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada").status == 200)
    }
    let (id, _) = await calls.start("ada", "bob")
    let call = try #require(CallUUID(id))
    for number in 0..<15 {
      let session = try #require(CallUUID(SessionScene.uuid()))
      _ = try await calls.desk.startSession(
        session, in: call, experience: "\(String(repeating: "x", count: 120))\(number)", by: ada)
    }
    for path in ["/v1/calls/\(id)/sessions", "/v1/calls?limit=4"] {
      let (answer, units, _) = try await read(path, by: "ada", calls)
      #expect(answer.status == 200 && answer.body.count > 4_500, "\(path)")
      #expect(units >= answer.body.count, "\(path): \(answer.body.count) bytes for \(units)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `events and snapshots of sessions are read where they are paid for before`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let ada = Caller(PersonID("ada"), name: "Ada", device: DeviceID("ada1"), apiKey: "APIkey")
    let (id, _) = await calls.start("ada", "bob")
    let (call, session) = (try #require(CallUUID(id)), try #require(CallUUID(SessionScene.uuid())))
    _ = try await calls.desk.startSession(session, in: call, experience: "story", by: ada)
    let text = Array(#""\#(String(repeating: "x", count: 100_000))""#.utf8)
    try await calls.desk.keepSnapshot(
      SharedSnapshot(seq: 0, people: Array(#"{"participants":[]}"#.utf8), state: text), of: session, in: call,
      by: ada)
    for (path, least) in [("snapshot", 100_000), ("events?limit=20", 20 * CallDoor.pricePerShortItem)] {
      let place = "/v1/calls/\(id)/sessions/\(session.text)/\(path)"
      let broke = try await read(place, by: "ada", calls, most: CallDoor.price + least - 1)
      #expect(broke.answer.status == 429 && broke.units == CallDoor.price, "\(path)")
      let paid = try await read(place, by: "ada", calls)
      #expect(paid.answer.status == 200 && paid.units >= CallDoor.price + least, "\(path)")
      #expect(paid.units >= paid.answer.body.count, "\(path)")
    }
  }

  @Test func `all who read events are paid for where they are put in order, however few are shown`()
    async throws
  {
    let calls = try await CallHouse()
    let feeds = (0..<1_000).map { calls.rooms.feeds.feed(of: PersonID("reader\($0)")) }
    let path = "/v1/people?limit=1"
    let all = try await read(path, by: "ada", calls)
    let online = try await read("\(path)&online=true", by: "ada", calls)
    #expect(all.answer.status == 200 && online.answer.status == 200)
    #expect(online.units == all.units + 1_000 * CallDoor.pricePerReader)
    withExtendedLifetime(feeds) {}
  }

  @Test func `no answer costs more behind it than a person may save up for`() {
    let most = CallDoor.mostBehindAnswer + CallDoor.price + 200 * CallDoor.pricePerItem
    #expect(Double(most + 1_000 * CallDoor.pricePerShortItem) + 3 * IntakeBudget.message < IntakeBudget.burst)
  }
}
