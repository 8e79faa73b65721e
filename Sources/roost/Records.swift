internal import Configuration
internal import Logging
internal import Rooms
internal import Storage

/// What outlives the process: the store and the rooms' journal on it, as the configuration says.
struct Records {
  let store: Store
  let journal: StoredJournal
  /// How far the receivers of webhooks have come; nil: there are none.
  let deliveries: StoredDeliveries?
  /// What it has of the process before.
  let recovery: RoomRecovery
  private let writing: Task<Void, Never>
  /// Where the records are elsewhere, the directory of files is this server's all the same.
  private let files: DirectoryLock?

  /// - Throws: a `StoreError` that says what to do.
  /// - Parameter receivers: of webhooks, by their names.
  init(
    _ configuration: Configuration, receivers: [String], development: Bool, log: Log
  ) async throws(StoreError) {
    let storage = configuration.storage
    let location: StoreLocation =
      if !storage.postgresql.isEmpty {
        .postgreSQL(storage.postgresql)
      } else if !storage.directory.isEmpty {
        .directory(storage.directory)
      } else {
        development ? .memory : .directory(Configuration.Storage.productionDirectory)
      }
    files = try Self.lockFiles(storage, development: development)
    store = try await Store.open(location, log: log)
    journal = StoredJournal(store: store, log: log)
    recovery = try await journal.recover()
    // Before the journal writes: it might delete what a receiver has still to hear.
    if receivers.isEmpty {
      try await StoredDeliveries.forgetReceivers(in: store)
      deliveries = nil
    } else {
      deliveries = try await StoredDeliveries(
        to: receivers, in: store, journal: journal, limits: .init(bytes: configuration.webhooks.heldBytes),
        log: log)
    }
    writing = Task { [journal] in await journal.run() }
    log.info(
      "store ready",
      [
        "kind": "\(location.kind)", "rooms": "\(recovery.rooms.count)",
        "removals": "\(recovery.removals.count)",
        "events": "\(recovery.events?.events.count ?? 0)",
      ])
  }

  /// SQLite locks its directory itself.
  /// - Returns: nil: there is no directory, or none that can be made, of which recordings complain.
  private static func lockFiles(
    _ storage: Configuration.Storage, development: Bool
  ) throws(StoreError) -> DirectoryLock? {
    guard !storage.postgresql.isEmpty, let directory = storage.filesDirectory(development: development) else {
      return nil
    }
    do throws(StoreError) { return try DirectoryLock(directory) } catch {
      guard case .inUse = error else { return nil }
      throw error
    }
  }

  /// Writes what waits, as far as that is possible in a few seconds, and gives the store back.
  func close(_ log: Log) async {
    do throws(JournalError) { try await journal.synced() } catch {
      log.error("the last events could not be stored", ["reason": "\(error)"])
    }
    writing.cancel()
    await store.close()
  }
}

extension StoreLocation {
  /// Without what may be secret in it.
  fileprivate var kind: String {
    switch self {
    case .memory: "memory"
    case .directory(let path): path
    case .postgreSQL: "PostgreSQL"
    }
  }
}
