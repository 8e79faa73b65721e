import CallDesk
import Calls
import Foundation
import HTTPServer
import Testing

@testable import Gateway

@Suite("Requests of calls that are sent again, and who else there is", .timeLimit(.minutes(2)))
struct CallRepeatTests {
  private let key = [("idempotency-key", "a key of the client's")]

  @Test func `the same request under the same key is done once, and answered as it was`() async throws {
    let calls = try await CallHouse()
    let (id, _) = await calls.start("ada", "bob")
    _ = await calls.join(id, "bob")
    let body = #"{"recipients":["eve"]}"#
    let first = await calls.ask(.post, "/v1/calls/\(id)/invite", body, by: "ada", headers: key)
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "eve")
    let again = await calls.ask(.post, "/v1/calls/\(id)/invite", body, by: "ada", headers: key)
    #expect(first.status == 200 && again.status == 200 && first.text == again.text)
    // Without a key it is another one: eve is rung again.
    let other = await calls.ask(.post, "/v1/calls/\(id)/invite", body, by: "ada")
    #expect(other["invitedParticipants"] as? [String] == ["eve"])
  }

  @Test func `another request under the key of one before is refused`() async throws {
    let calls = try await CallHouse()
    let (id, _) = await calls.start("ada", "bob")
    _ = await calls.ask(.post, "/v1/calls/\(id)/join", #"{"deviceId":"bob1"}"#, by: "bob", headers: key)
    let other = await calls.ask(
      .post, "/v1/calls/\(id)/join", #"{"deviceId":"bob2"}"#, by: "bob", headers: key)
    #expect(other.status == 409 && other.problem == "id-taken")
    let elsewhere = await calls.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "bob", headers: key)
    #expect(elsewhere.status == 409 && elsewhere.problem == "id-taken")
    // Keys of others are theirs.
    let theirs = await calls.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada", headers: key)
    #expect(theirs.status == 200)
  }

  @Test func `what was refused is asked once more, and not answered from memory`() async throws {
    let calls = try await CallHouse()
    let (id, _) = await calls.start("ada", "bob")
    let early = await calls.ask(
      .post, "/v1/calls/\(id)/invite", #"{"recipients":["zoe"]}"#, by: "bob", headers: key)
    #expect(early.status == 403)
    _ = await calls.join(id, "bob")
    let late = await calls.ask(
      .post, "/v1/calls/\(id)/invite", #"{"recipients":["zoe"]}"#, by: "bob", headers: key)
    #expect(late.status == 200)
  }

  @Test(arguments: ["", String(repeating: "k", count: 129)])
  func `a key has 1 to 128 bytes`(key: String) async throws {
    let calls = try await CallHouse()
    let (id, _) = await calls.start("ada", "bob")
    let answer = await calls.ask(
      .post, "/v1/calls/\(id)/join", "{}", by: "bob", headers: [("idempotency-key", key)])
    #expect(answer.status == 400 && answer.problem == "idempotency-key")
  }

  @Test func `who else there is is said where that is configured, and to people alone`() async throws {
    let closed = try await CallHouse()
    #expect(await closed.ask(.get, "/v1/people", by: "ada").status == 404)
    let open = try await CallHouse(isDirectoryOpen: true)
    let (_, started) = await open.start("ada", "bob")
    _ = await open.start("zoe", "ada")
    let all = await open.ask(.get, "/v1/people", by: "ada")
    #expect(all.items.compactMap { $0["id"] as? String } == ["ada", "bob", "zoe"])
    let page = await open.ask(.get, "/v1/people?limit=2", by: "ada")
    let next = try #require(page["next"] as? String)
    let rest = await open.ask(.get, "/v1/people?limit=2&after=\(next)", by: "ada")
    #expect(rest.items.compactMap { $0["id"] as? String } == ["zoe"] && rest["next"] == nil)
    let ofCall = try #require(started["token"] as? String)
    #expect(await open.house.ask(.get, "/v1/people", token: ofCall).status == 403)
    #expect(await open.ask(.get, "/v1/people?online=perhaps", by: "ada").status == 400)
  }

  @Test func `those are online whose events are read now`() async throws {
    let calls = try await CallHouse(isDirectoryOpen: true)
    _ = await calls.start("ada", "bob")
    #expect(await calls.ask(.get, "/v1/people?online=true", by: "ada").items.isEmpty)
    let stream = await calls.house.respond(
      .get, "/v1/calls/events?device=b", "", token: CallHouse.token("bob"),
      headers: [("accept", "text/event-stream")])
    let online = await calls.ask(.get, "/v1/people?online=true", by: "ada")
    #expect(
      online.items.compactMap { $0["id"] as? String } == ["bob"] && online.items[0]["online"] as? Bool == true
    )
    withExtendedLifetime(stream) {}
  }
}
