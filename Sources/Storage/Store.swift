public import Logging
internal import Polling
internal import Synchronization

/// Durable records: reads and writes of one database, in the order in which they are asked for, on a thread of their own.
///
/// Writes that wait at the same time become one transaction with one sync (group commit), and each is answered once it is
/// on the disk. So a single write takes a sync, and a thousand at once take little longer. Of such a group each succeeds or
/// fails by itself, unless the database as a whole does.
///
/// A connection that was lost is made again by the next that is asked for. Nothing is repeated here: who asked knows whether
/// that is good, by `StoreError.mayBeDone`.
public final class Store: Sendable {
  private let shared: StoreShared
  /// nil: its owner lets it do what it is asked.
  private let thread: StoreThread?

  /// Of all that waits, unless one alone is larger.
  public static let queueBytes = 64 * 1_024 * 1_024

  init(_ shared: StoreShared, _ thread: StoreThread?) {
    self.shared = shared
    self.thread = thread
  }

  deinit { shared.close() }

  /// Opens it, locks out other servers, and brings its schema up to date.
  /// - Parameters:
  ///   - queueBytes: of all that waits; further writes are refused with `queueFull`.
  ///   - log: what the operator has to know of it later.
  /// - Throws: `cannotOpen`, `inUse`, `newerSchema`, and what a database may answer to its first statements.
  public static func open(
    _ location: StoreLocation, queueBytes: Int = queueBytes, log: Log
  ) async throws(StoreError) -> Store {
    let shared = StoreShared(queueBytes: queueBytes)
    let thread = try StoreThread(shared, log: log) { location.makeDatabase() }
    // The first thing that the thread does is to open it.
    let opened: Result<Void, StoreError> = await withCheckedContinuation { continuation in
      shared.enqueue(
        StoreQueue.Job(
          isWrite: false, bytes: 0, perform: { _ in { continuation.resume(returning: .success(())) } },
          fail: { continuation.resume(returning: .failure($0)) }))
    }
    let store = Store(shared, thread)
    do throws(StoreError) { try opened.get() } catch {
      await store.close()
      throw error
    }
    return store
  }

  /// Changes the database.
  /// - Parameters:
  ///   - bytes: about what it takes to wait.
  ///   - body: what to do, on the store's thread. What it throws undoes this write alone.
  /// - Returns: what `body` does, once it is on the disk.
  @discardableResult
  public func write<Value: Sendable>(
    bytes: Int, _ body: @escaping @Sendable (borrowing Transaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await ask(isWrite: true, bytes: bytes, body)
  }

  /// Reads from the database what was written before.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Transaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await ask(isWrite: false, bytes: 0, body)
  }

  private func ask<Value: Sendable>(
    isWrite: Bool, bytes: Int, _ body: @escaping @Sendable (borrowing Transaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    let answer: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      shared.enqueue(
        StoreQueue.Job(
          isWrite: isWrite, bytes: bytes,
          perform: { transaction throws(StoreError) in
            let value = try body(transaction)
            return { continuation.resume(returning: .success(value)) }
          },
          fail: { continuation.resume(returning: .failure($0)) }))
    }
    return try answer.get()
  }

  public var report: StoreReport { shared.report }

  /// Does what waits, and gives the database back to others; nothing more is taken.
  /// - Parameter patience: a disk that stands still is not waited for longer.
  public func close(within patience: Duration = .seconds(10)) async {
    shared.close()
    let deadline = ContinuousClock.now + patience
    while !shared.hasEnded, .now < deadline { try? await Task.sleep(for: .milliseconds(5)) }
  }
}

/// What the store's thread and those who ask have in common.
final class StoreShared: Sendable {
  struct State: ~Copyable {
    var queue: StoreQueue
    var report = StoreReport()
    var hasEnded = false
  }

  let wakeup = Wakeup()
  private let state: Mutex<State>

  init(queueBytes: Int) { state = Mutex(State(queue: StoreQueue(byteLimit: queueBytes))) }

  func enqueue(_ job: StoreQueue.Job) {
    let refusal = state.withLock { state in
      let refusal = state.queue.add(job)
      if let refusal { state.report.failures[refusal.reason, default: 0] += 1 }
      return refusal
    }
    if let refusal { return job.fail(refusal) }
    wakeup.signal()
  }

  /// - Returns: what to do next; empty: nothing waits. nil: nothing waits and nothing will.
  func take() -> [StoreQueue.Job]? {
    state.withLock { state in
      let group = state.queue.take()
      return group.isEmpty && state.queue.isClosed ? nil : group
    }
  }

  /// What was taken is done: counted before those who wait hear of it.
  func finish(_ note: (inout StoreReport) -> Void) {
    state.withLock { state in
      state.queue.finish()
      note(&state.report)
    }
  }

  var report: StoreReport {
    state.withLock { state in
      var report = state.report
      (report.waiting, report.waitingBytes) = state.queue.waiting
      return report
    }
  }

  func close() {
    state.withLock { $0.queue.close() }
    wakeup.signal()
  }

  var hasEnded: Bool { state.withLock { $0.hasEnded } }
  func end() { state.withLock { $0.hasEnded = true } }
}
