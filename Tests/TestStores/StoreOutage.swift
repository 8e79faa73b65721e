public import Storage

extension Store {
  /// Takes the table of calls away, or brings it back: meanwhile all that is asked of calls fails, as where the database does.
  public func setCallsAway(_ isAway: Bool) async throws(StoreError) {
    let statement: SQLStatement =
      isAway ? "ALTER TABLE calls RENAME TO calls_away" : "ALTER TABLE calls_away RENAME TO calls"
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
