internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

/// What waits for a front door to read it, in order.
///
/// Who reads too slowly would live in a wrong picture of the room, so too many end its session. While there is no one to
/// read for, notices collapse instead: beyond half of the places what is in the log of events, or stands and is said again by
/// `resumed`, is left out, and of messages the latest wait. An answer is never left out, because nothing says it again, and
/// the front door takes no other offer before it; there is one at a time for each transport.
final class NoticeMailbox: Sendable {
  /// So many notices waiting for a slow front door end the session.
  static let limit = 1_024
  /// Messages that wait for a participant who is away, beyond what its front door has read; and their payloads, as
  /// base64. The oldest are left out.
  static let messageLimit = 256
  static let messageBytes = 1_048_576

  let notices: AsyncStream<ParticipantNotice>
  private let continuation: AsyncStream<ParticipantNotice>.Continuation
  private let state: Mutex<State>
  /// Too many wait.
  private let overflow: @Sendable () -> Void

  private struct State {
    /// The session has a socket to which its notices go.
    var isAttended: Bool
    /// Half of the places are taken.
    var isPressed = false
    var hasOverflowed = false
    /// Something was left out, so that nothing is of use before `resumed`.
    var isCollapsed = false
    var messages: [DataMessage] = []
    var bytes = 0

    mutating func keep(_ message: DataMessage) {
      guard message.reliable else { return }
      messages.append(message)
      bytes += message.payload.utf8.count
      while messages.count > NoticeMailbox.messageLimit || bytes > NoticeMailbox.messageBytes {
        bytes -= messages.removeFirst().payload.utf8.count
      }
    }
  }

  /// - Parameter isAttended: false: there is no one to read for from the beginning.
  init(isAttended: Bool, overflow: @escaping @Sendable () -> Void) {
    self.overflow = overflow
    state = Mutex(State(isAttended: isAttended))
    // One place more, for `closed`; and those of messages.
    (notices, continuation) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingOldest(Self.limit + 1 + Self.messageLimit))
  }

  /// From here on what is not read collapses.
  func absent() { state.withLock { $0.isAttended = false } }

  func put(_ notice: ParticipantNotice) {
    let isFull = state.withLock { state -> Bool in
      guard !state.hasOverflowed else { return false }
      if case .data(let message) = notice, !message.reliable, state.isPressed { return false }
      if case .resumed = notice { reopen(&state) }
      if state.isCollapsed {
        if case .data(let message) = notice { state.keep(message) }
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.answerLeftOut) { return false }
        #endif
        if notice.isAnswer { continuation.yield(notice) }
        return false
      }
      guard case .enqueued(let places) = continuation.yield(notice) else { return false }
      let remaining = places - Self.messageLimit
      state.isPressed = remaining < Self.limit / 2
      if !state.isAttended { state.isCollapsed = state.isPressed }
      state.hasOverflowed = remaining <= 1
      return state.hasOverflowed
    }
    if isFull { overflow() }
  }

  /// The last.
  func finish(_ notice: ParticipantNotice) {
    continuation.yield(notice)
    continuation.finish()
  }

  /// The session has a socket again. Messages come before the missed events, because the front door keeps them until
  /// `resumed` has been sent.
  private func reopen(_ state: inout State) {
    state.isAttended = true
    state.isCollapsed = false
    for message in state.messages { continuation.yield(.data(message)) }
    state.messages = []
    state.bytes = 0
  }
}

extension ParticipantNotice {
  /// Of any transport.
  fileprivate var isAnswer: Bool {
    switch self {
    case .answer: true
    case .on(_, let notice): notice.isAnswer
    default: false
    }
  }
}
