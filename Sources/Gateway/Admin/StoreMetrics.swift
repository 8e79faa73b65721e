internal import Rooms
internal import Storage

/// What the store and the journal on it have done and have before them.
enum StoreMetrics {
  static func write(
    _ store: StoreReport, journal: StoredJournal.Report, to exposition: inout Exposition
  ) {
    exposition.family(
      "roost_store_up", .gauge, "Whether the store did what was last asked of it.",
      [.init(store.isUp ? 1 : 0)])
    exposition.family(
      "roost_store_queue_depth", .gauge, "Reads and writes that wait for the store.", [.init(store.waiting)])
    exposition.family(
      "roost_store_queue_bytes", .gauge, "Approximate memory of those.", [.init(store.waitingBytes)])
    exposition.family(
      "roost_store_writes_total", .counter, "Writes that are on the disk.", [.init(store.writes)])
    exposition.family("roost_store_reads_total", .counter, "Reads.", [.init(store.reads)])
    exposition.family(
      "roost_store_syncs_total", .counter, "Transactions that are on the disk, each of one write or more.",
      [.init(store.syncs)])
    let (seconds, attoseconds) = store.syncTime.components
    exposition.family(
      "roost_store_sync_seconds_total", .counter, "Time that those transactions took.",
      [.init(Double(seconds) + Double(attoseconds) / 1e18)])
    exposition.family(
      "roost_store_failures_total", .counter, "Reads and writes that failed, by reason.",
      StoreError.reasons.map { .init(store.failures[$0, default: 0], ("reason", $0)) })
    exposition.family(
      "roost_journal_waiting_events", .gauge, "Events of rooms that are not stored yet.",
      [.init(journal.waiting)])
    exposition.family(
      "roost_journal_waiting_bytes", .gauge, "Approximate memory of those.", [.init(journal.waitingBytes)])
    exposition.family(
      "roost_journal_written_events_total", .counter, "Events of rooms that were stored.",
      [.init(journal.written)])
    exposition.family(
      "roost_journal_dropped_total", .counter,
      "Records that were given up because too much waited to be stored.", [.init(journal.dropped)])
  }
}
