public import Logging
public import Storage
internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

/// A journal in a store. Rooms leave what they say in memory and go on; from there it is written in groups, each a
/// transaction with one sync.
///
/// What the log gives up is deleted behind that, in portions of their own (`EventDeletions`).
///
/// What is said first is written at once; what comes while that is under way, and within `pace` after it began, is the next
/// group, unless somebody waits for it. Where a group can't be written it stays, newer words take the place of older ones, and it
/// is tried again every second until it can: a room never waits for a disk. What waits is bounded (`PendingRecords`).
public final class StoredJournal: RoomJournal {
  /// How often a group is written that no one waits for.
  static let pace = Duration.milliseconds(50)
  /// Pauses after groups that could not be written.
  private static let retries: [Duration] = [
    .milliseconds(100), .milliseconds(200), .milliseconds(500), .seconds(1),
  ]
  /// For those who wait; a store that stands still is not waited for longer.
  static let patience = Duration.seconds(5)
  /// Of events that wait. As many may be on their way to the store.
  public static let pendingBytes = 32 * 1_024 * 1_024

  public struct Report: Equatable, Sendable {
    /// Events that aren't written yet, and about their bytes.
    public var waiting = 0
    public var waitingBytes = 0
    public var written: UInt64 = 0
    public var dropped: UInt64 = 0

    public init() {}
  }

  struct State {
    var pending: PendingRecords
    /// By which the log's cursors know it.
    var run: UInt64 = 0
    /// What is written of what was said.
    var synced: UInt64 = 0
    var underWay = 0
    var underWayBytes = 0
    var written: UInt64 = 0
    var failures = 0
    /// No group is begun before.
    var next = ContinuousClock.now
    var isTimed = false
    /// No portion of old events is deleted before.
    var nextDeletion = ContinuousClock.now
    var isDeletionTimed = false
    var hasDeletionFailed = false
    var waiting: [UInt64: Waiter] = [:]
    var lastWaiter: UInt64 = 0
    var whenStored: (@Sendable () -> Void)?
  }

  struct Waiter {
    /// What has to be written.
    let said: UInt64
    let continuation: CheckedContinuation<JournalError?, Never>
  }

  let store: Store
  let log: Log
  let state: Mutex<State>
  let storedPosition = Atomic<UInt64>(0)
  private let calls: AsyncStream<Void>
  let call: AsyncStream<Void>.Continuation

  public init(store: Store, pendingBytes: Int = pendingBytes, log: Log) {
    self.store = store
    self.log = log
    state = Mutex(State(pending: PendingRecords(byteLimit: pendingBytes)))
    (calls, call) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  // MARK: - What rooms say

  public func record(_ event: RoomEvent, at position: UInt64) { say { $0.record(event, at: position) } }
  public func keep(_ settings: RoomSettings, of life: RoomLife) { say { $0.keep(settings, of: life) } }
  public func giveUpName(of room: RoomID) { say { $0.giveUpName(of: room) } }
  public func remember(_ removal: Removal) { say { $0.remember(removal) } }
  public func forget(_ removal: Removal) { say { $0.forget(removal) } }
  public func keep(_ invitation: Invitation) { say { $0.keep(invitation) } }
  public func forget(_ invitation: InvitationID) { say { $0.forget(invitation) } }
  /// They go behind the next group, in portions: that a row stays for longer harms nothing.
  public func giveUp(_ events: GivenUpEvents) { state.withLock { $0.pending.giveUp(events) } }

  /// Of events after this position that the log gives up, those stay in the store that a receiver has still to hear; in place of an
  /// earlier position.
  func hold(after position: UInt64) { state.withLock { $0.pending.hold(after: position) } }
  /// The log has given up all events up to this position.
  var givenUpPosition: UInt64 { state.withLock { $0.pending.deletions.position } }

  private func say(_ words: (inout PendingRecords) -> Void) {
    state.withLock { words(&$0.pending) }
    call.yield()
  }

  // MARK: - What is written

  public var stored: UInt64 { storedPosition.load(ordering: .acquiring) }

  public func whenStored(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.whenStored = body } }

  public func synced() async throws(JournalError) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.answeredUnsynced) { return }
    #endif
    var number: UInt64?
    let error: JournalError? = await withCheckedContinuation { continuation in
      number = state.withLock { state in
        guard state.synced < state.pending.said else { return nil }
        state.lastWaiter += 1
        state.waiting[state.lastWaiter] = Waiter(said: state.pending.said, continuation: continuation)
        return state.lastWaiter
      }
      guard let number else { return continuation.resume(returning: nil) }
      call.yield()
      Task {
        try? await Task.sleep(for: Self.patience)
        let late = state.withLock { $0.waiting.removeValue(forKey: number) }
        late?.continuation.resume(returning: .late)
      }
    }
    if let error { throw error }
  }

  public var report: Report {
    state.withLock { state in
      var report = Report()
      report.waiting = state.pending.waitingEvents + state.underWay
      report.waitingBytes = state.pending.waitingBytes + state.underWayBytes
      report.written = state.written
      report.dropped = state.pending.dropped
      return report
    }
  }

  // MARK: - Writing

  /// Writes what rooms say, until its task is cancelled; after `recover`.
  public func run() async {
    for await _ in calls {
      var goesOn = true
      while goesOn {
        let batch = takeWhatIsDue()
        if let batch { await write(batch) }
        // Between any two groups: neither waits for all of the other.
        await deletePortion()
        goesOn = batch != nil
      }
    }
  }

  /// - Returns: nil: nothing waits, or it is not time yet, and `calls` says when it is.
  private func takeWhatIsDue() -> (batch: RecordBatch, run: UInt64, said: UInt64)? {
    let (taken, pause) = state.withLock { state -> ((RecordBatch, UInt64, UInt64)?, Duration?) in
      guard state.pending.said > state.synced else { return (nil, nil) }
      let now = ContinuousClock.now
      let isUrgent = !state.waiting.isEmpty && state.failures == 0
      if !isUrgent, now < state.next {
        defer { state.isTimed = true }
        return (nil, state.isTimed ? nil : state.next - now)
      }
      state.next = now + Self.pace
      let batch = state.pending.take()
      (state.underWay, state.underWayBytes) = (batch.events.count, batch.eventBytes)
      return ((batch, state.run, state.pending.said), nil)
    }
    if let pause {
      Task {
        try? await Task.sleep(for: pause)
        state.withLock { $0.isTimed = false }
        call.yield()
      }
    }
    return taken
  }

  private func write(_ taken: (batch: RecordBatch, run: UInt64, said: UInt64)) async {
    let (batch, run, said) = taken
    do throws(StoreError) {
      try await store.write(bytes: batch.bytes) { transaction throws(StoreError) in
        try RecordWriter.write(batch, run: run, to: transaction)
      }
      finish(batch, said: said)
    } catch {
      fail(batch, said: said, error)
    }
  }

  private func finish(_ batch: RecordBatch, said: UInt64) {
    let (done, whenStored) = state.withLock { state in
      state.synced = said
      state.written += UInt64(batch.events.count)
      state.failures = 0
      (state.underWay, state.underWayBytes) = (0, 0)
      // Before those who wait go on: they may ask for it.
      storedPosition.store(batch.lastPosition, ordering: .releasing)
      return (state.takeWaiters(upTo: said), state.whenStored)
    }
    for waiter in done { waiter.continuation.resume(returning: nil) }
    whenStored?()
  }

  private func fail(_ batch: RecordBatch, said: UInt64, _ error: StoreError) {
    let failed = state.withLock { state in
      state.pending.giveBack(batch, mayBeDone: error.mayBeDone)
      state.next = .now + Self.retries[min(state.failures, Self.retries.count - 1)]
      state.failures += 1
      (state.underWay, state.underWayBytes) = (0, 0)
      return state.takeWaiters(upTo: said)
    }
    for waiter in failed { waiter.continuation.resume(returning: .failed("\(error)")) }
    // When it is time to try again.
    call.yield()
  }
}

extension StoredJournal.State {
  /// Those who wait for nothing that was said later.
  fileprivate mutating func takeWaiters(upTo said: UInt64) -> [StoredJournal.Waiter] {
    let done = waiting.filter { $0.value.said <= said }
    for number in done.keys { waiting[number] = nil }
    return Array(done.values)
  }
}
