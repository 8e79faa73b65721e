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
  /// To the next try, where the store can't be read or written.
  static let retry = Duration.seconds(1)

  fileprivate struct State {
    var receivers: [String: Receiver]
    var isWriting = false
  }

  fileprivate struct Receiver {
    var progress: DeliveryProgress
    /// The last position that was read.
    var read: UInt64
  }

  private let store: Store
  private let journal: StoredJournal
  private let log: Log
  private let state: Mutex<State>

  /// Takes up what the store knows of receivers, and forgets those that are no longer named; before the journal runs.
  ///
  /// A receiver that the store doesn't know gets what happens from here on.
  /// - Parameters:
  ///   - receivers: by any name that stays the same; at least one.
  ///   - journal: which has recovered, and writes to the same store.
  public init(
    to receivers: [String], in store: Store, journal: StoredJournal, log: Log
  ) async throws(StoreError) {
    self.store = store
    self.journal = journal
    self.log = log
    let now = journal.stored
    let known = try await store.write(bytes: 0) { transaction throws(StoreError) in
      try DeliveryRows.begin(receivers, at: now, in: transaction)
    }
    state = Mutex(
      State(receivers: known.mapValues { Receiver(progress: $0, read: $0.floor) }))
    journal.hold(after: known.values.map(\.floor).min() ?? now)
  }

  /// The next events for a receiver, in the order of all; each is given out once, and is to be settled.
  /// - Returns: at most so many; empty: there are no more by now.
  public func next(for receiver: String, limit: Int) async -> [RoomEvent] {
    while !Task.isCancelled {
      guard let read = state.withLock({ $0.receivers[receiver]?.read }) else { return [] }
      let stored = journal.stored
      guard read < stored else { return [] }
      do throws(StoreError) {
        let page = try await store.read { transaction throws(StoreError) in
          try DeliveryRows.events(after: read, upTo: stored, limit: limit, in: transaction)
        }
        let events = state.withLock { $0.receivers[receiver]?.take(page, upTo: stored, limit: limit) ?? [] }
        // A page of events that had arrived before is no end.
        if !events.isEmpty { return events }
      } catch {
        log.warning("events for webhooks can't be read, tried again", ["reason": "\(error)"])
        try? await Task.sleep(for: Self.retry)
      }
    }
    return []
  }

  /// An event has arrived at a receiver, or is given up: after a restart it is not given out again.
  /// - Parameter room: its id.
  public func settle(_ event: Int, of room: String, for receiver: String) {
    let room = RoomID(naming: room)
    let begins = state.withLock { state in
      guard state.receivers[receiver]?.progress.settle(event, of: room) == true, !state.isWriting else {
        return false
      }
      state.isWriting = true
      return true
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

  private func write() async -> Bool {
    let changes = state.withLock { state in
      var changes: [String: DeliveryProgress.Changes] = [:]
      for receiver in state.receivers.keys {
        changes[receiver] = state.receivers[receiver]?.progress.takeChanges()
      }
      return changes
    }
    guard !changes.isEmpty else { return true }
    do throws(StoreError) {
      try await store.write(bytes: changes.values.reduce(0) { $0 + 128 * ($1.rooms.count + 1) }) {
        transaction throws(StoreError) in
        for (receiver, change) in changes { try DeliveryRows.write(change, of: receiver, to: transaction) }
      }
    } catch {
      state.withLock { state in
        for (receiver, change) in changes { state.receivers[receiver]?.progress.giveBack(change) }
      }
      log.warning("progress of webhooks can't be stored, tried again", ["reason": "\(error)"])
      return false
    }
    let floor = state.withLock { state in
      for (receiver, change) in changes { state.receivers[receiver]?.progress.written(change) }
      return state.receivers.values.map(\.progress.storedFloor).min()
    }
    if let floor { journal.hold(after: floor) }
    return true
  }
}

extension StoredDeliveries.Receiver {
  /// - Parameter stored: the newest that could be among the page.
  fileprivate mutating func take(_ page: DeliveryRows.Page, upTo stored: UInt64, limit: Int) -> [RoomEvent] {
    // Positions without a row are of events that were dropped before they could be written.
    read = page.rows < limit ? stored : page.last
    return page.events.filter { progress.begin($0.event.id, of: $0.event.room.id, at: $0.position) }.map(
      \.event)
  }
}
