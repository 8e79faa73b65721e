package import Logging

extension Store {
  /// One without a thread: it does what it is asked in the turns that its owner takes, on the owner's thread. For simulations, in which
  /// what is done when follows from what came before.
  ///
  /// The first turn opens it; what keeps it from that, each who asks hears.
  package static func inTurns(
    _ location: StoreLocation, queueBytes: Int = queueBytes, log: Log
  ) -> (store: Store, turns: StoreTurns) {
    let shared = StoreShared(queueBytes: queueBytes)
    let turns = StoreTurns(shared, StoreWorker(shared, location.makeDatabase(), log: log))
    return (Store(shared, nil), turns)
  }
}

/// The turns of a store that has no thread. They belong to one.
package final class StoreTurns {
  private let shared: StoreShared
  private var worker: StoreWorker

  init(_ shared: StoreShared, _ worker: StoreWorker) {
    self.shared = shared
    self.worker = worker
  }

  /// Does what comes next, one read or the writes up to the next read, and answers those who wait for it.
  /// - Returns: false: nothing waits.
  package func take() -> Bool {
    guard let group = shared.take(), !group.isEmpty else { return false }
    worker.perform(group)
    return true
  }

  /// Gives the database back to others; nothing more is taken.
  package func close() {
    shared.close()
    while take() {}
    worker.close()
    shared.end()
  }
}
