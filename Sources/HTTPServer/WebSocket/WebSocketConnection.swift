internal import CWslay
internal import Glibc
package import Model
internal import Polling

/// A WebSocket on the server's side of it: wslay reads and makes the frames (RFC 6455 §5), this holds the socket,
/// the messages that wait, and the deadlines.
///
///     open ─┬─ our close ──▶ closing ──▶ its answer ─┐
///           ├─ the client's close, echoed ───────────┼─▶ lingering ──▶ gone
///           └─ a broken frame: its code, sent ───────┘
///
/// Lingering: everything has been said and our side is shut; what still comes is thrown away, so that the close
/// frame isn't lost to a reset.
package final class WebSocketConnection {
  package enum Phase { case open, closing, lingering, gone }

  package private(set) var phase = Phase.open
  /// When `expire` is to be called.
  package var deadline: Instant { min(phaseDeadline, writeDeadline) }
  /// Messages that have left whole or were dropped since the owner last took them, and their bytes.
  private var done = (messages: 0, bytes: 0)

  private let descriptor: Int32
  private let limits: HTTPLimits
  private var context: wslay_event_context_ptr?
  /// Bytes that came with the handshake, before the socket's.
  private var early: ArraySlice<UInt8>
  private var received: [String] = []
  /// Not yet given to wslay, whose own queue can't be emptied and lets a close overtake what is in it.
  private var waiting: [[UInt8]] = []
  /// How many at the front of `waiting` are used up; they go in one move, not one by one.
  private var used = 0
  /// Bytes of the message that wslay has.
  private var inFlight: Int?
  /// Waits for `waiting` to be said.
  private var closeFrame: (code: UInt16, reason: [UInt8])?

  private var phaseDeadline: Instant
  private var writeDeadline = Instant.never
  private var pinged = false
  /// What one `read` may still take, so that one client can't keep the thread.
  private var readBudget = 0
  private var fragments = 0
  private var farEndGone = false
  private var progressed = false

  private static let readSize = 262_144
  /// Frames of one message: more would cost wslay far more memory than they carry.
  private static let maximumFragments = 4096
  /// Frames that wslay may have waiting, pongs above all, before nothing more is read.
  private static let maximumQueued = 64

  /// - Parameters:
  ///   - descriptor: non-blocking; stays its owner's.
  ///   - early: what has been read of it already.
  ///   - greets: until `admit` its messages have the bound of a greeting.
  package init?(
    descriptor: Int32, early: [UInt8], limits: HTTPLimits, greets: Bool = false, now: Instant
  ) {
    self.descriptor = descriptor
    self.early = early[...]
    self.limits = limits
    phaseDeadline = now + limits.ping.interval
    var callbacks = wslay_event_callbacks()
    callbacks.recv_callback = { context, buffer, size, _, owner in
      WebSocketConnection.of(owner).receive(
        UnsafeMutableRawBufferPointer(start: buffer, count: size), context)
    }
    callbacks.send_callback = { context, bytes, size, flags, owner in
      let more = flags & Int32(WSLAY_MSG_MORE.rawValue) != 0
      return WebSocketConnection.of(owner)
        .transmit(UnsafeRawBufferPointer(start: bytes, count: size), more: more, context)
    }
    callbacks.on_frame_recv_start_callback = { _, frame, owner in
      guard let frame else { return }
      WebSocketConnection.of(owner).frameStarts(opcode: frame.pointee.opcode)
    }
    callbacks.on_msg_recv_callback = { _, message, owner in
      guard let message = message?.pointee else { return }
      WebSocketConnection.of(owner).messageEnds(
        opcode: message.opcode, UnsafeRawBufferPointer(start: message.msg, count: message.msg_length))
    }
    let owner = Unmanaged.passUnretained(self).toOpaque()
    guard wslay_event_context_server_init(&context, &callbacks, owner) == 0 else { return nil }
    #if PLANTED_DEFECTS
      let greets = greets && !PlantedDefect.isOn(.longGreeting)
    #endif
    let longest = greets ? min(limits.greetingBytes, limits.messageBytes) : limits.messageBytes
    wslay_event_config_set_max_recv_msg_length(context, UInt64(longest))
  }

  deinit { wslay_event_context_free(context) }

  private static func of(_ owner: UnsafeMutableRawPointer?) -> WebSocketConnection {
    guard let owner else { preconditionFailure("wslay lost its user data") }
    return Unmanaged<WebSocketConnection>.fromOpaque(owner).takeUnretainedValue()
  }

  // MARK: what the owner asks

  var interest: Poller.Interest {
    var interest: Poller.Interest = []
    if phase == .lingering || wslay_event_get_queued_msg_count(context) < Self.maximumQueued {
      interest.insert(.readable)
    }
    if writeDeadline != .never { interest.insert(.writable) }
    return interest
  }

  /// - Returns: the messages that are complete, in order.
  package func read(now: Instant) -> [String] {
    guard phase != .lingering else {
      discard()
      return []
    }
    readBudget = Self.readSize
    let result = wslay_event_recv(context)
    if phase == .open, progressed {
      pinged = false
      phaseDeadline = now + limits.ping.interval
    }
    progressed = false
    if farEndGone {
      phase = .gone
    } else if result != 0 || wslay_event_get_read_enabled(context) == 0 {
      // The client's close, or a broken frame: wslay has queued the answer, which overtakes what waits.
      if phase == .open { enter(.closing, until: now + limits.closeTime) }
      dropWaiting()
    }
    defer { received = [] }
    return received
  }

  /// From now on messages may be as long as any.
  package func admit() {
    wslay_event_config_set_max_recv_msg_length(context, UInt64(limits.messageBytes))
  }

  /// - Parameter text: one message.
  package func send(_ text: [UInt8]) {
    guard phase == .open else {
      finish(text.count)
      return
    }
    waiting.append(text)
  }

  /// Leaves unsaid what waits, but for a message of which a part has left.
  package func drop() { dropWaiting() }

  /// Starts the closing handshake (RFC 6455 §7.1.2). It has `HTTPLimits.closeTime`, also to say what waits.
  /// - Parameters:
  ///   - reason: shown to people; cut to what a control frame holds, at a character's border.
  ///   - dropping: leaves unsaid what waits, but for a message of which a part has left.
  package func close(code: UInt16, reason: String, now: Instant, dropping: Bool = false) {
    guard phase == .open else { return }
    if dropping { dropWaiting() }
    var cut = reason
    while cut.utf8.count > 122 { cut.removeLast() }
    closeFrame = (code, Array(cut.utf8))
    enter(.closing, until: now + limits.closeTime)
  }

  /// The client has said its close.
  var heardClose: Bool { wslay_event_get_close_received(context) != 0 }

  /// The connection was reset, or both its sides are shut.
  func end() { phase = .gone }

  /// A deadline has passed.
  package func expire(now: Instant) {
    guard now >= deadline else { return }
    guard now < writeDeadline, phase == .open, !pinged else {
      phase = .gone
      return
    }
    var ping = wslay_event_msg(opcode: UInt8(WSLAY_PING.rawValue), msg: nil, msg_length: 0)
    wslay_event_queue_msg(context, &ping)
    pinged = true
    phaseDeadline = now + limits.ping.answerTime
  }

  /// Gives TCP as much as it takes. To be called after whatever else was.
  package func flush(now: Instant) {
    guard phase == .open || phase == .closing else { return }
    var blocked = false
    progressed = false
    repeat {
      queueNext()
      guard wslay_event_want_write(context) != 0 else { break }
      guard wslay_event_send(context) == 0 else {
        phase = .gone
        return
      }
      blocked = wslay_event_want_write(context) != 0
      if !blocked, let size = inFlight {
        inFlight = nil
        finish(size)
      }
    } while !blocked
    if blocked {
      if progressed || writeDeadline == .never { writeDeadline = now + limits.writeTime }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.closingForEver), phase == .closing, progressed {
          phaseDeadline = now + limits.closeTime
        }
      #endif
    } else {
      writeDeadline = .never
    }
    progressed = false
    // With a close said and a close heard, or nothing more to be understood, it is over.
    guard wslay_event_get_close_sent(context) != 0, wslay_event_get_read_enabled(context) == 0 else { return }
    shutdown(descriptor, SocketFlags.writing)
    enter(.lingering, until: now + limits.closeTime)
  }

  package func takeDone() -> (messages: Int, bytes: Int) {
    defer { done = (0, 0) }
    return done
  }

  // MARK: what wslay asks

  private func receive(_ buffer: UnsafeMutableRawBufferPointer, _ context: wslay_event_context_ptr?) -> Int {
    if !early.isEmpty {
      progressed = true
      let count = min(early.count, buffer.count)
      buffer.copyBytes(from: early.prefix(count))
      early = early.dropFirst(count)
      return count
    }
    guard readBudget > 0, wslay_event_get_queued_msg_count(context) < Self.maximumQueued else {
      wslay_event_set_error(context, Int32(WSLAY_ERR_WOULDBLOCK.rawValue))
      return -1
    }
    let count = recv(descriptor, buffer.baseAddress, buffer.count, SocketFlags.dontWait)
    guard count <= 0 else {
      progressed = true
      readBudget -= count
      return count
    }
    if count < 0, errno == EAGAIN || errno == EINTR {
      wslay_event_set_error(context, Int32(WSLAY_ERR_WOULDBLOCK.rawValue))
    } else {
      farEndGone = true
      wslay_event_set_error(context, Int32(WSLAY_ERR_CALLBACK_FAILURE.rawValue))
    }
    return -1
  }

  private func transmit(
    _ bytes: UnsafeRawBufferPointer, more: Bool, _ context: wslay_event_context_ptr?
  ) -> Int {
    let flags = SocketFlags.dontWait | SocketFlags.noSignal | (more ? SocketFlags.more : 0)
    let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
    if count > 0 {
      progressed = true
      return count
    }
    let wait = count < 0 && (errno == EAGAIN || errno == EINTR)
    wslay_event_set_error(
      context, Int32((wait ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE).rawValue))
    return -1
  }

  private func frameStarts(opcode: UInt8) {
    switch UInt32(opcode) {
    case WSLAY_BINARY_FRAME.rawValue: fail(1003)
    case WSLAY_TEXT_FRAME.rawValue: fragments = 1
    case WSLAY_CONTINUATION_FRAME.rawValue:
      fragments += 1
      if fragments > Self.maximumFragments { fail(1009) }
    default: break
    }
  }

  private func messageEnds(opcode: UInt8, _ bytes: UnsafeRawBufferPointer) {
    guard phase == .open, UInt32(opcode) == WSLAY_TEXT_FRAME.rawValue,
      wslay_event_get_read_enabled(context) != 0
    else { return }
    received.append(String(decoding: bytes, as: UTF8.self))
  }

  // MARK: inside

  private func fail(_ code: UInt16) {
    wslay_event_queue_close(context, code, nil, 0)
    wslay_event_shutdown_read(context)
  }

  /// One message, or the close once none is left.
  private func queueNext() {
    guard inFlight == nil, wslay_event_want_write(context) == 0 else { return }
    if used < waiting.count {
      let text = waiting[used]
      waiting[used] = []
      used += 1
      if used == waiting.count || used >= 64 {
        waiting.removeFirst(used)
        used = 0
      }
      let queued = text.withUnsafeBufferPointer {
        var message = wslay_event_msg(
          opcode: UInt8(WSLAY_TEXT_FRAME.rawValue), msg: $0.baseAddress, msg_length: $0.count)
        return wslay_event_queue_msg(context, &message) == 0
      }
      if queued { inFlight = text.count } else { finish(text.count) }
    } else if let (code, reason) = closeFrame {
      closeFrame = nil
      wslay_event_queue_close(context, code, reason, reason.count)
    }
  }

  private func dropWaiting() {
    for text in waiting[used...] { finish(text.count) }
    waiting = []
    used = 0
  }

  private func finish(_ size: Int) {
    done.messages += 1
    done.bytes += size
  }

  private func discard() {
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
      for _ in 0..<16 {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, SocketFlags.dontWait)
        guard count <= 0 else { continue }
        if count == 0 || errno != EAGAIN && errno != EINTR { phase = .gone }
        return
      }
    }
  }

  private func enter(_ next: Phase, until deadline: Instant) {
    phase = next
    phaseDeadline = deadline
    if next == .lingering { writeDeadline = .never }
  }
}
