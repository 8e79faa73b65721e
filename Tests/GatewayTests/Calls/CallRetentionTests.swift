import CallDesk
import Calls
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

/// By the clock of calls, which the test moves: a minute before the time is over all is there, and a minute behind it isn't.
@Suite("REST: what is kept of calls, and until when", .timeLimit(.minutes(2)))
struct CallRetentionTests {
  private static let minute: Int64 = 60_000
  private static let day: Int64 = 86_400_000

  /// So much time passes, and what is old by then is forgotten.
  private func pass(_ span: Int64, _ calls: CallHouse) async {
    calls.clock.move(span)
    await calls.desk.tidy()
  }

  @Test(arguments: StoreKind.allCases)
  func
    `a request under an Idempotency-Key is answered as it was for a day, and behind that it is another one`(
      kind: StoreKind
    ) async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    #expect(await calls.join(id, "bob").status == 200)
    func invite(_ body: String = #"{"recipients":["eve"]}"#) async -> House.Answer {
      await calls.ask(
        .post, "/v1/calls/\(id)/invite", body, by: "ada", headers: [("idempotency-key", "a key")])
    }
    let first = await invite()
    #expect(first.status == 200 && first["status"] as? String == "active")
    await pass(Self.day - Self.minute, calls)
    // The call is over long since; that isn't asked.
    let again = await invite()
    #expect(again.status == 200 && again.text == first.text)
    #expect(await invite(#"{"recipients":["zoe"]}"#).problem == "id-taken")
    await pass(2 * Self.minute, calls)
    let late = await invite()
    #expect(late.status == 410 && late.problem == "call-ended")
  }

  @Test(arguments: StoreKind.allCases)
  func `a start is known by its id for as long as its call is in the histories`(kind: StoreKind)
    async throws
  {
    var terms = CallDeskTerms()
    terms.historyDays = 3
    let calls = try await CallHouse(terms, on: kind)
    let (id, _) = await calls.start("ada", "bob")
    #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada").status == 200)
    await pass(3 * Self.day - Self.minute, calls)
    let known = await calls.start("ada", "bob", id: id).answer
    #expect(known.status == 201 && (known["call"] as? NSDictionary)?["status"] as? String == "inactive")
    #expect(await calls.start("ada", "eve", id: id).answer.problem == "id-taken")
    await pass(2 * Self.minute, calls)
    let other = await calls.start("ada", "eve", id: id).answer
    #expect(other.status == 201 && (other["call"] as? NSDictionary)?["status"] as? String == "active")
  }

  @Test(arguments: StoreKind.allCases)
  func `what was pushed for a call is shown for calls.deliveryHours, and no longer`(kind: StoreKind)
    async throws
  {
    var terms = CallDeskTerms()
    terms.deliveries = 2 * 3_600_000
    let span = terms.deliveries
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(terms, on: kind, services: services)
      let device = #"{"platform":"webhook","token":"phone"}"#
      #expect(await calls.ask(.put, "/v1/devices/phone", device, by: "bob").status == 200)
      let (id, _) = await calls.start("ada", "bob")
      _ = try await receiver.wait(1)
      func shown(to person: String) async -> House.Answer {
        await calls.ask(.get, "/v1/calls/\(id)/deliveries", by: person)
      }
      try await eventually("it is written down") { await shown(to: "bob").items.count == 1 }
      await pass(span - Self.minute, calls)
      // The ring's end was pushed meanwhile.
      let ring = await shown(to: "bob").items.first { $0["type"] as? String == "ring" }
      #expect(ring?["state"] as? String == "delivered")
      #expect(await shown(to: "ada")["people"] as? [String: String] == ["bob": "reached"])
      await pass(2 * Self.minute, calls)
      #expect(await shown(to: "bob").items.allSatisfy { $0["type"] as? String != "ring" })
      #expect(await shown(to: "ada")["people"] as? [String: String] == ["bob": "unknown"])
    }
  }
}
