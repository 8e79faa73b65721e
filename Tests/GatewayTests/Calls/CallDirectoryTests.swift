import CallDesk
import Calls
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite("REST: who is listed as online", .timeLimit(.minutes(2)))
struct CallDirectoryTests {
  /// One that has begun.
  private func read(_ calls: CallHouse, by person: String) async throws -> EventListener {
    let listener = try await calls.house.listener(
      "/v1/calls/events?device=d", token: CallHouse.token(person))
    _ = listener.events()
    return listener
  }

  private func ids(_ answer: House.Answer) -> [String] { answer.items.compactMap { $0["id"] as? String } }

  @Test(arguments: StoreKind.allCases)
  func `one that is erased and reads on isn't listed, and leaves no gap in the pages of others`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind, isDirectoryOpen: true)
    var streams: [EventListener] = []
    for person in ["ann", "ben", "cat", "dan", "eve"] { streams.append(try await read(calls, by: person)) }
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
