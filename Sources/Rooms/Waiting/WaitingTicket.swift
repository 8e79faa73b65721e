internal import Model
internal import Synchronization

/// Where the room says what becomes of a session that waits: once, to the front door that has it.
final class WaitingTicket: Sendable {
  typealias Outcome = Result<(session: ParticipantSession, isNew: Bool), JoinError>

  private struct State {
    var outcome: Outcome?
    var continuation: CheckedContinuation<Outcome, Never>?
  }

  let waiter: Waiter
  private let state = Mutex(State())

  init(_ waiter: Waiter) { self.waiter = waiter }

  /// The first word counts.
  func settle(_ outcome: Outcome) {
    let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      defer { state.continuation = nil }
      return state.continuation
    }
    waiting?.resume(returning: outcome)
  }

  /// Returns once it is known; asked once.
  func outcome() async -> Outcome {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state -> Outcome? in
        if state.outcome == nil { state.continuation = continuation }
        return state.outcome
      }
      if let known { continuation.resume(returning: known) }
    }
  }
}
