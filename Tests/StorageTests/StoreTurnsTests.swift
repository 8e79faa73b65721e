import Logging
import Testing

@testable import Storage

@Suite("A store without a thread", .timeLimit(.minutes(1)))
struct StoreTurnsTests {
  @Test func `it does what it is asked in its owner's turns, and nothing behind its end`() async throws {
    let (store, turns) = Store.inTurns(.memory, log: Log(level: .error) { _ in })
    #expect(!turns.take())
    let written = Task {
      try await store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run("SELECT 1").count
      }
    }
    // Nothing of it is done before there is a turn that takes it.
    while !turns.take() { await Task.yield() }
    #expect(try await written.value == 1)
    #expect(store.report.writes == 1 && !turns.take())
    turns.close()
    await #expect(throws: StoreError.closed) {
      _ = try await store.read { transaction throws(StoreError) in try transaction.run("SELECT 1").count }
    }
  }
}
