import CallDesk
import Calls
import Foundation
import HTTPServer
import Model
import Rooms
import TestStores
import Testing

@testable import Gateway

@Suite("Who reads a person's events by several streams", .timeLimit(.minutes(2)))
struct CallReadersTests {
  /// What comes next, once there is so much.
  private func next(_ listener: EventListener, _ count: Int = 1) async throws -> [EventListener.Event] {
    var found: [EventListener.Event] = []
    try await eventually("\(count) events") {
      found += listener.events()
      return found.count >= count
    }
    return found
  }

  /// One that has begun.
  private func listener(_ calls: CallHouse, _ query: String) async throws -> EventListener {
    let listener = try await calls.house.listener("/v1/calls/events\(query)", token: CallHouse.token("bob"))
    #expect(try await next(listener).map(\.type) == ["state"])
    return listener
  }

  private func isReplaced(_ listener: EventListener) -> Bool {
    let mustEnd = listener.source.mustEnd(now: Instant(nanoseconds: 0))
    let last = listener.events()
    return mustEnd && listener.isOver && last.map(\.type) == ["end"]
      && last[0].json["reason"] as? String == "replaced"
  }

  @Test(arguments: StoreKind.allCases)
  func `a phone that has lost its path comes back however often, and the stream that it began first ends`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind)
    let tablet = try await listener(calls, "?device=tablet")
    var phones: [EventListener] = []
    for _ in 0..<40 {
      phones.append(try await listener(calls, "?device=phone"))
      if phones.count > 4 { #expect(isReplaced(phones[phones.count - 5]), "\(phones.count)") }
      calls.clock.move(1_300)
    }
    let (id, _) = await calls.start("ada", "bob")
    for living in phones.suffix(4) + [tablet] {
      let heard = try await next(living)
      #expect(heard.map(\.type) == ["call.ringing"] && !living.isOver)
      #expect((heard[0].json["call"] as? NSDictionary)?["id"] as? String == id)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `of a person who has as many streams as may be none is refused, and one that is alone stays`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind)
    // The oldest of all, and the only one of its device.
    let desk = try await listener(calls, "?device=desk")
    var others: [EventListener] = []
    for number in 0..<28 { others.append(try await listener(calls, "?device=d\(number / 4)")) }
    var unnamed: [EventListener] = []
    for _ in 0..<3 { unnamed.append(try await listener(calls, "")) }
    let phone = try await listener(calls, "?device=phone")
    #expect(isReplaced(others[0]))
    unnamed.append(try await listener(calls, ""))
    #expect(isReplaced(unnamed[0]))
    let all = [desk, phone] + others.dropFirst() + unnamed.dropFirst()
    #expect(all.count == 32)
    _ = await calls.start("ada", "bob")
    for living in all { #expect(try await next(living).map(\.type) == ["call.ringing"]) }
    // Others have streams of their own.
    _ = try await calls.house.listener("/v1/calls/events", token: CallHouse.token("eve"))
  }

  @Test(arguments: StoreKind.allCases)
  func `a stream that has ended for another frees nothing more as it goes`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    var phones: [EventListener] = []
    for _ in 0..<5 { phones.append(try await listener(calls, "?device=phone")) }
    do {
      let first = phones.removeFirst()
      #expect(isReplaced(first))
    }
    let readers = calls.rooms.readers(of: PersonID("bob"))
    #expect(readers == EventReaders([DeviceID("phone")]))
    phones.removeAll()
    try await eventually("no one reads") { calls.rooms.readers(of: PersonID("bob")) == EventReaders() }
  }

  @Test(arguments: StoreKind.allCases)
  func `streams of one device that end each other again and again are refused then, and later no more`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind)
    var phones: [EventListener] = []
    for _ in 0..<12 { phones.append(try await listener(calls, "?device=phone")) }
    for _ in 0..<3 {
      let refused = await calls.house.listen("/v1/calls/events?device=phone", token: CallHouse.token("bob"))
      #expect(refused.status == 429 && refused.headers["retry-after"] == "5" && refused.stream == nil)
    }
    // Those that read stay, and other devices begin.
    for living in phones.suffix(4) { #expect(living.events().isEmpty && !living.isOver) }
    _ = try await listener(calls, "?device=tablet")
    calls.clock.move(10_000)
    phones.append(try await listener(calls, "?device=phone"))
    #expect(isReplaced(phones[8]))
  }

  @Test(arguments: StoreKind.allCases)
  func `a stream that the server doesn't take, and HEAD, end none that is read`(kind: StoreKind) async throws
  {
    let calls = try await CallHouse(on: kind)
    let (bob, token) = (PersonID("bob"), CallHouse.token("bob"))
    let path = "/v1/calls/events?device=phone"
    var untaken: [HTTPResponse] = [await calls.house.listen(path, token: token)]
    #expect(untaken[0].stream != nil && calls.rooms.readers(of: bob) == EventReaders())
    var phones: [EventListener] = []
    for _ in 0..<4 { phones.append(try await listener(calls, "?device=phone")) }
    for _ in 0..<4 { untaken.append(await calls.house.listen(path, token: token)) }
    for _ in 0..<20 {
      let head = await calls.house.listen(path, token: token, method: .head)
      #expect(head.status == 200 && head.stream == nil)
      #expect(head.headers["content-type"] == "text/event-stream" && head.headers["vary"] == "accept")
    }
    untaken.removeAll()
    for living in phones { #expect(living.events().isEmpty && !living.isOver) }
    #expect(calls.rooms.readers(of: bob) == EventReaders([DeviceID("phone")]))
  }

  // MARK: - What reading costs

  @Test(arguments: StoreKind.allCases)
  func `who has read as much as it may still answers, leaves and reads by other devices`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob", "eve")
    let (other, _) = await calls.start("eve", "bob")
    var answers: [House.Answer] = []
    for _ in 0..<40 {
      answers.append(await calls.ask(.get, "/v1/calls/events?after=0&limit=200&device=phone", by: "bob"))
    }
    let refused = try #require(answers.first { $0.status == 429 })
    #expect(refused.problem == "too-many" && refused.headers["retry-after"] == "1")
    #expect(await calls.ask(.get, "/v1/calls/events?after=0&device=tablet", by: "bob").status == 200)
    let declined = await calls.ask(
      .post, "/v1/calls/\(other)/leave", #"{"reason":"rejected","deviceId":"phone"}"#, by: "bob")
    #expect(declined.status == 200)
    #expect(await calls.join(id, "bob", device: "phone").status == 200)
    #expect(await calls.ask(.get, "/v1/calls?limit=200", by: "bob").status == 200)
    let left = await calls.ask(.post, "/v1/calls/\(id)/leave", #"{"deviceId":"phone"}"#, by: "bob")
    #expect(left.status == 200)
  }

  @Test func `one who makes up a device for each page pays for all of them together`() async throws {
    let calls = try await CallHouse()
    var answers: [Int] = []
    for number in 0..<400 where !answers.contains(429) {
      let path = "/v1/calls/events?after=0&limit=200&device=d\(number)"
      answers.append(await calls.ask(.get, path, by: "bob").status)
    }
    #expect(answers.prefix(8).allSatisfy { $0 == 200 } && answers.contains(429))
    #expect(await calls.ask(.get, "/v1/calls", by: "bob").status == 200)
  }

  // MARK: - Signals

  @Test(arguments: StoreKind.allCases)
  func `a signal for one device waits for that one, however much another reads`(kind: StoreKind) async throws
  {
    var terms = CallDeskTerms()
    (terms.signals, terms.signalBytes) = (1_000, 20_000)
    // No media comes, and the call goes on.
    terms.book.call.media = 600_000
    let calls = try await CallHouse(terms, on: kind)
    let (id, _) = await calls.start("ada", "bob")
    #expect(await calls.join(id, "bob", device: "phone").status == 200)
    let tablet = try await calls.house.listener(
      "/v1/calls/events?after=0&device=tablet", token: CallHouse.token("bob"))
    func send() async -> Int {
      let payload = String(repeating: "A", count: 4_000)
      let body = #"{"id":"\#(UUID().uuidString)","to":"bob","kind":"offer","payload":"\#(payload)"}"#
      return await calls.ask(.post, "/v1/calls/\(id)/signals", body, by: "ada").status
    }
    var sent = 0
    for turn in 0..<8 {
      var batch = 0
      while await send() == 201 { batch += 1 }
      sent += batch
      #expect((3...5).contains(batch))
      // What was sent within two seconds waits in any case.
      calls.clock.move(2_000)
      // The tablet hears what comes behind them.
      let change = #"{"media":"\#(turn % 2 == 0 ? "video" : "audio")"}"#
      #expect(await calls.ask(.patch, "/v1/calls/\(id)", change, by: "ada").status == 200)
      try await eventually("the tablet hears") { tablet.events().contains { $0.type == "call.updated" } }
      #expect(await send() == 429)
      // All that the phone hasn't had is there.
      let page = await calls.ask(.get, "/v1/calls/events?after=0&limit=100&device=phone", by: "bob")
      let signals = page.items.filter { $0["event"] as? String == "call.signal" }
      let numbers = signals.compactMap { ($0["data"] as? NSDictionary)?["number"] as? Int }
      #expect(numbers.suffix(batch) == (sent - batch..<sent).map { $0 + 1 })
    }
    // More was sent than is kept.
    #expect(sent * 4_000 > 4 * terms.signalBytes)
  }
}
