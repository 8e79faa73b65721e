internal import Model

/// Whether a participant is still there, from two signs of life: the front door's socket and the media's STUN.
///
/// | gone | then |
/// |---|---|
/// | socket, longer than the grace | lost |
/// | media for `silence` | reconnecting; `restartAfter` later a restart is wanted; lost after `patience` |
/// | both | whichever comes first |
///
/// A value that is given the time: its owner calls `poll` at `deadline`, until it has nothing more to say.
struct Presence: Equatable, Sendable {
  enum Change: Equatable {
    /// Nothing comes on the way of media.
    case reconnecting
    /// It has found no other way by itself.
    case restartWanted
    case reconnected
    /// The session is over.
    case lost
  }

  /// Without valid STUN for so long, media counts as gone.
  static let silence = Duration.seconds(10)
  /// From `reconnecting` on.
  static let restartAfter = Duration.seconds(5)
  static let patience = Duration.seconds(15)

  private let grace: Duration
  /// There is a socket, or has been one: who never had one is here as long as the transports are.
  private(set) var isAttended: Bool
  private var absentSince: Instant?
  /// The last valid STUN message; nil: media has not begun.
  private var heard: Instant?
  private(set) var reconnectingSince: Instant?
  /// A restart was asked for and has not helped yet.
  private(set) var wantsRestart = false
  private var isLost = false

  /// - Parameter grace: how long a session lives on once its socket has gone.
  init(grace: Duration, isAttended: Bool = true) {
    self.grace = grace
    self.isAttended = isAttended
  }

  /// The front door has nowhere to send to.
  mutating func absent(now: Instant) { if isAttended { absentSince = absentSince ?? now } }

  /// It has again.
  mutating func present() { absentSince = nil }

  /// From here on there is a socket, or is none, and other transports are the sign of life. Who was reconnecting is back by that.
  mutating func change(isAttended: Bool) {
    self.isAttended = isAttended
    absentSince = nil
    isLost = false
    mediaEnded()
  }

  /// - Parameter moment: of the last valid STUN message.
  mutating func heard(at moment: Instant) {
    heard = max(heard ?? moment, moment)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.heardBackwards) { heard = moment }
    #endif
  }

  /// The participant has no transport any more, by its own offer: nothing is expected on it.
  mutating func mediaEnded() {
    heard = nil
    wantsRestart = false
  }

  /// What has become due.
  mutating func poll(now: Instant) -> Change? {
    guard !isLost else { return nil }
    if let absentSince, now - absentSince >= grace { return lose() }
    guard let heard else {
      guard reconnectingSince != nil else { return nil }
      reconnectingSince = nil
      return .reconnected
    }
    guard let since = reconnectingSince else {
      guard now - heard >= Self.silence else { return nil }
      reconnectingSince = now
      return .reconnecting
    }
    if now - heard < Self.silence {
      reconnectingSince = nil
      wantsRestart = false
      return .reconnected
    }
    if now - since >= Self.patience { return lose() }
    if !wantsRestart, now - since >= Self.restartAfter {
      wantsRestart = true
      return .restartWanted
    }
    return nil
  }

  private mutating func lose() -> Change {
    isLost = true
    return .lost
  }

  /// When `poll` will have something to say, unless it hears something before.
  var deadline: Instant {
    guard !isLost else { return .never }
    var deadline = absentSince.map { $0 + grace } ?? .never
    if reconnectingSince != nil, heard == nil {
      // Of the past: there is something to say at once.
      deadline = Instant(nanoseconds: 0)
    } else if let since = reconnectingSince {
      deadline = min(deadline, since + (wantsRestart ? Self.patience : Self.restartAfter))
    } else if let heard {
      deadline = min(deadline, heard + Self.silence)
    }
    return deadline
  }

  // MARK: - As bytes

  func encode(into writer: inout StateWriter) {
    writer.write(isAttended)
    writer.write(optional: absentSince)
    writer.write(optional: heard)
    writer.write(optional: reconnectingSince)
    writer.write(wantsRestart)
    writer.write(isLost)
  }

  /// - Parameter version: of the member that it is part of; before 2 every session had a socket.
  init(from reader: inout StateReader, version: UInt8, grace: Duration) throws(StateError) {
    self.init(grace: grace, isAttended: version < 2 ? true : try reader.bool())
    absentSince = try reader.optionalInstant()
    heard = try reader.optionalInstant()
    reconnectingSince = try reader.optionalInstant()
    wantsRestart = try reader.bool()
    isLost = try reader.bool()
  }
}
