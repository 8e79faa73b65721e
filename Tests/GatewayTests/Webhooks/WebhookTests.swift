import AccessTokens
import Crypto
import Foundation
import HTTPServer
import Logging
import Model
import Rooms
import Storage
import Synchronization
import Testing

@testable import Gateway

@Suite("Webhooks, over real sockets", .timeLimit(.minutes(2)))
struct WebhookTests {
  private static let secret = "a secret that signs webhooks, of 32 bytes"

  /// One who is sent notices: notes what came and answers as it is to.
  private final class Receiver: HTTPHandler {
    struct State {
      var requests: [HTTPRequest] = []
      /// What it answers, one after the other; then 200.
      var plan: [Int] = []
      /// Names of rooms of which it takes nothing.
      var refused: Set<String> = []
      /// Of each room by its id, the last event that was taken, and those that came out of order.
      var taken: [String: Int] = [:]
      var arrived = 0
      var outOfOrder = 0
    }

    let state = Mutex(State())

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      let room = Self.event(request)?["room"] as? String
      let status = state.withLock { state in
        state.requests.append(request)
        if let room, state.refused.contains(room) { return 413 }
        return state.plan.isEmpty ? 200 : state.plan.removeFirst()
      }
      switch status {
      case 0: try? await Task.sleep(for: .seconds(30))
      case 307: return HTTPResponse(status: 307, headers: ["location": "http://127.0.0.1:1/"])
      case 200...299: take(request)
      default: break
      }
      return HTTPResponse(status: max(status, 200))
    }

    private static func event(_ request: HTTPRequest) -> [String: Any]? {
      let body = (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any]
      return body?["event"] as? [String: Any]
    }

    private func take(_ request: HTTPRequest) {
      let event = Self.event(request)
      guard let room = event?["roomId"] as? String, let number = event?["id"] as? Int else { return }
      state.withLock { state in
        let last = state.taken[room, default: 0]
        // Again is allowed; another order is not.
        if number > last + 1 { state.outOfOrder += 1 }
        state.arrived += 1
        state.taken[room] = max(last, number)
      }
    }

    func upgrade(_ request: HTTPRequest) async -> UpgradeDecision { .refuse(HTTPResponse(status: 404)) }

    func wait(_ seconds: Double = 10, until holds: (State) -> Bool) async -> Bool {
      for _ in 0..<Int(seconds * 50) {
        if state.withLock({ holds($0) }) { return true }
        try? await Task.sleep(for: .milliseconds(20))
      }
      return state.withLock { holds($0) }
    }
  }

  private static func listen(_ receiver: Receiver, port: UInt16 = 0) throws -> HTTPServer {
    try HTTPServer(
      configuration: HTTPServerConfiguration(listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: port))]
      ),
      handler: receiver)
  }

  static func clocks(_ directory: RoomDirectory) -> WebhookSender.Clocks {
    let origin = ContinuousClock.now
    return WebhookSender.Clocks(
      seconds: { House.now }, wall: { directory.wallTime },
      instant: {
        let span = (ContinuousClock.now - origin).components
        return Instant(nanoseconds: span.seconds * 1_000_000_000 + span.attoseconds / 1_000_000_000)
      })
  }

  private static func target(_ url: String) -> Webhooks.Target {
    Webhooks.Target(url: url, key: "APIkey", secret: secret)
  }

  /// A house whose events are stored, and what carries them to receivers.
  private final class Sending: Sendable {
    let house: House
    let webhooks: Webhooks
    private let running: Task<Void, Never>

    init(
      to urls: [String], log: Log = Log(level: .error) { _ in },
      _ adjust: (inout WebhookQueue.Limits) -> Void = { _ in }
    ) async throws {
      var limits = WebhookQueue.Limits()
      limits.shortestPause = .milliseconds(50)
      limits.longestPause = .milliseconds(400)
      adjust(&limits)
      let targets = urls.map(WebhookTests.target)
      let store = try await Store.open(.memory, log: log)
      let journal = StoredJournal(store: store, log: log)
      _ = try await journal.recover()
      let deliveries = try await StoredDeliveries(
        to: targets.map(\.name), in: store, journal: journal, log: log)
      running = Task { await journal.run() }
      house = try House(journal: journal)
      webhooks = Webhooks(
        to: targets, of: house.directory.events, ledger: deliveries, log: log,
        clocks: WebhookTests.clocks(house.directory), limits: limits)
    }

    deinit { running.cancel() }
  }

  @Test func `each event arrives as it is everywhere, signed for its very bytes`() async throws {
    let receiver = Receiver()
    let server = try Self.listen(receiver)
    let sending = try await Sending(to: ["http://127.0.0.1:\(server.addresses[0].port)/hook?a=b"])
    let (house, webhooks) = (sending.house, sending.webhooks)
    defer { withExtendedLifetime(sending) {} }
    let life = try await house.room(updates: 2)
    _ = try await house.enter("gh0st") { $0.hidden = true }
    #expect(await receiver.wait { $0.requests.count == 3 })
    let requests = receiver.state.withLock { $0.requests }
    let page = await house.ask(.get, "/v1/rooms/demo/events")
    for (index, request) in requests.enumerated() {
      #expect(request.path == "/hook" && request.query == "a=b")
      #expect(request.headers["content-type"] == "application/webhook+json")
      let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
      #expect(body["id"] as? String == "\(life):\(index + 1)")
      #expect(body["event"] as? NSDictionary == page.items[index])
      #expect(body["createdAt"] as? String == page.items[index]["time"] as? String)
      let parts = try #require(request.headers["authorization"]).split(separator: ".").map(String.init)
      try #require(parts.count == 3)
      let code = HMAC.code(
        .sha256, key: Array(Self.secret.utf8), message: Array("\(parts[0]).\(parts[1])".utf8))
      #expect(Base64URL.encode(code) == parts[2])
      let payload = try #require(Base64URL.decode(parts[1].utf8))
      let claims = try #require(try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
      #expect(claims["iss"] as? String == "APIkey")
      #expect(claims["sha256"] as? String == Data(SHA256.digest(request.body)).base64EncodedString())
      let left = try #require(claims["exp"] as? Int) - House.now
      #expect((290...300).contains(left))
      #expect(!String(decoding: request.body, as: UTF8.self).contains("gh0st"))
    }
    await webhooks.finish(within: .seconds(1))
    await server.shutdown(grace: .zero)
  }

  @Test func `a receiver that fails, hangs and redirects gets everything in the order of each room`()
    async throws
  {
    let receiver = Receiver()
    receiver.state.withLock {
      $0.plan = [500, 200, 307, 400, 200, 200, 429, 503, 200, 302, 404, 200, 500, 500, 500, 500]
    }
    let server = try Self.listen(receiver)
    let sending = try await Sending(to: ["http://127.0.0.1:\(server.addresses[0].port)/"])
    let (house, webhooks) = (sending.house, sending.webhooks)
    defer { withExtendedLifetime(sending) {} }
    for name in ["a", "b", "c"] { try await house.room(name, updates: 10) }
    #expect(await receiver.wait { $0.taken.values.reduce(0, +) == 33 })
    #expect(receiver.state.withLock { $0.outOfOrder } == 0)
    let report = await webhooks.reports()[0]
    #expect(report.arrived == 33 && report.failed == 11 && report.waiting == 0 && report.waitingBytes == 0)
    await webhooks.finish(within: .seconds(1))
    await server.shutdown(grace: .zero)
  }

  @Test func `a receiver that restarts, again and again, misses nothing`() async throws {
    let receiver = Receiver()
    var server = try Self.listen(receiver)
    let port = server.addresses[0].port
    let sending = try await Sending(to: ["http://127.0.0.1:\(port)/"])
    let (house, webhooks) = (sending.house, sending.webhooks)
    defer { withExtendedLifetime(sending) {} }
    for name in ["a", "b"] { try await house.room(name) }
    for _ in 0..<5 {
      for name in ["a", "b"] { try await house.update(name, times: 10) }
      await server.shutdown(grace: .zero)
      for name in ["a", "b"] { try await house.update(name, times: 10) }
      server = try Self.listen(receiver, port: port)
    }
    #expect(await receiver.wait { $0.taken.values.reduce(0, +) == 202 })
    let state = receiver.state.withLock { $0 }
    print(
      "webhooks: sent 202, received \(state.arrived), out of order \(state.outOfOrder), lost \(202 - state.taken.values.reduce(0, +))"
    )
    #expect(state.outOfOrder == 0)
    await webhooks.finish(within: .seconds(1))
    await server.shutdown(grace: .zero)
  }

  @Test func `a receiver that never answers delays no other, and the operator hears of it once`() async throws
  {
    let (stuck, good) = (Receiver(), Receiver())
    stuck.state.withLock { $0.plan = [Int](repeating: 0, count: 1_000) }
    let servers = [try Self.listen(stuck), try Self.listen(good)]
    let lines = Mutex<[String]>([])
    let log = Log(level: .info) { line in lines.withLock { $0.append(line) } }
    let sending = try await Sending(
      to: ["http://127.0.0.1:\(servers[0].addresses[0].port)/secret?token=abc"] + [
        "http://127.0.0.1:\(servers[1].addresses[0].port)/"
      ],
      log: log)
    let (house, webhooks) = (sending.house, sending.webhooks)
    defer { withExtendedLifetime(sending) {} }
    let start = ContinuousClock.now
    try await house.room(updates: 50)
    #expect(await good.wait { $0.arrived == 51 })
    #expect(ContinuousClock.now - start < .seconds(4))
    for _ in 0..<700 where lines.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(20)) }
    let said = lines.withLock { $0 }
    #expect(
      said.count == 1 && said[0].contains("webhook does not get through") && said[0].contains("timed out"))
    #expect(!said[0].contains("secret") && !said[0].contains("abc"))
    let reports = await webhooks.reports()
    #expect(reports[0].waiting == 51 && reports[0].arrived == 0 && reports[1].waiting == 0)
    let finishing = ContinuousClock.now
    await webhooks.finish(within: .milliseconds(300))
    #expect(ContinuousClock.now - finishing < .seconds(2), "one that is stuck is not waited for longer")
    for server in servers { await server.shutdown(grace: .zero) }
  }

  @Test func `the end of the server is still said, as far as its time allows`() async throws {
    let receiver = Receiver()
    let server = try Self.listen(receiver)
    let sending = try await Sending(to: ["http://127.0.0.1:\(server.addresses[0].port)/"])
    let (house, webhooks) = (sending.house, sending.webhooks)
    defer { withExtendedLifetime(sending) {} }
    _ = try await house.enter("ada")
    await house.directory.close()
    try await house.directory.synced()
    await webhooks.finish(within: .seconds(5))
    let kinds = receiver.state.withLock { $0.requests }.map { request in
      let body = (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any]
      return (body?["event"] as? [String: Any])?["type"] as? String
    }
    #expect(kinds == ["room.started", "participant.joined", "participant.left", "room.finished"])
    await server.shutdown(grace: .zero)
  }

  /// What the sender says once so much holds: a notice has arrived for it with the receiver's answer.
  private static func report(
    _ webhooks: Webhooks, until holds: (Webhooks.Report) -> Bool
  ) async -> Webhooks.Report {
    for _ in 0..<1_000 {
      let report = await webhooks.reports()[0]
      if holds(report) { return report }
      try? await Task.sleep(for: .milliseconds(10))
    }
    return await webhooks.reports()[0]
  }

  @Test func `a room that says more than memory has place for is heard to its end, in order`() async throws {
    let receiver = Receiver()
    let server = try Self.listen(receiver)
    let sending = try await Sending(to: ["http://127.0.0.1:\(server.addresses[0].port)/"]) {
      $0.bytes = 20_000
      $0.roomBytes = 4_000
    }
    let (house, webhooks) = (sending.house, sending.webhooks)
    defer { withExtendedLifetime(sending) {} }
    for name in ["a", "b"] { try await house.room(name, updates: 300) }
    #expect(await receiver.wait { $0.taken.values.reduce(0, +) == 602 })
    #expect(receiver.state.withLock { $0.outOfOrder } == 0)
    let report = await Self.report(webhooks) { $0.arrived == 602 }
    #expect(report.arrived == 602 && report.waiting == 0 && report.late + report.crowdedOut == 0)
    await webhooks.finish(within: .seconds(1))
    await server.shutdown(grace: .zero)
  }

  @Test func `while a room's notices are refused, however many, others arrive, and it goes on afterwards`()
    async throws
  {
    let receiver = Receiver()
    receiver.state.withLock { $0.refused = ["bad"] }
    let server = try Self.listen(receiver)
    let sending = try await Sending(to: ["http://127.0.0.1:\(server.addresses[0].port)/"]) {
      $0.bytes = 20_000
      $0.roomBytes = 4_000
    }
    let (house, webhooks) = (sending.house, sending.webhooks)
    defer { withExtendedLifetime(sending) {} }
    let bad = try await house.room("bad", updates: 300)
    for name in ["a", "b"] { try await house.room(name, updates: 20) }
    #expect(await receiver.wait { $0.taken.values.reduce(0, +) == 42 })
    var report = await Self.report(webhooks) { $0.arrived == 42 }
    #expect(report.waiting == 301 && report.waitingBytes < 20_000 && report.arrived == 42, "\(report)")
    receiver.state.withLock { $0.refused = [] }
    #expect(await receiver.wait { $0.taken[bad] == 301 })
    report = await webhooks.reports()[0]
    #expect(receiver.state.withLock { $0.outOfOrder } == 0 && report.refused == 0)
    await webhooks.finish(within: .seconds(1))
    await server.shutdown(grace: .zero)
  }

  @Test func `a notice that is never taken for what it is is given up, counted, and its room goes on`()
    async throws
  {
    let receiver = Receiver()
    receiver.state.withLock { $0.plan = [Int](repeating: 422, count: 3) }
    let server = try Self.listen(receiver)
    let sending = try await Sending(to: ["http://127.0.0.1:\(server.addresses[0].port)/"]) {
      $0.refusals = .milliseconds(100)
    }
    let (house, webhooks) = (sending.house, sending.webhooks)
    defer { withExtendedLifetime(sending) {} }
    let life = try await house.room(updates: 3)
    #expect(await receiver.wait { $0.taken[life] == 4 })
    let report = await webhooks.reports()[0]
    #expect(
      report.refused == 1 && report.arrived == 3 && report.failed == 3 && report.waiting == 0, "\(report)")
    await webhooks.finish(within: .seconds(1))
    await server.shutdown(grace: .zero)
  }

  /// A store that stands still, or that can't be read.
  private struct Standing: WebhookLedger {
    let answers: Bool
    var held: (events: Int, bytes: Int) { (0, 0) }

    private func wait() async {
      if !answers { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }

    func next(for receiver: String, bytes: Int) async -> [StoredEvent]? {
      await wait()
      return nil
    }
    func events(of room: String, ids: ClosedRange<Int>, bytes: Int) async -> StoredDeliveries.RoomPage? {
      await wait()
      return nil
    }
    func settle(_ event: WebhookQueue.Settled, for receiver: String) {}
    func report(for receiver: String) -> StoredDeliveries.Report {
      var report = StoredDeliveries.Report()
      report.unread = 1
      return report
    }
    func tidy(by now: @escaping @Sendable () -> WallTime) async { await wait() }
    func flush() async { await wait() }
  }

  @Test(arguments: [false, true]) func `a store that stands still, or can't be read, holds up no end`(
    answers: Bool
  ) async throws {
    let house = try House()
    let webhooks = Webhooks(
      to: [Self.target("http://127.0.0.1:1/")], of: house.directory.events,
      ledger: Standing(answers: answers),
      log: Log(level: .error) { _ in }, clocks: Self.clocks(house.directory))
    let start = ContinuousClock.now
    await webhooks.finish(within: .milliseconds(300))
    #expect(ContinuousClock.now - start < .seconds(5))
  }
}
