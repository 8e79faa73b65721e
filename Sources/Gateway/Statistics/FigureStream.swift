internal import HTTPServer
package import Model

/// How one who reads figures is served: what it is given next, and when. It is given the time and what holds by then, and says what to
/// do; it has neither figures nor socket.
///
///     : roost                       at once
///     the newest figures            as soon as there are some, then every `every`; what came in between is left out
///     :                             where nothing was said for `EventStream.beat`
///     draining                      once
///     end {reason}                  why there is no more
package struct FigureStream: Sendable {
  package enum Action: Equatable, Sendable {
    case say(EventStream.Line)
    /// The newest figures.
    case figures
    /// Nothing until that moment, unless there is more.
    case wait(until: Instant)
    case end
  }

  /// What there is to be said.
  package struct Newest: Sendable {
    /// Counts figures from 1; 0: there are none yet.
    package var number: Int
    /// The room is over.
    package var isOver: Bool

    package init(number: Int, isOver: Bool) { (self.number, self.isOver) = (number, isOver) }
  }

  private let every: Duration
  /// From when on the token holds no longer, in seconds since 1970.
  private let expires: Int
  private var hasBegun = false
  private var hasSaidDraining = false
  private var said = 0
  private var nextFigures = Instant(nanoseconds: .min)
  private var nextComment = Instant.never
  private var isOver = false

  /// - Parameters:
  ///   - every: at least so long between two figures.
  ///   - expires: in seconds since 1970.
  package init(every: Duration, expires: Int) {
    self.every = every
    self.expires = expires
  }

  package mutating func next(_ present: EventStream.Circumstances, _ newest: Newest) -> Action {
    if isOver { return .end }
    // Permission is asked for at the act, before anything is given.
    if let reason = reason(present, newest) {
      isOver = true
      return .say(.end(reason))
    }
    guard hasBegun else {
      hasBegun = true
      nextComment = present.now + EventStream.beat
      return .say(.opening)
    }
    if let deadline = present.drainDeadline, !hasSaidDraining {
      hasSaidDraining = true
      return .say(.draining(deadline: deadline))
    }
    if newest.number > said, present.now >= nextFigures || present.ending != nil {
      said = newest.number
      nextFigures = present.now + every
      nextComment = present.now + EventStream.beat
      return .figures
    }
    guard present.ending == nil else {
      isOver = true
      return .say(.end(.serverShutdown))
    }
    if present.now >= nextComment {
      nextComment = present.now + EventStream.beat
      return .say(.comment)
    }
    return .wait(until: rest(present, newest))
  }

  /// Why there is no more; nil: there is.
  private func reason(_ present: EventStream.Circumstances, _ newest: Newest) -> EventStreamEnd? {
    if let refusal = present.refusal { return refusal }
    if present.ending == .stalled { return .tooSlow }
    return newest.isOver ? .roomFinished : nil
  }

  /// When there is something to say though nothing new comes.
  private func rest(_ present: EventStream.Circumstances, _ newest: Newest) -> Instant {
    // A second at least, since those of the token are whole ones.
    let left = expires > present.wall ? expires &- present.wall : 1
    let expiry = present.now + .seconds(min(left, 86_400))
    return min(min(nextComment, expiry), newest.number > said ? nextFigures : .never)
  }
}
