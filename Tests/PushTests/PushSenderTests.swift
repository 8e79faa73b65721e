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
      var isUnanswered = false
      var jobs: [PushJob] = []
      var isOpen = true
      var isReady = false
      var isStopped = false
    }

    let state = Mutex(State())

    func push(_ job: PushJob) async -> PushResult {
      state.withLock { $0.jobs.append(job) }
      while !state.withLock({ $0.isOpen }) { try? await Task.sleep(for: .milliseconds(5)) }
      return state.withLock { state in
        let verdict = state.verdicts.isEmpty ? PushVerdict.delivered : state.verdicts.removeFirst()
        return PushResult(verdict, isUnanswered: state.isUnanswered)
      }
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
    await sender.stop(ring: Sample.ringId)
    let ends = [job(1, isRing: false), job(2, isRing: false), job(3, .apnsAlert, isRing: false)]
    await sender.end(ends) { [outcomes] in outcomes.mayHave($0) }
    platform.state.withLock { $0.isOpen = true }
    let said = try await outcomes.wait(for: 6)
    #expect(
      Set(said.map(Self.line)) == [
        "device-1 ring delivered ", "device-1 end delivered ", "device-2 ring expired ringOver",
        "device-2 end expired neverRang", "device-3 ring expired ringOver", "device-3 end expired neverRang",
      ])
    #expect(platform.state.withLock { $0.jobs.map(\.device.id) } == ["device-1", "device-1"])
  }

  private static func line(_ outcome: PushOutcome) -> String {
    "\(outcome.device.id) \(outcome.isRing ? "ring" : "end") \(outcome.state) \(outcome.reason)"
  }

  @Test func `an end goes out behind the answer to its ring, and nowhere where the ring was refused`()
    async throws
  {
    platform.state.withLock {
      $0.isOpen = false
      $0.verdicts = [.retry(after: .seconds(1), reason: "TooManyRequests")]
    }
    let sender = sender()
    await sender.send([job(1)])
    await sender.stop(ring: Sample.ringId)
    await sender.end([job(1, isRing: false)]) { [outcomes] in outcomes.mayHave($0) }
    try await Task.sleep(for: .milliseconds(100))
    #expect(outcomes.all.isEmpty)
    platform.state.withLock { $0.isOpen = true }
    let said = try await outcomes.wait(for: 2)
    #expect(said.map(Self.line) == ["device-1 ring expired ringOver", "device-1 end expired neverRang"])
    #expect(platform.state.withLock { $0.jobs.count } == 1)
  }

  @Test func `what a device may have is said of a push without an answer`() async throws {
    platform.state.withLock {
      $0.verdicts = [.expired(reason: "noAnswer")]
      $0.isUnanswered = true
    }
    let sender = sender()
    await sender.send([job(1)])
    let said = try await outcomes.wait(for: 1)
    #expect(said[0].state == .expired && said[0].mayHaveArrived && outcomes.mayHave(said[0].device))
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
