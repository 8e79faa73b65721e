internal import Calls
internal import Synchronization

/// How many events of shared sessions each person has sent within a second.
final class EventRates: Sendable {
  private struct State {
    var windows: [PersonID: RateWindow] = [:]
    var sweptAt = Int64.min
  }

  private static let second: Int64 = 1_000

  private let state = Mutex(State())

  /// Counts one.
  /// - Returns: in how many milliseconds it may be sent; nil: now.
  func take(_ person: PersonID, most: Int, at now: Int64) -> Int64? {
    state.withLock { state in
      if state.sweptAt == .min || now - state.sweptAt >= Self.second {
        state.sweptAt = now
        state.windows = state.windows.filter { !$0.value.isIdle(span: Self.second, at: now) }
      }
      if let wait = state.windows[person]?.wait(most: most, span: Self.second, at: now) { return wait }
      state.windows[person, default: RateWindow()].add(span: Self.second, at: now)
      return nil
    }
  }
}
