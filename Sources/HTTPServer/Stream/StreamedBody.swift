package import Model

/// A body on its way to one client: the bytes that wait, how long the client may take to make room for them, and when there is to
/// be more. It is given the time and says what to do; it has neither socket nor source.
///
///     open ──▶ ending: its last words ──▶ said ──▶ over
///
/// A client that takes nothing for `HTTPLimits.writeTime` is cut off with a clear end all the same: the source is asked for its
/// last words, and these are pressed into a larger buffer of the system's, behind what waits there. So a client that reads again
/// finds what it had missed, why there is no more, and the end of the body.
package struct StreamedBody {
  package enum Action: Equatable {
    /// Have the source append the next piece, by `fill`.
    case ask(ending: HTTPBodyEnding?)
    /// Give the client what is in `waiting`, and say by `took` or `isFull` what became of it.
    /// - Parameter pressing: in a larger buffer, since this is the last time.
    case send(pressing: Bool)
    /// Ask the source whether it has to end, though the client makes no room; `cutOff` if so.
    case check
    /// Nothing before that moment, unless the signal is raised.
    /// - Parameter forRoom: the client is to make room first; `hasRoom` says that it has.
    case wait(until: Instant, forRoom: Bool)
    case over(End)
  }

  /// What ended it, for the counters.
  package enum End: String, CaseIterable, Sendable {
    /// The source said so.
    case finished
    /// The client took nothing for too long.
    case stalled
    /// The server stops.
    case shutdown
    /// The client has gone.
    case clientGone
  }

  /// How much a piece should be.
  package static let enough = 16_384
  /// Between two questions whether a body has to end whose client makes no room.
  package static let checking = Duration.seconds(5)

  private var bytes: [UInt8]
  private var start = 0
  private let isChunked: Bool
  private let limits: HTTPLimits
  /// The client's buffer has no room.
  private var isBlocked = false
  /// Until when it is to have some again.
  private var writeDeadline = Instant.never
  private var nextAsk = Instant(nanoseconds: .min)
  /// When the source is asked whether it has to end, while the client makes no room.
  private var nextCheck = Instant.never
  private var ending: HTTPBodyEnding?
  /// Until when the last words are to be taken.
  private var endDeadline = Instant.never
  /// The last words wait, or have been taken.
  private var isSaid = false
  private var isPressed = false
  private var isGone = false

  /// - Parameters:
  ///   - head: what comes before the body.
  ///   - isChunked: in chunks (RFC 9112 §7.1); else as it is, and the end of the connection is that of the body.
  package init(head: [UInt8], isChunked: Bool, limits: HTTPLimits) {
    bytes = head
    self.isChunked = isChunked
    self.limits = limits
  }

  /// What the client has not taken yet.
  package var waiting: ArraySlice<UInt8> { bytes[start...] }

  /// What is to be done now. To be asked again after each answer but `wait` and `over`.
  package mutating func next(now: Instant) -> Action {
    if isGone { return .over(.clientGone) }
    guard start < bytes.count else {
      if isSaid { return .over(end) }
      return now >= nextAsk ? .ask(ending: ending) : .wait(until: nextAsk, forRoom: false)
    }
    guard isBlocked else { return .send(pressing: isPressed) }
    let deadline = min(writeDeadline, endDeadline)
    guard now >= deadline else {
      guard now >= nextCheck else { return .wait(until: min(deadline, nextCheck), forRoom: true) }
      nextCheck = now + Self.checking
      return .check
    }
    guard !isPressed else { return .over(end) }
    press(now: now)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.stalledUnsaid) { return .over(end) }
    #endif
    return isSaid ? .send(pressing: true) : .ask(ending: .stalled)
  }

  private var end: End {
    switch ending {
    case nil: .finished
    case .stalled: .stalled
    case .shutdown: .shutdown
    }
  }

  /// Its time is over: what there is to say is said behind what waits, and tried once more.
  private mutating func press(now: Instant) {
    if ending == nil || writeDeadline <= endDeadline { ending = .stalled }
    isPressed = true
    isBlocked = false
    endDeadline = now
  }

  // MARK: - What happens

  /// The next piece.
  /// - Parameter produce: as `HTTPBodySource.produce`, but for the time.
  package mutating func fill(_ produce: (inout [UInt8], Int) -> HTTPBodyStep) {
    compact()
    let before = bytes.count
    if isChunked { bytes.append(contentsOf: Self.sizePlace) }
    let content = bytes.count
    var step = produce(&bytes, Self.enough)
    let size = bytes.count - content
    #if PLANTED_DEFECTS
      let isNothing = size <= 0 && !PlantedDefect.isOn(.emptyChunk)
    #else
      let isNothing = size <= 0
    #endif
    if isNothing {
      bytes.removeLast(bytes.count - before)
    } else if isChunked {
      Self.write(size, at: before, in: &bytes)
      bytes.append(contentsOf: "\r\n".utf8)
    }
    if ending != nil, case .wait = step { step = .end }
    switch step {
    case .more: nextAsk = Instant(nanoseconds: .min)
    case .wait(let moment): nextAsk = moment
    case .end: finish()
    }
  }

  /// The answer is to HEAD: what came before the body was all.
  package mutating func hasNoBody() { isSaid = true }

  private mutating func finish() {
    guard !isSaid else { return }
    isSaid = true
    if isChunked { bytes.append(contentsOf: "0\r\n\r\n".utf8) }
  }

  /// So much of what waits was taken.
  package mutating func took(_ count: Int, now: Instant) {
    start += count
    if start == bytes.count {
      // Most of the time nothing waits, and a thousand of them should take no memory for it.
      bytes = []
      start = 0
      writeDeadline = .never
      nextCheck = .never
    } else if count > 0 {
      writeDeadline = now + limits.writeTime
    }
  }

  /// The client takes no more at the moment.
  package mutating func isFull(now: Instant) {
    if !isBlocked, nextCheck == .never { nextCheck = now + Self.checking }
    isBlocked = true
    if writeDeadline == .never { writeDeadline = now + limits.writeTime }
  }

  package mutating func hasRoom() { isBlocked = false }

  /// The signal was raised.
  package mutating func look() {
    nextAsk = Instant(nanoseconds: .min)
    if isBlocked { nextCheck = nextAsk }
  }

  /// The source has to end, whether the client makes room or not.
  package mutating func cutOff(now: Instant) { endDeadline = now }

  /// The server stops: the source says what it still has to say.
  package mutating func shutDown(now: Instant) {
    guard ending == nil else { return }
    ending = .shutdown
    endDeadline = now + limits.closeTime
    look()
  }

  /// The connection is broken, or the client has shut its side of it.
  package mutating func clientWent() { isGone = true }

  // MARK: - Chunks

  /// As wide as any piece's size.
  private static let sizePlace = Array("00000000\r\n".utf8)

  /// Zeros in front are of the grammar (`chunk-size = 1*HEXDIG`).
  private static func write(_ size: Int, at place: Int, in bytes: inout [UInt8]) {
    for digit in 0..<8 { bytes[place + 7 - digit] = Array("0123456789abcdef".utf8)[size >> (4 * digit) & 15] }
  }

  /// Gives back what was taken, where the rest is to have more behind it.
  private mutating func compact() {
    guard start > 0 else { return }
    bytes.removeFirst(start)
    start = 0
  }
}
