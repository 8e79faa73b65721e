public import Storage

extension Store {
  /// Takes the table of calls away, or brings it back: meanwhile all that is asked of calls fails, as where the database does.
  public func setCallsAway(_ isAway: Bool) async throws(StoreError) {
    try await rename(
      isAway ? "ALTER TABLE calls RENAME TO calls_away" : "ALTER TABLE calls_away RENAME TO calls")
  }

  /// Takes the table of what people hear away, or brings it back: meanwhile nothing that anyone hears of can be decided, and calls can be
  /// read as ever.
  public func setEventsAway(_ isAway: Bool) async throws(StoreError) {
    try await rename(
      isAway
        ? "ALTER TABLE call_events RENAME TO call_events_away"
        : "ALTER TABLE call_events_away RENAME TO call_events")
  }

  /// The same of who has blocked whom: no one can be rung meanwhile.
  public func setBlocksAway(_ isAway: Bool) async throws(StoreError) {
    try await rename(
      isAway ? "ALTER TABLE blocks RENAME TO blocks_away" : "ALTER TABLE blocks_away RENAME TO blocks")
  }

  /// The same of what became of pushes.
  public func setDeliveriesAway(_ isAway: Bool) async throws(StoreError) {
    try await rename(
      isAway
        ? "ALTER TABLE call_deliveries RENAME TO call_deliveries_away"
        : "ALTER TABLE call_deliveries_away RENAME TO call_deliveries")
  }

  private func rename(_ statement: SQLStatement) async throws(StoreError) {
    var tries = 0
    while true {
      do throws(StoreError) {
        try await write(bytes: 1) { transaction throws(StoreError) in try transaction.run(statement) }
        return
      } catch {
        // It shares a transaction with what fails meanwhile.
        tries += 1
        if tries == 100 { throw error }
        try? await Task.sleep(for: .milliseconds(10))
      }
    }
  }
}
