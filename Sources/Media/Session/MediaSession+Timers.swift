internal import Congestion
public import Model

extension MediaSession {
  /// Brings the next call of `poll` forward, if need be: called when a packet made something due.
  @inline(__always)
  mutating func scheduleFeedback(_ moment: Instant) {
    if moment < timers.feedback { timers.feedback = moment }
  }

  /// As `deadline`, for what a media packet can move: cheap enough to be asked after each.
  @inlinable @inline(__always)
  public var feedbackDeadline: Instant { timers.feedback }

  /// When `poll` wants to be called; may move forward with every packet.
  public var deadline: Instant {
    min(timers.feedback, timers.reports, timers.clockReports, estimator.deadline)
  }

  /// Whether the next `poll` writes the regular reports, once a second.
  public func reports(at now: Instant) -> Bool { timers.reports <= now }

  /// Does what is due.
  /// - Parameter ratesChanged: what the transport carries is more, or less, than at the last regular report.
  public mutating func poll(now: Instant, ratesChanged: Bool, context: inout MediaContext) {
    if timers.feedback <= now {
      timers.feedback = .never
      sendFeedback(now: now, &context)
      timers.feedback = min(arrivals.deadline, streamArrivals.deadline, path.sendTimes.deadline)
      var cursor = EncodingCursor()
      while let encoding = cursor.next(in: receiving) { scheduleFeedback(encoding.pointee.receiver.deadline) }
    }
    if timers.reports <= now {
      timers.reports = now + Self.reportInterval
      weighReports(now: now)
      sendReports(now: now, ratesChanged: ratesChanged, &context)
    }
    if timers.clockReports <= now { sendClockReports(now: now, &context) }
    estimator.poll(now: now)
  }

  // MARK: - What happens to the transport

  /// Packets can be opened from now on; `streamChanges` says again which streams are tracks'.
  public mutating func transportConnected(now: Instant, context: inout MediaContext) {
    bindAll(&context.streamChanges)
    timers.reports = now + Self.firstReport
  }

  /// The peer has another address. What was asked of it went to where it was before, what it sent meanwhile is lost, and nothing is known
  /// of the path to it.
  public mutating func peerMoved() {
    estimator.startOver()
    path.reported = ReportedRate()
    path.roundTripReported = Instant(nanoseconds: .min / 2)
    path.sendTimes = SendTimeEstimator()
    path.clock = ReportClock()
    var cursor = EncodingCursor()
    while let encoding = cursor.next(in: receiving) {
      encoding.pointee.receiver.moved()
      scheduleFeedback(encoding.pointee.receiver.deadline)
    }
  }

  /// Packets can be sent from now on: the key frames that were asked for before are gone.
  public func requestAwaitedPictures(context: inout MediaContext) {
    for slot in 0..<slots.count where needsKeyFrame(slot: slot) { context.effects.noteKeyFrameRequest(slot) }
  }

  /// The peer has moved, and for a while all pictures went to where it was before.
  public func mendPictures(now: Instant, context: inout MediaContext) {
    for slot in 0..<slots.count
    where kind(ofSlot: slot) == .video && !isPaused(slot: slot)
      && (needsKeyFrame(slot: slot) && !isUnasked(slot: slot)
        || slots.pointer(slot).pointee.keyFrames.take(now: now))
    {
      context.effects.noteKeyFrameRequest(slot)
    }
  }

  // MARK: - Quality

  /// Packets lost on the way to the peer and from it, the worse of both; smoothed over some seconds, in 65536ths.
  public var loss: UInt16 { losses.worse }

  /// Counts what came in since the last time, and smooths both directions.
  mutating func tallyLoss() {
    var expected: Int64 = 0
    var received: Int64 = 0
    var cursor = EncodingCursor()
    while let encoding = cursor.next(in: receiving) {
      let (wanted, found) = encoding.pointee.receiver.tally
      expected &+= wanted
      received &+= found
    }
    losses.tally(expected: expected, received: received)
  }
}
