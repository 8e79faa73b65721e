import CallDesk
import Calls
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite("REST: who is listed as online", .timeLimit(.minutes(2)))
struct CallDirectoryTests {
  private func read(_ calls: CallHouse, by person: String) async -> HTTPResponse {
    await calls.house.respond(
      .get, "/v1/calls/events?device=d", "", token: CallHouse.token(person),
      headers: [("accept", "text/event-stream")])
  }

  private func ids(_ answer: House.Answer) -> [String] { answer.items.compactMap { $0["id"] as? String } }

  @Test(arguments: StoreKind.allCases)
  func `one that is erased and reads on isn't listed, and leaves no gap in the pages of others`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind, isDirectoryOpen: true)
    var streams: [HTTPResponse] = []
    for person in ["ann", "ben", "cat", "dan", "eve"] { streams.append(await read(calls, by: person)) }
    #expect(streams.allSatisfy { $0.stream != nil })
    for person in ["ann", "ben", "dan"] {
      #expect(await calls.ask(.delete, "/v1/people/\(person)", by: person).status == 204)
    }
    let first = await calls.ask(.get, "/v1/people?online=true&limit=1", by: "ada")
    #expect(ids(first) == ["cat"])
    let next = try #require(first["next"] as? String)
    let rest = await calls.ask(.get, "/v1/people?online=true&limit=1&after=\(next)", by: "ada")
    #expect(ids(rest) == ["eve"] && rest["next"] == nil)
    withExtendedLifetime(streams) {}
  }
}
