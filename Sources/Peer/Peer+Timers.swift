internal import Congestion
internal import Crypto
internal import ICE
internal import Media
public import Model

extension Peer {
  /// Brings the next call of `poll` forward, if need be: called when a packet made something due.
  @inline(__always)
  mutating func scheduleFeedback(_ moment: Instant) { if moment < feedbackDue { feedbackDue = moment } }

  /// As `deadline`, for what a media packet can move: cheap enough to be asked after each.
  public var feedbackDeadline: Instant { feedbackDue }

  /// When `poll` wants to be called; may move forward with every datagram.
  public var deadline: Instant {
    guard closed == nil else { return .never }
    var deadline = min(
      ice.deadline, feedbackDue, reportsDue, clockReportsDue, held.deadline, handshakeState.deadline)
    if !isConnected { deadline = min(deadline, createdAt + Self.connectTimeout) }
    return deadline
  }

  /// Does what is due.
  public mutating func poll(now: Instant, context: inout PeerContext) {
    guard closed == nil else { return }
    pollICE(now: now, &context)
    if held.deadline <= now { context.counters.count(.dtlsHeldOverflow, times: held.discard()) }
    if handshakeState.deadline <= now {
      _ = handshake?.poll(now: now)
      advanceHandshake(now: now, &context)
    }
    if !isConnected && now >= createdAt + Self.connectTimeout { close(.neverConnected, &context) }
    guard closed == nil else { return }
    if feedbackDue <= now {
      feedbackDue = .never
      sendFeedback(now: now, &context)
      feedbackDue = arrivals.deadline
      for index in 0..<receiving.count where receiving.pointer(index).pointee.isAgreed {
        scheduleFeedback(receiving.pointer(index).pointee.receiver.deadline)
      }
    }
    if reportsDue <= now {
      reportsDue = now + Self.reportInterval
      sendReports(now: now, &context)
    }
    if clockReportsDue <= now { sendClockReports(now: now, &context) }
  }

  private mutating func pollICE(now: Instant, _ context: inout PeerContext) {
    guard ice.deadline <= now else { return }
    let outcome = ice.poll(now: now, random: &context.random, output: &context.iceOutput)
    flushICE(&context)
    switch outcome {
    case .idle: break
    case .failed: close(.neverConnected, &context)
    case .expired(let path):
      context.effects.notePaths()
      if path == selectedPath { close(.connectionLost, &context) }
    case .selected(let path):
      pathSelected(path, now: now, &context)
      mendPictures(&context)
    }
  }
}
