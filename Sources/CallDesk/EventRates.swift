internal import Calls
internal import Synchronization

/// How often each person has done something in shared sessions within a span.
final class EventRates: Sendable {
  private struct State {
    var windows: [PersonID: RateWindow] = [:]
    var sweptAt = Int64.min
  }

  /// In milliseconds.
  private let span: Int64
  private let state = Mutex(State())

  init(span: Int64) { self.span = span }

  /// Counts one.
  /// - Returns: in how many milliseconds it may be done; nil: now.
  func take(_ person: PersonID, most: Int, at now: Int64) -> Int64? {
    state.withLock { state in
      if state.sweptAt == .min || now - state.sweptAt >= span {
        state.sweptAt = now
        state.windows = state.windows.filter { !$0.value.isIdle(span: span, at: now) }
      }
      if let wait = state.windows[person]?.wait(most: most, span: span, at: now) { return wait }
      state.windows[person, default: RateWindow()].add(span: span, at: now)
      return nil
    }
  }
}
