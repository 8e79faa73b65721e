public import Logging
internal import Model
public import Storage
internal import Synchronization

/// How far each receiver of events has come, kept in the store: an event stays there until every receiver has it or has given it
/// up, however soon the log forgets it.
///
/// A receiver gets events in the order of all, each once it can't be lost any more, and says of each what `settle` means. What was
/// settled is written in groups behind the act: after a crash some events are given out a second time, none is left out.
public final class StoredDeliveries: Sendable {
  /// Settled events wait so long for others, to be written with them.
  static let pace = Duration.milliseconds(100)
  /// To the next try, where the store can't be written.
  static let retry = Duration.seconds(1)

  public struct Limits: Sendable {
    /// Of events that the store has behind the oldest that a receiver has still to hear, those in the log among them.
    public var bytes: Int
    /// What is older is given up.
    public var age: Duration

    public init(bytes: Int = 1_073_741_824, age: Duration = .seconds(86_400)) {
      self.bytes = bytes
      self.age = age
    }
  }

  /// What became of a receiver's events here.
  public struct Report: Equatable, Sendable {
    /// Given up, because they were too old or too many.
    public var late: UInt64 = 0
    public var crowdedOut: UInt64 = 0
    /// All up to this position was given up where it wasn't settled.
    public var givenUp: UInt64 = 0
    /// About how many events of the store haven't been given out yet.
    public var unread = 0

    public init() {}
  }

  /// Events of one room.
  public struct RoomPage: Sendable {
    public var events: [StoredEvent] = []
    /// From which number and position on the rest is to be read; nil: there is none.
    public var rest: (id: Int, position: UInt64)?

    public init() {}
  }

  let store: Store
  let journal: StoredJournal
  let limits: Limits
  private let log: Log
  let state: Mutex<State>

  /// Takes up what the store knows of receivers, and forgets those that are no longer named; before the journal runs.
  ///
  /// A receiver that the store doesn't know gets what happens from here on.
  /// - Parameters:
  ///   - receivers: by any name that stays the same; at least one.
  ///   - journal: which has recovered, and writes to the same store.
  public init(
    to receivers: [String], in store: Store, journal: StoredJournal, limits: Limits = Limits(), log: Log
  ) async throws(StoreError) {
    self.store = store
    self.journal = journal
    self.limits = limits
    self.log = log
    let now = journal.stored
    let known = try await store.write(bytes: 0) { transaction throws(StoreError) in
      try DeliveryRows.begin(receivers, at: now, in: transaction)
    }
    let floor = known.values.map(\.floor).min() ?? now
    state = Mutex(
      State(
        receivers: known.mapValues { Receiver(progress: $0, read: $0.floor) },
        held: HeldEvents(after: floor, pieceBytes: max(limits.bytes / 64, 65_536))))
    journal.hold(after: floor)
  }

  /// There are no receivers any more: the store forgets all of them.
  public static func forgetReceivers(in store: Store) async throws(StoreError) {
    try await store.write(bytes: 0) { transaction throws(StoreError) in
      try DeliveryRows.forgetAll(in: transaction)
    }
  }

  // MARK: - Reading

  /// The next events for a receiver, in the order of all; each is given out once, and is to be settled.
  /// - Parameter bytes: of the store's, about; one event is given in any case.
  /// - Returns: empty: there are no more by now. nil: they can't be read at the moment.
  public func next(for receiver: String, bytes: Int) async -> [StoredEvent]? {
    while true {
      guard let read = state.withLock({ $0.receivers[receiver]?.read }) else { return [] }
      let stored = journal.stored
      guard read < stored else { return [] }
      guard
        let page = await reading({ transaction throws(StoreError) in
          try DeliveryRows.events(after: read, upTo: stored, bytes: bytes, in: transaction)
        })
      else { return nil }
      let events = state.withLock { $0.receivers[receiver]?.take(page, upTo: stored) ?? [] }
      // A page of events that had arrived before is no end.
      if !events.isEmpty { return events }
    }
  }

  /// Events of one room that were given out before, or as many of them as are left, in their order.
  /// - Parameters:
  ///   - room: its id.
  ///   - ids: their numbers.
  ///   - bytes: of the store's, about; one event is given in any case.
  /// - Returns: nil: they can't be read at the moment.
  public func events(of room: String, ids: ClosedRange<Int>, bytes: Int) async -> RoomPage? {
    let page = await reading { transaction throws(StoreError) in
      try DeliveryRows.events(of: RoomID(naming: room), ids: ids, bytes: bytes, in: transaction)
    }
    guard let page else { return nil }
    var answer = RoomPage()
    answer.events = page.events
    if !page.isWhole, let last = page.last, last.id < ids.upperBound {
      answer.rest = (last.id + 1, last.position + 1)
    }
    return answer
  }

  func reading<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Transaction) throws(StoreError) -> Value
  ) async -> Value? {
    do throws(StoreError) {
      let value = try await store.read(body)
      note(.reading, nil)
      return value
    } catch {
      note(.reading, error)
      return nil
    }
  }

  public func report(for receiver: String) -> Report {
    let stored = journal.stored
    return state.withLock { state in
      guard let receiver = state.receivers[receiver] else { return Report() }
      var report = receiver.report
      report.unread = Int(clamping: stored - min(stored, receiver.read))
      return report
    }
  }

  /// An event and all before it of its room have arrived at a receiver, or are given up: after a restart they are not given out
  /// again.
  /// - Parameters:
  ///   - room: its id.
  ///   - position: the event's, as it was given out.
  ///   - next: the position of the room's next that was given out; nil: there is none.
  public func settle(_ event: Int, of room: String, at position: UInt64, next: UInt64?, for receiver: String)
  {
    let room = RoomID(naming: room)
    let event = DeliveryProgress.Settled(id: event, position: position)
    let begins = state.withLock { state in
      guard state.receivers[receiver]?.progress.settle(event, next: next, of: room) == true else {
        return false
      }
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if begins { Task { await writeSoon() } }
  }

  /// Writes what was settled by now.
  public func flush() async { _ = await write() }

  // MARK: - Writing

  private func writeSoon() async {
    var pause = Self.pace
    while true {
      try? await Task.sleep(for: pause)
      pause = await write() ? Self.pace : Self.retry
      let goesOn = state.withLock { state in
        state.isWriting = state.receivers.values.contains { $0.progress.hasChanges }
        return state.isWriting
      }
      if !goesOn { return }
    }
  }

  /// One after the other: of two, the later would be written first, and what is older in its place.
  /// - Returns: whether the store knows everything.
  func write() async -> Bool {
    let task = state.withLock { state in
      let task = Task { [before = state.lastWrite] in
        _ = await before?.value
        return await writeNow()
      }
      state.lastWrite = task
      return task
    }
    return await task.value
  }

  private func writeNow() async -> Bool {
    let changes = state.withLock { state in
      var changes: [String: DeliveryProgress.Changes] = [:]
      for receiver in state.receivers.keys {
        changes[receiver] = state.receivers[receiver]?.progress.takeChanges()
      }
      return changes
    }
    guard !changes.isEmpty else { return true }
    let bytes = changes.values.reduce(0) { $0 + 128 * ($1.rooms.count + 1) }
    let isDone: Void? = await writing(bytes: bytes) { transaction throws(StoreError) in
      for (receiver, change) in changes { try DeliveryRows.write(change, of: receiver, to: transaction) }
    }
    guard isDone != nil else {
      state.withLock { state in
        for (receiver, change) in changes { state.receivers[receiver]?.progress.giveBack(change) }
      }
      return false
    }
    let floor = state.withLock { state in
      for (receiver, change) in changes { state.receivers[receiver]?.progress.written(change) }
      return state.floor
    }
    if let floor { journal.hold(after: floor) }
    return true
  }

  func writing<Value: Sendable>(
    bytes: Int = 0, _ body: @escaping @Sendable (borrowing Transaction) throws(StoreError) -> Value
  ) async -> Value? {
    do throws(StoreError) {
      let value = try await store.write(bytes: bytes, body)
      note(.writing, nil)
      return value
    } catch {
      note(.writing, error)
      return nil
    }
  }

  /// The operator hears of it when it begins and when it is over.
  private func note(_ trouble: Trouble, _ error: StoreError?) {
    let isNews = state.withLock { state in
      error == nil ? state.troubles.remove(trouble) != nil : state.troubles.insert(trouble).inserted
    }
    guard isNews else { return }
    if let error {
      log.warning("\(trouble.rawValue), tried again until it can be", ["reason": "\(error)"])
    } else {
      log.info("\(trouble.rawValue): that is over")
    }
  }
}
