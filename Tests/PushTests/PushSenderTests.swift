import Crypto
import HTTPClient
import Logging
import Model
import Synchronization
import Testing

@testable import Push

/// The sender and the desk, with push services that answer as a test says.
@Suite("What is sent to whom, and what is said of it", .timeLimit(.minutes(1)))
struct PushSenderTests {
  /// Answers when it is let, or at once.
  private final class Platform: PushPlatform {
    struct State {
      var verdicts: [PushVerdict] = []
      var jobs: [PushJob] = []
      var isOpen = true
      var isReady = false
      var isStopped = false
    }

    let state = Mutex(State())

    func push(_ job: PushJob) async -> PushVerdict {
      state.withLock { $0.jobs.append(job) }
      while !state.withLock({ $0.isOpen }) { try? await Task.sleep(for: .milliseconds(5)) }
      return state.withLock { $0.verdicts.isEmpty ? .delivered : $0.verdicts.removeFirst() }
    }

    func stayReady() async {
      state.withLock { $0.isReady = true }
      while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
      state.withLock { $0.isReady = false }
    }

    func stop() { state.withLock { $0.isStopped = true } }
  }

  private let platform = Platform()
  private let outcomes = Outcomes()
  private let lines = Lines()

  private func sender(atOnce: Int = 10) -> PushSender {
    PushSender(
      "production", platform, limits: PushQueue.Limits(count: 100, bytes: 1_000_000, atOnce: atOnce),
      clocks: TestClock().clocks, log: lines.log, report: outcomes.take)
  }

  private func job(_ number: Int, _ platform: PushDevice.Platform = .apnsVoIP, isRing: Bool = true) -> PushJob
  {
    Sample.job(number, platform, isRing: isRing, deadline: 3_600)
  }

  @Test func `each push has its outcome, as soon as there is one`() async throws {
    platform.state.withLock {
      $0.verdicts = [
        .delivered, .remove(reason: "BadDeviceToken"), .failed(reason: "PayloadTooLarge"),
        .retry(after: .milliseconds(50), reason: "noAnswer"), .delivered,
      ]
    }
    let sender = sender(atOnce: 1)
    await sender.send([1, 2, 3, 4].map { job($0) })
    let said = try await outcomes.wait(for: 4)
    #expect(said.map(\.device.id) == ["device-1", "device-2", "device-3", "device-4"])
    #expect(said.map(\.state) == [.delivered, .removed, .failed, .delivered])
    #expect(said.map(\.reason) == ["", "BadDeviceToken", "PayloadTooLarge", ""])
    #expect(said.map(\.tries) == [1, 1, 1, 2] && said.allSatisfy { $0.isRing && $0.platform == .apnsVoIP })
    #expect(platform.state.withLock { $0.jobs.map(\.id) } == ["id-1", "id-2", "id-3", "id-4", "id-4"])
    let state = await sender.state
    #expect(state.service == "production" && state.waiting == 0 && state.waitingBytes == 0)
    #expect(
      state.counters.outcomes == [.delivered: 2, .removed: 1, .failed: 1] && state.counters.retries == 1)
  }

  @Test func `the end of a ring takes back what wasn't sent, and rings no phone that knows nothing`()
    async throws
  {
    platform.state.withLock { $0.isOpen = false }
    let sender = sender(atOnce: 1)
    await sender.send([job(1), job(2), job(3, .apnsAlert)])
    await sender.end(
      ring: Sample.ringId,
      [
        job(1, isRing: false), job(2, isRing: false), job(3, .apnsAlert, isRing: false),
      ])
    platform.state.withLock { $0.isOpen = true }
    let said = try await outcomes.wait(for: 6)
    let names = said.map { "\($0.device.id) \($0.isRing ? "ring" : "end") \($0.state) \($0.reason)" }
    #expect(
      Set(names) == [
        "device-1 ring delivered ", "device-1 end delivered ", "device-2 ring expired ringOver",
        "device-2 end expired neverRang", "device-3 ring expired ringOver", "device-3 end delivered ",
      ])
    #expect(platform.state.withLock { $0.jobs.map(\.device.id) } == ["device-1", "device-1", "device-3"])
  }

  @Test func `the operator hears what the configuration has wrong, once, and nothing of any push`()
    async throws
  {
    platform.state.withLock {
      $0.verdicts = [PushVerdict](repeating: .misconfigured(reason: "InvalidProviderToken"), count: 5)
    }
    let sender = sender(atOnce: 1)
    await sender.send((1...5).map { job($0) })
    _ = try await outcomes.wait(for: 5)
    let said = lines.all
    #expect(said.count == 1, "\(said)")
    #expect(
      said.first?.contains("error") == true && said.first?.contains("reason=InvalidProviderToken") == true)
    for secret in [Sample.token(1), "call.token.here", "device-1", "Ada"] {
      #expect(!said.contains { $0.contains(secret) })
    }
  }

  @Test func `one that is stopped sends and says nothing more, and one that is let go stays ready no longer`()
    async throws
  {
    platform.state.withLock { $0.isOpen = false }
    var sender: PushSender? = sender()
    await sender?.send([job(1)])
    for _ in 0..<200 where !platform.state.withLock({ $0.isReady && $0.jobs.count == 1 }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(platform.state.withLock { $0.isReady })
    await sender?.stop()
    await sender?.send([job(2)])
    platform.state.withLock { $0.isOpen = true }
    try await Task.sleep(for: .milliseconds(100))
    #expect(
      outcomes.all.isEmpty && platform.state.withLock { $0.jobs.count == 1 && $0.isStopped && !$0.isReady })

    sender = self.sender()
    await sender?.stayReady()
    for _ in 0..<200 where !platform.state.withLock({ $0.isReady }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(platform.state.withLock { $0.isReady })
    sender = nil
    for _ in 0..<200 where platform.state.withLock({ $0.isReady }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(platform.state.withLock { !$0.isReady })
  }

  @Test func `without a service for it a device has its outcome at once`() async throws {
    let desk = PushDesk(
      PushDesk.Services(), clocks: TestClock().clocks, log: lines.log, report: outcomes.take)
    await desk.deliver(
      Sample.ring(), to: PushDevice.Platform.allCases.enumerated().map { Sample.device($0, $1) })
    let said = outcomes.all
    #expect(said.map(\.reason) == ["notConfigured", "notConfigured", "notConfigured"])
    #expect(said.allSatisfy { $0.state == .failed && $0.tries == 0 })
    #expect(await desk.reports().isEmpty)
  }

  @Test func `what is too long for a push is never sent`() async throws {
    var terms = PushWebhookTerms(
      url: try #require(HTTPURL("http://127.0.0.1:1/")), key: "key", secret: "secret")
    terms.atOnce = 1
    let desk = PushDesk(
      PushDesk.Services(webhook: terms), clocks: TestClock().clocks, log: lines.log, report: outcomes.take)
    var notice = Sample.ring()
    notice.callerId = String(repeating: "x", count: 6_000)
    await desk.deliver(notice, to: [Sample.device(1, .webhook)])
    #expect(outcomes.all.map(\.reason) == ["payloadTooLarge"])
    await desk.stop()
  }
}
