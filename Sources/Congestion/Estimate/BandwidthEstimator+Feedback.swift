public import Model

extension BandwidthEstimator {
  /// Takes the packets of one feedback message, in the order of their numbers.
  public func takeFeedback(now: Instant) -> Feedback { Feedback(now: now) }

  /// Packets that one message can say something of; what it says of more is of none that was sent lately.
  public static let mostReported = 8_192

  /// One message of transport-wide feedback while it is read.
  public struct Feedback: BitwiseCopyable {
    let now: Instant
    var packets = 0
    var lost = 0
    var bytes = 0
    var lostBytes = 0
    var highest: Int64 = -1
    var lastSent: Int64 = .min
    var use = DelayTrend.Use.normal
    var isOver = false
  }
}
