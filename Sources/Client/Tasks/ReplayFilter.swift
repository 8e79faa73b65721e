internal import Media
internal import Model

/// Leaves out with what a server has a subscriber begin: the last key frame and what came behind it, all at once and its pictures a
/// millisecond apart. Who watches sees the present sooner by it; in a file it would stand at times that aren't its own.
struct ReplayFilter {
  private enum State {
    case untouched
    /// One picture has come so far.
    case undecided(UInt32, since: Instant)
    case replay(last: UInt32)
    case live
  }

  /// Units of the pictures' clock: more than what replayed ones are apart, less than any that are shown.
  private static let apart: Int32 = 135
  /// A picture that is alone for so long is of a source that is still.
  private static let patience = Duration.milliseconds(700)

  enum Verdict: Equatable {
    /// It is kept until more is known.
    case held
    /// Neither it nor what is held is of use.
    case dropped
    /// It is, and what is held before it.
    case taken
  }

  private var state = State.untouched

  mutating func judge(_ info: PacketInfo) -> Verdict {
    switch state {
    case .untouched:
      state = .undecided(info.timestamp, since: info.arrival)
      return .held
    case .undecided(let first, _):
      let distance = Int32(bitPattern: info.timestamp &- first)
      if distance == 0 { return .held }
      if distance.magnitude <= Self.apart {
        state = .replay(last: distance > 0 ? info.timestamp : first)
        return .dropped
      }
      state = .live
      return .taken
    case .replay(let last):
      let distance = Int32(bitPattern: info.timestamp &- last)
      guard distance > Self.apart else {
        if distance > 0 { state = .replay(last: info.timestamp) }
        return .dropped
      }
      state = .live
      return .taken
    case .live: return .taken
    }
  }

  /// - Returns: whether what is held is to be taken without more.
  mutating func gaveUp(now: Instant) -> Bool {
    guard case .undecided(_, let since) = state, now - since >= Self.patience else { return false }
    state = .live
    return true
  }
}
