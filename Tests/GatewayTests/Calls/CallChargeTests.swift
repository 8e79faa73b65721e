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
  private final class Sum: Sendable { let units = Mutex(0) }

  /// The answers that a person gets, and their cost.
  /// - Parameter most: what it can pay.
  private func read(
    _ path: String, by person: String, _ calls: CallHouse, most: Int = .max
  ) async throws -> (answer: HTTPResponse, units: Int) {
    let sum = Sum()
    let door = CallDoor(
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
      publicURL: nil, authorizer: nil, isDirectoryOpen: true, wallMilliseconds: { calls.desk.now.wall })
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    let request = HTTPRequest(
      method: .get, path: parts[0], query: parts.count > 1 ? parts[1] : "",
      headers: ["host": "relay.example", "authorization": "Bearer \(CallHouse.token(person))"])
    let answer = try #require(await door.response(to: request))
    return (answer, sum.units.withLock { $0 })
  }

  @Test(arguments: StoreKind.allCases)
  func `signals cost what they have, and are heard only where they are paid for`(kind: StoreKind) async throws
  {
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
    let poor = try await read(path, by: "bob", calls, most: 100_000)
    #expect(poor.answer.status == 429 && poor.units <= 100_000)
    // They wait for bob still.
    #expect(await send() == 429)
    let rich = try await read(path, by: "bob", calls)
    #expect(rich.answer.status == 200 && rich.answer.body.count > 240_000)
    #expect(rich.units >= rich.answer.body.count)
    #expect(await send() == 201)
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
      let (answer, units) = try await read(path, by: "ada", calls)
      #expect(answer.status == 200 && answer.body.count > 4_500, "\(path)")
      #expect(units >= answer.body.count, "\(path): \(answer.body.count) bytes for \(units)")
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
