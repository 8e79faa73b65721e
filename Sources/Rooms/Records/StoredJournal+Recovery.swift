internal import Logging
internal import Model
public import Storage
internal import Synchronization

extension StoredJournal {
  /// What the store has of the processes before this one; before `run`.
  ///
  /// A row that can't be read is left out with a warning: the rest is of use without it.
  /// - Parameter eventBytes: of the log; older events are left where they are.
  public func recover(eventBytes: Int = EventLog.Limits().bytes) async throws(StoreError) -> RoomRecovery {
    let found = try await store.read { transaction throws(StoreError) in
      try RecordReader.read(transaction, eventBytes: eventBytes)
    }
    if found.unreadable > 0 {
      log.warning("rows of the journal can't be read and are left out", ["rows": "\(found.unreadable)"])
    }
    var recovery = found.recovery
    var random = RandomSource.system
    let run = recovery.events?.run ?? random.next()
    if recovery.events == nil { recovery.events = RoomRecovery.Events(run: run) }
    let last = recovery.events?.lastPosition ?? 0
    let rows = recovery.rooms.compactMap { room in
      room.life.map {
        RecordBatch.Life(
          life: $0, settings: room.settings, lastEvent: room.lastEvent, stands: room.stands,
          hasNewMetadata: false, isKnown: true)
      }
    }
    state.withLock { state in
      state.run = run
      state.pending.begin(rows, lastPosition: last)
    }
    storedPosition.store(last, ordering: .releasing)
    return recovery
  }
}
