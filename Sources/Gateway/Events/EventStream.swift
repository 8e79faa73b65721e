package import HTTPServer
package import Model

/// How one who reads events as they happen is served: how far it has come, what it is given next, and when. It is given the time
/// and what holds by then, and says what to do; it has neither log nor socket.
///
///     : roost                          at once
///     what is in the log, then live    each event once, in order
///     :                                every `EventStream.beat`
///     draining                         once, while those in rooms may stay
///     end {reason}                     why there is no more
package struct EventStream: Sendable {
  /// How far a reader has come.
  package enum Position: Equatable, Sendable {
    /// In one room, by its id. nil: nothing is known, and it begins with the oldest event that is kept.
    case room(id: String, after: Int?)
    /// In all rooms; nil likewise.
    case all(after: String?)
  }

  package enum Action: Equatable, Sendable {
    /// Read on from there and say what there is, as far as there is room; then `took` or `failed`.
    case read(Position)
    case say(Line)
    /// Nothing until that moment, unless there is more.
    case wait(until: Instant)
    case end
  }

  /// What is said beside events.
  package enum Line: Equatable, Sendable {
    case opening
    /// A comment, which keeps proxies from taking the connection for a dead one.
    case comment
    case draining(deadline: String)
    case end(EventStreamEnd)
  }

  /// What holds at the moment at which the stream is asked.
  package struct Circumstances: Sendable {
    package var now: Instant
    /// Seconds since 1970.
    package var wall: Int
    /// Why the reader may not read on; nil: it may.
    package var refusal: EventStreamEnd?
    /// Until when those in rooms may stay, where the server drains.
    package var drainDeadline: String?
    package var ending: HTTPBodyEnding?

    package init(
      now: Instant, wall: Int, refusal: EventStreamEnd? = nil, drainDeadline: String? = nil,
      ending: HTTPBodyEnding? = nil
    ) {
      self.now = now
      self.wall = wall
      self.refusal = refusal
      self.drainDeadline = drainDeadline
      self.ending = ending
    }
  }

  /// Between two comments.
  package static let beat = Duration.seconds(15)
  /// Between two looks into the log by one that knows all: what happens in between comes together, so that a busy room with a
  /// thousand readers costs twenty writes a second for each and no more.
  package static let pause = Duration.milliseconds(50)

  package private(set) var position: Position
  /// From when on the token holds no longer, in seconds since 1970.
  private let expires: Int
  private var hasBegun = false
  private var hasSaidDraining = false
  private var nextComment = Instant.never
  private var nextRead = Instant(nanoseconds: .min)
  /// Nothing more was in the log; until the stream is looked at again.
  private var isCaughtUp = false
  private var end: EventStreamEnd?
  private var isOver = false

  package init(at position: Position, expires: Int) {
    self.position = position
    self.expires = expires
  }

  /// Begins a round, which goes on by `next` until that says to wait or to end: something may have come.
  package mutating func look() { isCaughtUp = false }

  package mutating func next(_ present: Circumstances) -> Action {
    if isOver { return .end }
    // Permission is asked for at the act, before anything is read.
    if end == nil { end = present.refusal ?? (present.ending == .stalled ? .tooSlow : nil) }
    if let end {
      isOver = true
      return .say(.end(end))
    }
    guard hasBegun else {
      hasBegun = true
      nextComment = present.now + Self.beat
      return .say(.opening)
    }
    if let deadline = present.drainDeadline, !hasSaidDraining {
      hasSaidDraining = true
      return .say(.draining(deadline: deadline))
    }
    if present.now >= nextComment {
      nextComment = present.now + Self.beat
      return .say(.comment)
    }
    return isCaughtUp ? rest(present) : read(present)
  }

  private func read(_ present: Circumstances) -> Action {
    present.now >= nextRead || present.ending != nil
      ? .read(position) : .wait(until: min(nextRead, nextComment))
  }

  /// All that happened by now was said.
  private mutating func rest(_ present: Circumstances) -> Action {
    guard present.ending == nil else {
      isOver = true
      return .say(.end(.serverShutdown))
    }
    // A second at least, since those of the token are whole ones.
    let left = expires > present.wall ? expires &- present.wall : 1
    let expiry = present.now + .seconds(min(left, 86_400))
    return .wait(until: min(nextComment, expiry))
  }

  // MARK: - What the log has

  /// - Parameters:
  ///   - position: of the last event that was said, or as it was.
  ///   - count: how many were said.
  ///   - isLast: there were no more.
  ///   - isOver: the room is, and all of it was said.
  package mutating func took(
    _ position: Position, count: Int, isLast: Bool, isOver: Bool, now: Instant
  ) {
    self.position = position
    isCaughtUp = isLast
    if isLast, count > 0 { nextRead = now + Self.pause }
    if isLast, isOver { end = .roomFinished }
  }

  /// What follows the position is no longer kept.
  package mutating func failed(_ gone: EventStreamEnd) { end = gone }
}
