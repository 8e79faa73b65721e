public import Model
public import Wire

/// Feedback to the publisher.
extension TrackReceiver {
  /// When `missing` or `keyFrameDue` has something to say; a request from before the first packet, or from after the last,
  /// waits for the next.
  @inlinable @inline(__always)
  public var deadline: Instant { isStarted && !hasLeft ? min(nack.deadline, keyFrames.deadline) : .never }

  /// How a key frame is asked for.
  public enum KeyFrameRequest: Equatable, Sendable {
    case pictureLoss
    /// With the number of the request (RFC 5104 §4.3.1.1).
    case fullIntra(UInt8)
  }

  /// Packets of the media stream: those that its numbers promise, and those that came.
  public var tally: (expected: Int64, received: Int64) {
    (statistics.packetsExpected, Int64(clamping: statistics.packetsReceived))
  }

  /// The sender adapts by our estimate alone (draft-alvestrand-rmcat-remb-03).
  public var usesEstimate: Bool { terms.estimate }

  /// A subscriber needs a key frame; audio, and codecs without a way to ask for one, have none to give.
  public mutating func requestKeyFrame() { if terms.asksForKeyFrames { keyFrames.request() } }

  /// Its source has nothing to make one of.
  public mutating func forgetKeyFrameRequest() { keyFrames.arrived() }

  /// The publisher has another address, and what it was asked last went to the old one.
  public mutating func moved() {
    hasMoved = true
    keyFrames.lost()
    guard nack.count > Self.missingAfterMove else { return }
    hasMoved = false
    skip()
  }

  /// - Returns: the request that is to be sent now.
  public mutating func keyFrameDue(now: Instant) -> KeyFrameRequest? {
    guard isStarted, !hasLeft, keyFrames.poll(now: now) else { return nil }
    if terms.pli { return .pictureLoss }
    intraSequence &+= 1
    return .fullIntra(intraSequence)
  }

  /// The sender said goodbye (RFC 3550 §6.6): nothing is reported or asked for until it comes back.
  public mutating func goodbye() {
    hasLeft = true
    nack.reset()
    keyFrames.arrived()
  }

  /// Hands out the sequence numbers to be asked for now.
  public mutating func missing(now: Instant, roundTrip: Duration, _ body: (UInt16) -> Void) {
    nack.due(now: now, roundTrip: roundTrip, body)
  }

  /// Has reports say that at least so much was lost, in 256ths: so a sender of audio protects it for those who lose it behind the
  /// server. What was lost in all stays true.
  public mutating func raiseLoss(_ fraction: UInt8, now: Instant) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.raisedUncapped) {
        (word.loss, word.lossAt) = (fraction, now)
        return
      }
    #endif
    (word.loss, word.lossAt) = (min(fraction, Self.mostRaised), now)
  }
  /// 30 %: more makes encoders give up quality for nothing.
  private static let mostRaised: UInt8 = 77
  /// It is said once a second.
  private static let raisedFor = Duration.seconds(5)

  /// The report block for the media stream; nil before it started.
  public mutating func reportBlock(now: Instant) -> ReportBlock? {
    guard let ssrc, statistics.isStarted, !hasLeft else { return nil }
    let (own, lost, highest) = statistics.report()
    let fraction = now - word.lossAt < Self.raisedFor ? max(own, word.loss) : own
    var lastReport: UInt32 = 0
    var delay: UInt32 = 0
    if clock.reportArrival != .never {
      lastReport = NTPTime(rawValue: clock.reportNTP).middle
      let span = max(0, now.nanoseconds &- clock.reportArrival.nanoseconds)
      delay = UInt32(clamping: span / 1_000 &* 65_536 / 1_000_000)
    }
    return ReportBlock(
      ssrc: ssrc, fractionLost: fraction, cumulativeLost: lost, highestSequence: highest,
      jitter: statistics.jitter, lastSenderReport: lastReport, delaySinceLastSenderReport: delay)
  }
}
