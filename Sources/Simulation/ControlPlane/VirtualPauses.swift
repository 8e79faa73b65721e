package import Model
internal import Synchronization

/// The control plane's clock, and those who wait by it.
package final class VirtualPauses: Sendable {
  private struct Sleeper {
    let number: UInt64
    let until: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(nanoseconds: 0)
    var lastNumber: UInt64 = 0
    /// In the order of their ends, then of their beginnings.
    var sleepers: [Sleeper] = []
    /// Cancelled before they had begun to wait.
    var cancelled: Set<UInt64> = []
  }

  private let state = Mutex(State())

  package init() {}

  package var now: Instant { state.withLock { $0.now } }
  var deadline: Instant { state.withLock { $0.sleepers.first?.until ?? .never } }

  /// Moves the clock, and wakes those whose time has come.
  package func advance(to now: Instant) {
    let over = state.withLock { state -> [Sleeper] in
      state.now = now
      let count = state.sleepers.firstIndex { $0.until > now } ?? state.sleepers.count
      defer { state.sleepers.removeFirst(count) }
      return Array(state.sleepers.prefix(count))
    }
    for sleeper in over { sleeper.continuation.resume() }
  }

  /// - Throws: `CancellationError`.
  package func pause(_ span: Duration) async throws {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if state.cancelled.remove(number) != nil { return true }
          let until = state.now + span
          let place = state.sleepers.firstIndex { $0.until > until } ?? state.sleepers.count
          state.sleepers.insert(
            Sleeper(number: number, until: until, continuation: continuation), at: place)
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        guard let place = state.sleepers.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return nil
        }
        return state.sleepers.remove(at: place)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
