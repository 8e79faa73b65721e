import AccessTokens
import Crypto
import HTTPClient
import HTTPServer
import Logging
import Model
import Push
import Synchronization
import Testing

@Suite("Pushes by webhook, over real sockets", .timeLimit(.minutes(1)))
struct WebhookPushTests {
  /// Answers by the token in the body: `answers` has what to say to each, one after the other.
  private final class Receiver: HTTPHandler {
    struct State {
      var answers: [String: [Int]] = [:]
      var bodies: [StrictJSON] = []
      var signatures: [(String, [UInt8])] = []
    }

    let state = Mutex(State())

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      let status = state.withLock { state -> Int in
        let body = StrictJSON.parse(request.body) ?? .null
        state.bodies.append(body)
        state.signatures.append((request.headers["authorization"] ?? "", request.body))
        guard let token = body["token"], var answers = state.answers[token], !answers.isEmpty else {
          return 200
        }
        let status = answers.count > 1 ? answers.removeFirst() : answers[0]
        state.answers[token] = answers
        return status
      }
      return HTTPResponse(status: status, type: "text/plain", body: "said".utf8)
    }

    func upgrade(_ request: HTTPRequest) async -> UpgradeDecision { .refuse(HTTPResponse(status: 404)) }
  }

  private let outcomes = Outcomes()
  private let lines = Lines()

  private func device(_ number: Int, token: String) -> PushDevice {
    var device = Sample.device(number, .webhook)
    device.token = token
    return device
  }

  private func withDesk(_ body: (Receiver, PushDesk) async throws -> Void) async throws {
    let receiver = Receiver()
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))]), handler: receiver)
    let url = try #require(HTTPURL("http://127.0.0.1:\(server.addresses[0].port)/push?secret=1"))
    let desk = PushDesk(
      PushDesk.Services(webhook: PushWebhookTerms(url: url, key: "APIkey", secret: "the secret")),
      clocks: TestClock().clocks, log: lines.log, report: outcomes.take)
    let result: Result<Void, any Error>
    do {
      try await body(receiver, desk)
      result = .success(())
    } catch { result = .failure(error) }
    await desk.stop()
    await server.shutdown(grace: .milliseconds(300))
    try result.get()
  }

  private var ring: PushNotice { Sample.ring(expiresAt: TestClock().wall + 20_000) }

  @Test func `a push comes with the device's token, signed as webhooks are`() async throws {
    try await withDesk { receiver, desk in
      let token = #"any "text" ü"#
      await desk.deliver(ring, to: [device(1, token: token)])
      #expect(try await outcomes.wait(for: 1).map(\.state) == [.delivered])
      let (bodies, signatures) = receiver.state.withLock { ($0.bodies, $0.signatures) }
      let body = try #require(bodies.first)
      #expect(body["event"] == "push" && body["token"] == token)
      #expect(body["topic"] == "com.example.app" && body["id"]?.count == 36)
      guard case .object(let members) = body, let push = members["push"] else {
        Issue.record("there is no push in it")
        return
      }
      #expect(push["type"] == "ring" && push["ringId"] == Sample.ringId)
      #expect(push["token"] == "call.token.here")

      let (signature, bytes) = try #require(signatures.first)
      let parts = signature.split(separator: ".")
      try #require(parts.count == 3)
      let code = HMAC.code(
        .sha256, key: Array("the secret".utf8), message: Array("\(parts[0]).\(parts[1])".utf8))
      #expect(Base64URL.encode(code) == String(parts[2]))
      let claims = try #require(Base64URL.decode(parts[1].utf8).flatMap { StrictJSON.parse($0) })
      #expect(claims["iss"] == "APIkey")
      #expect(claims["sha256"] == Base64.encode(SHA256.digest(bytes)))
    }
  }

  @Test func `what passes is sent again under the same id, and what doesn't is settled`() async throws {
    try await withDesk { receiver, desk in
      receiver.state.withLock {
        $0.answers = [
          "busy": [503, 429, 200], "gone": [410], "odd": [400], "closed": [401], "moved": [307],
        ]
      }
      let tokens = ["busy", "gone", "odd", "closed", "moved"]
      await desk.deliver(ring, to: tokens.enumerated().map { device($0, token: $1) })
      _ = try await outcomes.wait(for: 5)
      #expect((0..<5).map { outcomes.of($0)?.state } == [.delivered, .removed, .failed, .failed, .failed])
      #expect(
        (0..<5).map { outcomes.of($0)?.reason } == ["", "status410", "status400", "status401", "status307"])
      #expect(outcomes.of(0)?.tries == 3)
      let bodies = receiver.state.withLock { $0.bodies }
      let busy = bodies.filter { $0["token"] == "busy" }
      #expect(busy.count == 3 && Set(busy.compactMap { $0["id"] }).count == 1)
      #expect(bodies.count == 7)
      #expect(!lines.all.contains { $0.contains("secret") || $0.contains("busy") }, "\(lines.all)")
    }
  }

  @Test func `an end stops the ring everywhere, also where it doesn't go itself`() async throws {
    try await withDesk { receiver, desk in
      receiver.state.withLock { $0.answers = ["busy": [503]] }
      await desk.deliver(ring, to: [device(1, token: "busy"), device(2, token: "phone")])
      for _ in 0..<500 where receiver.state.withLock({ $0.bodies.count }) < 3 {
        try await Task.sleep(for: .milliseconds(10))
      }
      await desk.deliver(Sample.end(), to: [device(2, token: "phone")])
      let said = try await outcomes.wait(for: 3)
      #expect(said.contains { $0.device.id == "device-1" && $0.reason == "ringOver" && !$0.mayHaveArrived })
      #expect(said.contains { $0.device.id == "device-2" && !$0.isRing && $0.state == .delivered })
      let report = try #require(await desk.reports().first)
      #expect(report.waiting == 0)
    }
  }

  @Test func `a device that is gone is sent no more`() async throws {
    try await withDesk { receiver, desk in
      receiver.state.withLock { $0.answers = ["busy": [503]] }
      await desk.deliver(ring, to: [device(1, token: "busy")])
      for _ in 0..<500 where receiver.state.withLock({ $0.bodies.count }) < 1 {
        try await Task.sleep(for: .milliseconds(10))
      }
      await desk.stop(device: "device-1", of: "bea")
      #expect(try await outcomes.wait(for: 1).map(\.reason) == ["deviceGone"])
      #expect(try #require(await desk.reports().first).waiting == 0)
    }
  }

  @Test func `a ring that ends is sent no more`() async throws {
    try await withDesk { receiver, desk in
      receiver.state.withLock { $0.answers = ["busy": [503]] }
      await desk.deliver(ring, to: [device(1, token: "busy")])
      for _ in 0..<500 where receiver.state.withLock({ $0.bodies.count }) < 2 {
        try await Task.sleep(for: .milliseconds(10))
      }
      await desk.stop(ringId: Sample.ringId)
      let said = try await outcomes.wait(for: 1)
      #expect(said.first?.state == .expired && said.first?.reason == "ringOver")
      let count = receiver.state.withLock { $0.bodies.count }
      try await Task.sleep(for: .milliseconds(1_500))
      #expect(receiver.state.withLock { $0.bodies.count } <= count + 1)
      let report = try #require(await desk.reports().first)
      #expect(report.service == "webhook" && report.waiting == 0)
    }
  }
}

extension StrictJSON {
  /// The text of a member.
  fileprivate subscript(name: String) -> String? {
    guard case .object(let members) = self, case .string(let text)? = members[name] else { return nil }
    return text
  }
}
