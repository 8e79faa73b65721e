import Logging
import Model
import Synchronization
import Testing

@testable import Gateway
@testable import Rooms

/// What is asked of the store, and when, by what carries events to a receiver.
@Suite("Webhooks and their store", .timeLimit(.minutes(1)))
struct WebhookSenderTests {
  /// A store of one page, or one that can't be read.
  private final class Ledger: WebhookLedger {
    struct State {
      var pages: [[StoredEvent]?] = []
      var asked = 0
      var report = StoredDeliveries.Report()
    }

    let state = Mutex(State())
    var held: (events: Int, bytes: Int) { (0, 0) }

    func next(for receiver: String, bytes: Int) async -> [StoredEvent]? {
      state.withLock { state in
        state.asked += 1
        return state.pages.count > 1 ? state.pages.removeFirst() : state.pages[0]
      }
    }
    func events(of room: String, ids: ClosedRange<Int>, bytes: Int) async -> StoredDeliveries.RoomPage? {
      StoredDeliveries.RoomPage()
    }
    func settle(_ event: WebhookQueue.Settled, for receiver: String) {}
    func report(for receiver: String) -> StoredDeliveries.Report { state.withLock { $0.report } }
    func tidy(by now: @escaping @Sendable () -> WallTime) async {}
    func flush() async {}
  }

  /// To where no server listens.
  private static func webhooks(_ house: House, _ ledger: Ledger, bytes: Int = 1_000_000) -> Webhooks {
    var limits = WebhookQueue.Limits()
    limits.bytes = bytes
    (limits.shortestPause, limits.longestPause) = (.milliseconds(50), .milliseconds(200))
    return Webhooks(
      to: [Webhooks.Target(url: "http://127.0.0.1:1/", key: "APIkey", secret: "secret")],
      of: house.directory.events, ledger: ledger, log: Log(level: .error) { _ in },
      clocks: WebhookTests.clocks(house.directory), limits: limits)
  }

  @Test func `a store that can't be read is asked once a second, however much happens`() async throws {
    let (house, ledger) = (try House(), Ledger())
    ledger.state.withLock { $0.pages = [nil] }
    let webhooks = Self.webhooks(house, ledger)
    try await house.room()
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .milliseconds(2_500) {
      try await house.update(times: 1)
      try await Task.sleep(for: .milliseconds(5))
    }
    let asked = ledger.state.withLock { $0.asked }
    #expect(asked >= 2 && asked <= 4, "\(asked)")
    await webhooks.finish(within: .zero)
  }

  @Test func `where memory had no place, more is read once what waits is given up`() async throws {
    let (house, ledger) = (try House(), Ledger())
    let events = (1...20).map { number in
      let room = RoomInfo(id: RoomID(naming: "RM_\(number)"), name: "r\(number)", metadata: nil)
      return StoredEvent(
        position: UInt64(number),
        event: RoomEvent(id: 1, time: WallTime(milliseconds: 1_000), room: room, kind: .roomStarted))
    }
    ledger.state.withLock { $0.pages = [events, []] }
    let webhooks = Self.webhooks(house, ledger, bytes: 2_000)
    for _ in 0..<100 where ledger.state.withLock({ $0.asked }) < 1 {
      try await Task.sleep(for: .milliseconds(20))
    }
    try await Task.sleep(for: .milliseconds(500))
    #expect(ledger.state.withLock { $0.asked } == 1)
    #expect(await webhooks.reports()[0].waiting == 20)
    ledger.state.withLock { $0.report.givenUp = 20 }
    for _ in 0..<200 where ledger.state.withLock({ $0.asked }) < 2 {
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(ledger.state.withLock { $0.asked } >= 2)
    #expect(await webhooks.reports()[0].waiting == 0)
    await webhooks.finish(within: .zero)
  }
}
