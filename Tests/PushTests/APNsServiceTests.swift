import Foundation
import HTTPClient
import Model
import Testing

@testable import Push

/// Over real sockets, TLS and HTTP/2, against another implementation of it.
@Suite("Pushes through APNs", .timeLimit(.minutes(2)), .serialized)
struct APNsServiceTests {
  typealias Step = APNsService.Step

  let outcomes = Outcomes()
  private let lines = Lines()
  private let clock = TestClock()

  /// - Parameter trust: nil: in the service's own certificate.
  func withService(
    patience: Duration = .seconds(5), readiness: Duration? = nil, team: String = "DEF123GHIJ",
    trust: HTTPClient.Trust? = nil, _ body: (APNsService, PushDesk) async throws -> Void
  ) async throws {
    let service = try APNsService()
    defer { service.stop() }
    var terms = service.terms
    (terms.patience, terms.readiness, terms.teamID) = (patience, readiness, team)
    terms.trust = trust ?? terms.trust
    let desk = PushDesk(
      PushDesk.Services(apns: terms), clocks: clock.clocks, log: lines.log, report: outcomes.take)
    let result: Result<Void, any Error>
    do {
      try await body(service, desk)
      result = .success(())
    } catch { result = .failure(error) }
    await desk.stop()
    try result.get()
    // Whatever happens, the log has nothing of devices, calls and people in it.
    for secret in ["aaaaaaaa", "call.token.here", "Ada", "bearer", "eyJ"] {
      #expect(!lines.all.contains { $0.contains(secret) }, "\(lines.all)")
    }
  }

  func ring(seconds: Int64 = 30) -> PushNotice {
    Sample.ring(expiresAt: clock.wall + seconds * 1_000)
  }

  // MARK: As it should be

  @Test func `pushes go beside each other over one connection, as APNs wants them`() async throws {
    try await withService { service, desk in
      for number in 1...40 { try service.script(number, Step(delay: 0.4)) }
      let notice = ring()
      await desk.deliver(notice, to: (1...40).map { Sample.device($0, $0 == 40 ? .apnsAlert : .apnsVoIP) })
      let said = try await outcomes.wait(for: 40)
      #expect(said.allSatisfy { $0.state == .delivered && $0.tries == 1 && $0.ringId == Sample.ringId })
      let report = try service.report()
      #expect(report.connections == 1 && report.tokens == 1 && report.pushes.count == 40)
      #expect(report.mostStreams >= 30, "\(report.mostStreams) at once")
      #expect(report.requests.allSatisfy { $0.status == 200 })
      #expect(Set(report.pushes.compactMap { $0.headers["apns-id"] }).count == 40)
      let push = try #require(report.pushes(to: 1).first)
      let expiration = try #require(push.headers["apns-expiration"].flatMap { Int64($0) })
      let end = try #require(notice.ring).expiresAt.milliseconds
      #expect(expiration * 1_000 >= end && expiration * 1_000 < end + 1_000)
      #expect(
        push.body
          == String(decoding: try #require(PushPayload(notice, for: Sample.device(1))).bytes, as: UTF8.self))
      let alert = try #require(report.pushes(to: 40).first)
      #expect(
        alert.headers["apns-collapse-id"] == Sample.ringId && alert.headers["apns-push-type"] == "alert")
    }
  }

  @Test func `one after the other they go over the same connection, with the same provider token`()
    async throws
  {
    try await withService { service, desk in
      for number in 1...8 {
        await desk.deliver(ring(), to: [Sample.device(number)])
        _ = try await outcomes.wait(for: number)
        // The provider token is old enough to be made again, and doesn't have to be.
        if number == 4 { clock.advance(by: .seconds(25 * 60)) }
      }
      let report = try service.report()
      #expect(report.connections == 1 && report.tokens == 1 && report.pushes.count == 8)
      #expect(outcomes.all.allSatisfy { $0.state == .delivered })
    }
  }

  @Test func `where a new connection takes one push at first, all go out all the same`() async throws {
    try await withService { service, desk in
      try service.streams(first: 1, then: 500)
      await desk.deliver(ring(), to: (1...30).map { Sample.device($0) })
      let said = try await outcomes.wait(for: 30)
      #expect(said.allSatisfy { $0.state == .delivered && $0.tries == 1 })
      #expect(try service.report().connections <= 2)
    }
  }

  // MARK: Tokens that are no good

  @Test func `bad tokens are removed, and those that were registered since are not`() async throws {
    try await withService { service, desk in
      try service.script(1, Step(status: 400, reason: "BadDeviceToken"))
      try service.script(2, Step(status: 410, reason: "Unregistered", timestamp: 2_000_000))
      try service.script(3, Step(status: 410, reason: "Unregistered", timestamp: 2_000_000))
      try service.script(4, Step(status: 400, reason: "DeviceTokenNotForTopic"))
      var none = Sample.device(5)
      none.token = "no token"
      let devices = [
        Sample.device(1), Sample.device(2), Sample.device(3, registeredAt: 2_000_000), Sample.device(4), none,
      ]
      await desk.deliver(ring(), to: devices)
      _ = try await outcomes.wait(for: 5)
      #expect((1...5).map { outcomes.of($0)?.state } == [.removed, .removed, .failed, .removed, .removed])
      #expect(outcomes.of(3)?.reason == "Unregistered" && outcomes.of(2)?.device == devices[1])
      #expect(try service.report().pushes.count == 4)
    }
  }

  // MARK: Trouble that passes

  @Test func `what is too much or fails for a while is sent again, under the same id`() async throws {
    try await withService { service, desk in
      let busy = Step(status: 429, reason: "TooManyRequests")
      try service.script(1, busy, busy, Step())
      try service.script(2, Step(status: 503, reason: "ServiceUnavailable"), Step())
      try service.script(
        3, Step(status: 429, reason: "TooManyRequests", headers: ["retry-after": "2"]), Step())
      try service.script(4, Step(reset: 7), Step())
      try service.script(5, Step(reset: 2), Step())
      await desk.deliver(ring(), to: (1...5).map { Sample.device($0) })
      let said = try await outcomes.wait(for: 5)
      #expect(said.allSatisfy { $0.state == .delivered })
      #expect(outcomes.of(1)?.tries == 3 && outcomes.of(2)?.tries == 2)
      let report = try service.report()
      for number in 1...5 {
        let pushes = report.pushes(to: number)
        #expect(pushes.count >= 2 && Set(pushes.compactMap { $0.headers["apns-id"] }).count == 1, "\(number)")
      }
      let asked = report.pushes(to: 3)
      #expect(asked[1].at - asked[0].at >= 2)
    }
  }

  @Test func `once the ring is over nothing of it is sent`() async throws {
    try await withService { service, desk in
      try service.script(1, Step(status: 503, reason: "Shutdown"))
      let began = ContinuousClock.now
      await desk.deliver(ring(seconds: 2), to: [Sample.device(1)])
      let said = try await outcomes.wait(for: 1)
      #expect(said[0].state == .expired && said[0].reason == "Shutdown" && said[0].tries >= 2)
      #expect(ContinuousClock.now - began < .seconds(3))
      let count = try service.report().pushes.count
      try await Task.sleep(for: .seconds(1))
      #expect(try service.report().pushes.count == count)
    }
  }

  @Test func `a push without an answer is sent again, over the connection that others have answers on`()
    async throws
  {
    try await withService(patience: .milliseconds(600)) { service, desk in
      try service.script(1, Step(lost: true), Step())
      await desk.deliver(ring(), to: [Sample.device(1)])
      try await service.wait(for: 1)
      try await Task.sleep(for: .milliseconds(50))
      await desk.deliver(ring(), to: [Sample.device(2)])
      let said = try await outcomes.wait(for: 2)
      #expect(said.allSatisfy { $0.state == .delivered } && outcomes.of(1)?.tries == 2)
      let report = try service.report()
      #expect(report.connections == 1)
      #expect(Set(report.pushes(to: 1).compactMap { $0.headers["apns-id"] }).count == 1)
    }
  }

  @Test func `a connection that swallows everything is left, and the next has what it swallowed`()
    async throws
  {
    try await withService(patience: .milliseconds(600)) { service, desk in
      await desk.deliver(ring(), to: [Sample.device(1)])
      _ = try await outcomes.wait(for: 1)
      try service.freeze()
      await desk.deliver(ring(), to: (2...6).map { Sample.device($0) })
      let said = try await outcomes.wait(for: 6)
      #expect(said.allSatisfy { $0.state == .delivered } && outcomes.of(2)?.tries == 2)
      await desk.deliver(ring(), to: [Sample.device(7)])
      #expect(try await outcomes.wait(for: 7).last?.tries == 1)
      #expect(try service.report().connections == 2)
    }
  }

  @Test func `a connection that breaks off is made again, and what was under way is sent again`() async throws
  {
    try await withService { service, desk in
      for number in 1...5 { try service.script(number, Step(lost: true), Step()) }
      await desk.deliver(ring(), to: (1...5).map { Sample.device($0) })
      try await service.wait(for: 5)
      try service.abort()
      let said = try await outcomes.wait(for: 5)
      #expect(said.allSatisfy { $0.state == .delivered })
      let report = try service.report()
      #expect(report.connections == 2 && report.open == 1)
      #expect(Set(report.pushes.compactMap { $0.headers["apns-id"] }).count == 5)
    }
  }

  // MARK: GOAWAY

  @Test func `what APNs hasn't begun when it goes away is sent over the next connection, at once`()
    async throws
  {
    try await withService { service, desk in
      // The first is begun, and has its answer late; the second is the one at which it goes away.
      try service.script(1, Step(delay: 2.5))
      try service.script(2, Step(goaway: "refuse"), Step())
      await desk.deliver(ring(), to: [Sample.device(1)])
      try await service.wait(for: 1)
      await desk.deliver(ring(), to: (2...10).map { Sample.device($0) })
      let said = try await outcomes.wait(for: 10)
      #expect(said.allSatisfy { $0.state == .delivered } && said.last?.device.id == "device-1")
      let report = try service.report()
      #expect(report.connections == 2)
      #expect(report.pushes(to: 1).count == 1 && report.pushes(to: 1)[0].connection == 1)
      // Some may have been there before it went away.
      let place = try #require(report.pushes(to: 2).first).stream
      for number in 2...10 {
        let last = try #require(report.pushes(to: number).last)
        #expect(last.connection == 2 || last.stream < place, "\(number)")
        #expect(last.status == 200, "\(number)")
        #expect(last.at < report.pushes(to: 1)[0].at + 2, "\(number) waits for the answers of the first")
        #expect(Set(report.pushes(to: number).compactMap { $0.headers["apns-id"] }).count == 1)
      }
    }
  }

  @Test func `what is begun has its answer, and later pushes go over the next connection`() async throws {
    try await withService { service, desk in
      try service.script(1, Step(delay: 0.5, goaway: "accept"))
      await desk.deliver(ring(), to: [Sample.device(1)])
      try await service.wait(for: 1)
      try await Task.sleep(for: .milliseconds(100))
      await desk.deliver(ring(), to: [Sample.device(2)])
      let said = try await outcomes.wait(for: 2)
      #expect(said.allSatisfy { $0.state == .delivered && $0.tries == 1 })
      let report = try service.report()
      #expect(report.connections == 2 && report.pushes(to: 1).count == 1)
      #expect(report.pushes(to: 2).last?.connection == 2)
      // And that one stays.
      await desk.deliver(ring(), to: [Sample.device(3)])
      _ = try await outcomes.wait(for: 3)
      try await Task.sleep(for: .milliseconds(300))
      #expect(try service.report().connections == 2 && service.report().open == 1)
    }
  }

  private func closings(_ service: APNsService) -> [(Int, () throws -> Void)] {
    [(1, service.goaway), (2, service.abort), (3, {})]
  }

  @Test func `a connection that was closed while nothing was sent is noticed`() async throws {
    try await withService { service, desk in
      for (number, close) in closings(service) {
        await desk.deliver(ring(), to: [Sample.device(number)])
        #expect(try await outcomes.wait(for: number).last?.tries == 1)
        try close()
        try await Task.sleep(for: .milliseconds(300))
      }
      #expect(outcomes.all.allSatisfy { $0.state == .delivered })
      let report = try service.report()
      #expect(report.connections == 3 && report.open == 1 && report.pushes.count == 3)
    }
  }

  // MARK: Wrong content

  @Test func `whatever a stranger says in place of APNs, each push has its outcome`() async throws {
    try await withService { service, desk in
      try service.script(1, Step(status: 400, body: "<html>no</html>"))
      try service.script(2, Step(status: 410, body: "{}"))
      try service.script(3, Step(status: 410, reason: "Unregistered\n injected=1", timestamp: 2_000_000))
      try service.script(4, Step(status: 200, body: "{{{{"))
      try service.script(5, Step(status: 500, size: 500_000), Step())
      try service.script(6, Step(status: 200, size: 500_000), Step())
      try service.script(7, Step(status: 600, body: "x"))
      await desk.deliver(ring(), to: (1...7).map { Sample.device($0) })
      _ = try await outcomes.wait(for: 7)
      let expected: [(PushOutcome.State, String)] = [
        (.failed, "unreadable"), (.failed, "unreadable"), (.removed, "unreadable"), (.delivered, ""),
        (.delivered, ""), (.delivered, ""), (.failed, "unreadable"),
      ]
      for (number, (state, reason)) in zip(1..., expected) {
        #expect(outcomes.of(number)?.state == state && outcomes.of(number)?.reason == reason, "\(number)")
      }
    }
  }

  // MARK: The provider token

  @Test func `a provider token that APNs calls expired is made again at once, and for all`() async throws {
    try await withService { service, desk in
      await desk.deliver(ring(), to: [Sample.device(1)])
      _ = try await outcomes.wait(for: 1)
      clock.advance(by: .seconds(21 * 60))
      try service.expire()
      await desk.deliver(ring(), to: (2...11).map { Sample.device($0) })
      let said = try await outcomes.wait(for: 11)
      #expect(said.allSatisfy { $0.state == .delivered && $0.tries == 1 })
      #expect(try service.report().tokens == 2)
    }
  }

  @Test func `a provider token is never made again within twenty minutes, and the operator hears of it`()
    async throws
  {
    try await withService { service, desk in
      await desk.deliver(ring(), to: [Sample.device(1)])
      _ = try await outcomes.wait(for: 1)
      clock.advance(by: .seconds(19 * 60))
      try service.expire()
      await desk.deliver(ring(), to: (2...6).map { Sample.device($0) })
      let said = try await outcomes.wait(for: 6)
      #expect(said.dropFirst().allSatisfy { $0.state == .failed && $0.reason == "ExpiredProviderToken" })
      #expect(try service.report().tokens == 1 && service.report().pushes.count == 6)
      #expect(lines.all.count { $0.contains("reason=ExpiredProviderToken") } == 1, "\(lines.all)")
    }
  }

  @Test func `a key of another team is the operator's to mend`() async throws {
    try await withService(team: "ZZZ999ZZZZ") { service, desk in
      await desk.deliver(ring(), to: [Sample.device(1)])
      let said = try await outcomes.wait(for: 1)
      #expect(said[0].state == .failed && said[0].reason == "InvalidProviderToken" && said[0].tries == 1)
      #expect(lines.all.contains { $0.contains("error") && $0.contains("reason=InvalidProviderToken") })
    }
  }

  @Test func `a server that no authority vouches for gets no provider token`() async throws {
    try await withService(trust: .system) { service, desk in
      await desk.deliver(ring(), to: [Sample.device(1)])
      let said = try await outcomes.wait(for: 1)
      #expect(said[0].state == .failed && said[0].reason == "certificate")
      #expect(try service.report().requests.isEmpty)
    }
  }

  // MARK: Ready

  @Test func `the connection is there before the first push, and is made again before the next`() async throws
  {
    try await withService(readiness: .milliseconds(200)) { service, desk in
      try await Task.sleep(for: .milliseconds(1_500))
      let before = try service.report()
      #expect(before.connections == 1 && before.pushes.isEmpty)
      #expect(before.requests.count >= 3 && before.requests.allSatisfy { $0.headers["authorization"] == nil })
      try service.abort()
      for _ in 0..<200 {
        if try service.report().connections >= 2 { break }
        try await Task.sleep(for: .milliseconds(20))
      }
      await desk.deliver(ring(), to: [Sample.device(1)])
      #expect(try await outcomes.wait(for: 1).first?.state == .delivered)
      let report = try service.report()
      #expect(report.connections == 2 && report.open == 1 && report.pushes(to: 1)[0].connection == 2)
    }
  }

  @Test func `a push leaves at once over a connection that is there`() async throws {
    try await withService { service, desk in
      await desk.deliver(ring(), to: [Sample.device(1)])
      _ = try await outcomes.wait(for: 1)
      var fastest = Duration.seconds(60)
      for number in 2...12 {
        let began = ContinuousClock.now
        await desk.deliver(ring(), to: [Sample.device(number)])
        while outcomes.all.count < number { try await Task.sleep(for: .milliseconds(1)) }
        fastest = min(fastest, ContinuousClock.now - began)
      }
      // There and back; of the fastest, since others may be computing.
      #expect(fastest < .milliseconds(100), "\(fastest)")
    }
  }
}
