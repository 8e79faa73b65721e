internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

/// What waits for a front door to read it, in order.
///
/// Who reads too slowly would live in a wrong picture of the room, so too many end its session. While there is no one to
/// read for, notices collapse instead: beyond half of the places what is in the log of events, or stands and is said again by
/// `resumed`, is left out, and of messages the latest wait. The answer to the offer of a socket that has gone is never left
/// out, because nothing says it again; there is one at a time, since the front door takes no other offer before it. Other front
/// doors have the answers to their offers from their calls, however often they offer.
final class NoticeMailbox: Sendable {
  /// So many notices waiting for a slow front door end the session.
  static let limit = 1_024
  /// Messages that wait for a participant who is away, beyond what its front door has read; and their payloads, as
  /// base64. The oldest are left out.
  static let messageLimit = 256
  static let messageBytes = 1_048_576

  let notices: AsyncStream<ParticipantNotice>
  private let continuation: AsyncStream<ParticipantNotice>.Continuation
  private let contents: Contents
  /// The one that the session began with.
  private let own: TransportID
  /// Too many wait.
  private let overflow: @Sendable () -> Void

  /// Apart from the mailbox, so that who reads its notices doesn't keep it alive.
  private final class Contents: Sendable {
    let state: Mutex<State>
    private let pressure: NoticePressure

    init(_ state: consuming State, _ pressure: NoticePressure) {
      self.state = Mutex(state)
      self.pressure = pressure
    }

    /// Changes the state, and says to the room whether its front door is behind.
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
      state.withLock { state in
        let result = body(&state)
        let isBehind = state.isAttended && !state.isOver && state.waiting > NoticeMailbox.limit / 2
        if isBehind != state.isBehind { isBehind ? pressure.begin() : pressure.end() }
        state.isBehind = isBehind
        return result
      }
    }

    func noteTaken() {
      change { state in
        state.waiting -= 1
        if state.isBehind { pressure.noteTaken() }
      }
    }
  }

  private struct State: Sendable {
    /// There is a reader, as the room has said by the last `absent` or `resumed`.
    var isAttended: Bool
    /// It has had one, whose client may wait for an answer.
    var wasAttended: Bool
    /// Notices that the front door has not taken.
    var waiting = 0
    /// More than half of the places are taken, and there is a front door to take from them: as the room knows it.
    var isBehind = false
    var isOver = false
    /// Half of the places are taken.
    var isPressed = false
    var hasOverflowed = false
    /// Something was left out, so that nothing is of use before `resumed`.
    var isCollapsed = false
    var messages: [DataMessage] = []
    var bytes = 0

    /// Whether a front door waits for an answer among the notices.
    func waitsForAnswer(isOwn: Bool) -> Bool { isOwn ? wasAttended : isAttended }

    mutating func keep(_ message: DataMessage) {
      guard message.reliable else { return }
      messages.append(message)
      bytes += message.encodedSize
      while messages.count > NoticeMailbox.messageLimit || bytes > NoticeMailbox.messageBytes {
        bytes -= messages.removeFirst().encodedSize
      }
    }
  }

  /// - Parameters:
  ///   - isAttended: false: there is no one to read for from the beginning.
  ///   - transport: the one that the session begins with.
  init(
    isAttended: Bool, transport: TransportID = .first, pressure: NoticePressure = NoticePressure(),
    overflow: @escaping @Sendable () -> Void
  ) {
    self.overflow = overflow
    own = transport
    let contents = Contents(State(isAttended: isAttended, wasAttended: isAttended), pressure)
    self.contents = contents
    // One place more, for `closed`; and those of messages.
    let (stream, continuation) = AsyncStream.makeStream(
      of: ParticipantNotice.self, bufferingPolicy: .bufferingOldest(Self.limit + 1 + Self.messageLimit))
    self.continuation = continuation
    notices = AsyncStream(unfolding: {
      var iterator = stream.makeAsyncIterator()
      let notice = await iterator.next()
      if notice != nil { contents.noteTaken() }
      return notice
    })
  }

  /// Notices that the front door has not taken.
  var waiting: Int { contents.state.withLock { $0.waiting } }

  /// From here on what is not read collapses, until `resumed`.
  func absent() { contents.change { $0.isAttended = false } }

  func put(_ notice: ParticipantNotice) {
    let isFull = contents.change { state -> Bool in
      guard !state.hasOverflowed else { return false }
      var answers: TransportID?
      if case .on(let transport, .answer) = notice { answers = transport }
      if let answers, !state.waitsForAnswer(isOwn: answers == own) { return false }
      if case .data(let message) = notice, !message.reliable, state.isPressed { return false }
      if case .resumed = notice { reopen(&state) }
      if state.isCollapsed {
        if case .data(let message) = notice { state.keep(message) }
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.answerLeftOut) { return false }
        #endif
        if answers == own, case .enqueued = continuation.yield(notice) { state.waiting += 1 }
        return false
      }
      guard case .enqueued(let places) = continuation.yield(notice) else { return false }
      state.waiting += 1
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
    contents.change { state in
      if case .enqueued = continuation.yield(notice) { state.waiting += 1 }
      state.isOver = true
    }
    continuation.finish()
  }

  /// The session has a socket again. Messages come before the missed events, because the front door keeps them until
  /// `resumed` has been sent.
  private func reopen(_ state: inout State) {
    state.isAttended = true
    state.wasAttended = true
    state.isCollapsed = false
    for message in state.messages {
      if case .enqueued = continuation.yield(.data(message)) { state.waiting += 1 }
    }
    state.messages = []
    state.bytes = 0
  }
}
