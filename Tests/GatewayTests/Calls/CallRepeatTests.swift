import CallDesk
import Calls
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite("Requests of calls that are sent again, and who else there is", .timeLimit(.minutes(2)))
struct CallRepeatTests {
  private let key = [("idempotency-key", "a key of the client's")]

  @Test(arguments: StoreKind.allCases)
  func `the same request under the same key is done once, and answered as it was`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
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

  @Test(arguments: StoreKind.allCases)
  func `another request under the key of one before is refused`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
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

  @Test(arguments: StoreKind.allCases)
  func `what was refused is asked once more, and not answered from memory`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    let early = await calls.ask(
      .post, "/v1/calls/\(id)/invite", #"{"recipients":["zoe"]}"#, by: "bob", headers: key)
    #expect(early.status == 403)
    _ = await calls.join(id, "bob")
    let late = await calls.ask(
      .post, "/v1/calls/\(id)/invite", #"{"recipients":["zoe"]}"#, by: "bob", headers: key)
    #expect(late.status == 200)
  }

  @Test(arguments: StoreKind.allCases)
  func `of requests that come at once under one key one is done, and the others are answered by it`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    _ = await calls.join(id, "bob")
    // Ten that want something else, and ten that want the same.
    let bodies = (0..<10).map { #"{"recipients":["p\#($0)"]}"# }
    let different = await answers(bodies, to: "/v1/calls/\(id)/invite", "one", calls)
    let done = different.filter { $0.status == 200 }
    #expect(done.count == 1 && different.count { $0.status == 409 && $0.problem == "id-taken" } == 9)
    let invited = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")["invitedParticipants"] as? [String]
    #expect(invited?.count == 1 && done.first?["invitedParticipants"] as? [String] == invited)
    let same = await answers(
      Array(repeating: #"{"recipients":["eve"]}"#, count: 10), to: "/v1/calls/\(id)/invite", "two", calls)
    #expect(same.allSatisfy { $0.status == 200 } && Set(same.map(\.text)).count == 1)
  }

  /// What requests by ada at once are answered.
  private func answers(
    _ bodies: [String], to path: String, _ key: String, _ calls: CallHouse
  ) async -> [House.Answer] {
    await withTaskGroup(of: House.Answer.self) { group in
      for body in bodies {
        group.addTask {
          await calls.ask(.post, path, body, by: "ada", headers: [("idempotency-key", key)])
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what has no id of its own is done once under its key, by whichever process, and answered as it was`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob", "eve")
    for person in ["bob", "eve"] { _ = await calls.join(id, person) }
    let rows: [(path: String, body: String)] = [
      ("invite", #"{"recipients":["zoe"]}"#), ("leave", #"{"reason":"networkError"}"#), ("forget", ""),
    ]
    var first: [House.Answer] = []
    for row in rows {
      first.append(
        await calls.ask(
          .post, "/v1/calls/\(id)/\(row.path)", row.body, by: "ada", headers: [("idempotency-key", row.path)])
      )
    }
    #expect(first.map(\.status) == [200, 200, 204])
    // Ada comes back, and zoe goes: what was asked before changes nothing of it.
    #expect(await calls.join(id, "ada").status == 200)
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "zoe")
    await calls.stop()
    let again = try await CallHouse(after: calls.store)
    for (row, known) in zip(rows, first) {
      let answer = await again.ask(
        .post, "/v1/calls/\(id)/\(row.path)", row.body, by: "ada", headers: [("idempotency-key", row.path)])
      #expect(answer.status == known.status && answer.text == known.text, "\(row.path)")
    }
    let shown = await again.ask(.get, "/v1/calls/\(id)", by: "bob")
    #expect((shown["activeParticipants"] as? [String])?.contains("ada") == true)
    #expect((shown["invitedParticipants"] as? [String])?.isEmpty == true)
  }

  private func join(
    _ id: String, _ device: String, takeover: Bool = false, under key: String, _ calls: CallHouse
  ) async -> House.Answer {
    await calls.ask(
      .post, "/v1/calls/\(id)/join", #"{"deviceId":"\#(device)","takeover":\#(takeover)}"#, by: "bob",
      headers: [("idempotency-key", key)])
  }

  private func active(_ id: String, _ calls: CallHouse) async -> [String]? {
    await calls.ask(.get, "/v1/calls/\(id)", by: "ada")["activeParticipants"] as? [String]
  }

  @Test(arguments: StoreKind.allCases)
  func `a join that is sent again brings no one back who has left, and says how the call stands`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob", "eve")
    _ = await calls.join(id, "eve")
    let first = await join(id, "phone", under: "one", calls)
    #expect(first.status == 200 && first["token"] is String)
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "bob")
    let again = await join(id, "phone", under: "one", calls)
    #expect(again.status == 200 && again["token"] == nil && again["url"] == nil && again["key"] == nil)
    #expect((again["iceServers"] as? [NSDictionary])?.isEmpty == true)
    #expect(
      again["session"] as? String == first["session"] as? String && again["device"] as? String == "phone")
    #expect((again["call"] as? NSDictionary)?["activeParticipants"] as? [String] == ["ada", "eve"])
    #expect(await active(id, calls) == ["ada", "eve"])
    // By another key it is another one; then the first is answered by the session as it is.
    let back = await join(id, "phone", under: "two", calls)
    #expect(await active(id, calls) == ["ada", "bob", "eve"])
    let late = await join(id, "phone", under: "one", calls)
    #expect(late["token"] is String && late["session"] as? String == back["session"] as? String)
    for person in ["bob", "eve"] { _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: person) }
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada")
    let over = await join(id, "phone", under: "one", calls)
    #expect(over.status == 410 && over.problem == "call-ended")
  }

  @Test(arguments: StoreKind.allCases)
  func `a join that is sent again takes no call back that another device has taken over`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    #expect(await join(id, "phone", takeover: true, under: "one", calls).status == 200)
    #expect(await join(id, "tablet", takeover: true, under: "two", calls).status == 200)
    let again = await join(id, "phone", takeover: true, under: "one", calls)
    #expect(again.status == 409 && again.problem == "active-elsewhere")
    // The tablet is still the one that is in it.
    #expect(await calls.join(id, "bob", device: "tablet").status == 200)
    #expect(await join(id, "phone", takeover: true, under: "three", calls).status == 200)
    // One who was taken out reads that.
    let bob = PersonID("bob")
    _ = try await calls.desk.remove(bob, from: try #require(CallUUID(id)))
    let removed = await join(id, "phone", takeover: true, under: "one", calls)
    #expect(removed.status == 403 && removed.problem == "removed")
  }

  @Test(arguments: StoreKind.allCases)
  func `joins under one key are one session, at once and by another process`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    let answers = await withTaskGroup(of: House.Answer.self) { group in
      for _ in 0..<10 { group.addTask { await join(id, "phone", under: "one", calls) } }
      return await group.reduce(into: [House.Answer]()) { $0.append($1) }
    }
    let sessions = Set(answers.map { $0["session"] as? String })
    #expect(answers.allSatisfy { $0.status == 200 } && sessions.count == 1)
    await calls.stop()
    let again = try await CallHouse(after: calls.store)
    let answer = await join(id, "phone", under: "one", again)
    #expect(answer.status == 200 && answer["token"] is String)
    #expect(sessions == [answer["session"] as? String])
  }

  @Test(arguments: ["", String(repeating: "k", count: 129)])
  func `a key has 1 to 128 bytes`(key: String) async throws {
    let calls = try await CallHouse()
    let (id, _) = await calls.start("ada", "bob")
    let answer = await calls.ask(
      .post, "/v1/calls/\(id)/join", "{}", by: "bob", headers: [("idempotency-key", key)])
    #expect(answer.status == 400 && answer.problem == "idempotency-key")
  }

  @Test(arguments: StoreKind.allCases)
  func `who else there is is said where that is configured, and to people alone`(kind: StoreKind) async throws
  {
    let closed = try await CallHouse(on: kind)
    #expect(await closed.ask(.get, "/v1/people", by: "ada").status == 404)
    let open = try await CallHouse(on: kind, isDirectoryOpen: true)
    let (_, started) = await open.start("ada", "bob")
    _ = await open.start("zoe", "ada")
    // Who was called and hasn't come yet isn't there.
    let first = await open.ask(.get, "/v1/people", by: "ada")
    #expect(first.items.compactMap { $0["id"] as? String } == ["ada", "zoe"])
    #expect(await open.ask(.get, "/v1/calls/events", by: "bob").status == 200)
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

  @Test(arguments: StoreKind.allCases)
  func `those are online whose events are read now`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind, isDirectoryOpen: true)
    _ = await calls.start("ada", "bob")
    #expect(await calls.ask(.get, "/v1/people?online=true", by: "ada").items.isEmpty)
    let stream = try await calls.house.listener("/v1/calls/events?device=b", token: CallHouse.token("bob"))
    // Until the server takes the stream nothing is read by it.
    #expect(await calls.ask(.get, "/v1/people?online=true", by: "ada").items.isEmpty)
    _ = stream.events()
    let online = await calls.ask(.get, "/v1/people?online=true", by: "ada")
    #expect(
      online.items.compactMap { $0["id"] as? String } == ["bob"] && online.items[0]["online"] as? Bool == true
    )
    withExtendedLifetime(stream) {}
  }
}
