internal import Calls
internal import Synchronization

/// Hands on what was decided in the order of the decisions: each takes its place as it is made, on the store's thread, and what
/// comes back from the disk early waits for those before it.
final class OrderedOutlet: Sendable {
  private struct State {
    var taken: UInt64 = 0
    /// The place whose turn it is.
    var next: UInt64 = 0
    /// What is on the disk, and those that came to nothing.
    var settled: [UInt64: Aftermath?] = [:]
    var isPerforming = false
  }

  private let outlet: any CallOutlet
  private let state = Mutex(State())

  init(_ outlet: any CallOutlet) { self.outlet = outlet }

  func readers(of person: PersonID) -> EventReaders { outlet.readers(of: person) }

  /// A decision is made.
  /// - Returns: its place, which has to be settled.
  func take() -> UInt64 {
    state.withLock { state in
      defer { state.taken += 1 }
      return state.taken
    }
  }

  /// - Parameter aftermath: nil: the decision came to nothing.
  func settle(_ place: UInt64, _ aftermath: Aftermath?) {
    let isMine = state.withLock { state in
      state.settled[place] = .some(aftermath)
      guard !state.isPerforming else { return false }
      state.isPerforming = true
      return true
    }
    guard isMine else { return }
    while let (aftermath) = next() { if let aftermath, !aftermath.isEmpty { outlet.perform(aftermath) } }
  }

  /// - Returns: nil: nothing more has its turn.
  private func next() -> Aftermath?? {
    state.withLock { state in
      guard let settled = state.settled.removeValue(forKey: state.next) else {
        state.isPerforming = false
        return nil
      }
      state.next += 1
      return .some(settled)
    }
  }
}

/// The places that one decision takes: a transaction that is tried again takes another each time.
final class DecisionPlaces: Sendable {
  private struct State {
    var places: [UInt64] = []
    /// What the last try has decided; nil: it has come to no decision yet.
    var decision: UnknownDecisions.Decision?
    /// What the last try has taken of budgets.
    var spent: [Spending] = []
  }

  private let outlet: OrderedOutlet
  private let state = Mutex(State())

  init(_ outlet: OrderedOutlet) { self.outlet = outlet }

  func take() {
    state.withLock { state in
      state.places.append(outlet.take())
      state.decision = nil
    }
  }

  func spend(_ spent: [Spending]) { state.withLock { $0.spent = spent } }

  /// What the last try has spent, once.
  func takeSpent() -> [Spending] {
    state.withLock { state in
      defer { state.spent = [] }
      return state.spent
    }
  }

  /// Something is decided, and may be on the disk from now on.
  func note(_ aftermath: Aftermath, at now: CallTime) {
    state.withLock { $0.decision = UnknownDecisions.Decision(aftermath: aftermath, at: now) }
  }

  var decision: UnknownDecisions.Decision? { state.withLock { $0.decision } }

  /// - Parameter aftermath: of the last try; nil: it came to nothing.
  func settle(_ aftermath: Aftermath?) {
    let taken = state.withLock { state in
      defer { state.places = [] }
      return state.places
    }
    for place in taken.dropLast() { outlet.settle(place, nil) }
    if let last = taken.last { outlet.settle(last, aftermath) }
  }
}
