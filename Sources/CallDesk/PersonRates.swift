internal import Calls
internal import Synchronization

/// How often each person has done something lately, which is bounded in several spans at once. What was refused isn't counted.
final class PersonRates: Sendable {
  struct Bound: Sendable {
    let most: Int
    /// Milliseconds.
    let span: Int64
  }

  private struct State {
    var windows: [PersonID: RateWindow] = [:]
    var sweptAt = Int64.min
  }

  /// People who are remembered. Beyond, others wait until some are forgotten.
  private static let capacity = 200_000
  private static let sweep: Int64 = 60_000

  private let bounds: [Bound]
  private let longest: Int64
  private let state = Mutex(State())

  init(_ bounds: [Bound]) {
    self.bounds = bounds
    longest = bounds.map(\.span).max() ?? 0
  }

  /// In how many milliseconds a person may do it; nil: now. Nothing is counted.
  /// - Parameter now: on the clock that doesn't jump.
  func wait(_ person: PersonID, at now: Int64) -> Int64? {
    state.withLock { state in
      if state.sweptAt == .min || now - state.sweptAt >= Self.sweep {
        state.sweptAt = now
        state.windows = state.windows.filter { !$0.value.isIdle(span: longest, at: now) }
      }
      guard let window = state.windows[person] else {
        return state.windows.count < Self.capacity ? nil : Self.sweep
      }
      return bounds.compactMap { window.wait(most: $0.most, span: $0.span, at: now) }.max()
    }
  }

  /// Counts one, if it may be done now.
  /// - Returns: as `wait`.
  func take(_ person: PersonID, at now: Int64) -> Int64? {
    if let wait = wait(person, at: now) { return wait }
    count(person, at: now)
    return nil
  }

  /// Counts one.
  func count(_ person: PersonID, at now: Int64) {
    state.withLock { $0.windows[person, default: RateWindow()].add(span: longest, at: now) }
  }

  /// Takes back one that was counted at a time.
  func giveBack(_ person: PersonID, at time: Int64) {
    state.withLock { $0.windows[person]?.giveBack(at: time) }
  }
}
