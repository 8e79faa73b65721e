public import Congestion
public import Model
internal import Wire

/// What the path to the peer carries, by whichever word of the peer's there is: arrival times, else its own estimate, else its
/// receiver reports.
extension MediaSession {
  /// Bits per second that the path to the peer carries; nil: nothing is withheld, since the peer has said nothing yet.
  /// - Parameter heedsReports: false: where no arrival times come nothing is withheld.
  public func target(now: Instant, heedsReports: Bool = true) -> Double? {
    if reportsArrivals(now) { return estimator.target }
    return heedsReports ? path.reported.target(now: now) : nil
  }

  /// As `target`, without what a queue on the path takes of it for a moment.
  public func capacity(now: Instant, heedsReports: Bool = true) -> Double? {
    if reportsArrivals(now) { return estimator.capacity }
    return heedsReports ? path.reported.target(now: now) : nil
  }

  /// Packets that left are reported on, so that each report says more of the path.
  public func isEstimating(now: Instant) -> Bool { reportsArrivals(now) && estimator.hasFeedback }

  /// Arrival times come, or may yet.
  private func reportsArrivals(_ now: Instant) -> Bool {
    (numbersPackets || hearsStreams) && estimator.isReporting(now: now)
  }

  /// What everything that is wanted takes.
  /// - Parameters:
  ///   - next: the target at which something more would be shown; nil: nothing is withheld for want of rate.
  ///   - room: the target at which what is shown may grow; nil: there is as much.
  public mutating func want(_ rate: Double, next: Double?, room: Double?) {
    estimator.want(rate, next: next, room: room)
  }

  // MARK: - Sending

  /// As much is in flight as the path holds: what can wait does.
  public var isPathFull: Bool { mutating get { estimator.isFull } }

  /// The transport-wide number of the packet that leaves next.
  public var nextNumber: UInt16 { mutating get { estimator.nextNumber } }

  /// A packet leaves with a transport-wide number.
  /// - Parameter size: on the wire, with UDP and IP.
  @inline(__always)
  public mutating func left(size: Int, cluster: UInt16, now: Instant) {
    estimator.leave(size: size, cluster: cluster, now: now)
  }

  /// A packet leaves that has no transport-wide number, and that the peer may name by its stream; asked for where
  /// `hearsStreams`.
  public mutating func left(ssrc: UInt32, sequence: UInt16, size: Int, cluster: UInt16, now: Instant) {
    estimator.leave(ssrc: ssrc, sequence: sequence, size: size, cluster: cluster, now: now)
  }

  /// The probe that is to leave now. Only arrival times tell what became of one.
  public mutating func takeProbe(now: Instant) -> ProbePlan? {
    reportsArrivals(now) ? estimator.takeProbe(canProbe: true, now: now) : nil
  }

  // MARK: - What the peer says

  /// When what was sent to the peer arrived there.
  mutating func receiveArrivals(_ message: TransportFeedback, now: Instant) -> Bool {
    guard path.statuses.take(Double(message.statusCount), now: now) else { return false }
    var feedback = estimator.takeFeedback(now: now)
    var entries = message.entries
    var left = BandwidthEstimator.mostReported
    while left > 0, let entry = entries.next() {
      left -= 1
      estimator.note(entry.sequence, arrival: entry.received ? entry.arrival : nil, in: &feedback)
    }
    return estimator.finish(feedback)
  }

  /// As `receiveArrivals`, by stream.
  mutating func receiveStreamArrivals(_ message: CongestionFeedback, now: Instant) -> Bool {
    guard hearsStreams, path.statuses.take(Double(message.reportCount), now: now) else { return false }
    var feedback = estimator.takeFeedback(now: now)
    let moment = path.clock.extend(message.timestamp)
    var streams = message.streams
    var left = BandwidthEstimator.mostReported
    while left > 0, let stream = streams.next() {
      // One without packets has its price, too.
      left -= 1
      for index in 0..<min(stream.count, max(left, 0)) {
        left -= 1
        guard let report = stream[index] else { break }
        let arrival: StreamArrival =
          !report.isReceived
          ? .lost
          : report.offset.map {
            .known(moment &- Int64($0) &* 1_000_000_000 / CongestionFeedback.offsetRate)
          } ?? .unknown
        estimator.note(
          ssrc: stream.ssrc, sequence: stream.begin &+ UInt16(truncatingIfNeeded: index), arrival,
          in: &feedback)
      }
    }
    return estimator.finish(feedback)
  }

  /// What the peer believes that it can take (REMB). With arrival times it bounds what they allow.
  mutating func receiveEstimate(
    _ packet: RTCPPacket, now: Instant, _ context: inout MediaContext
  ) throws(RTCPError) {
    let estimate: ReceiverEstimate
    do throws(RTCPError) {
      estimate = try ReceiverEstimate(packet)
    } catch .unknownApplication {
      return context.counters.count(.rtcpUnused)
    }
    guard path.estimates.take(now: now) else { return context.counters.count(.rtcpUnused) }
    // What leaves of the streams that it names: some receivers estimate each stream by itself, and many name no sound.
    var (isOurs, named) = (false, 0.0)
    for index in 0..<estimate.count {
      guard let slot = estimate[index].flatMap({ ours[$0] }) else { continue }
      isOurs = true
      if slots.pointer(slot).pointee.section.ssrc == estimate[index] {
        named += slots.pointer(slot).pointee.left.rate
      }
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.foreignEstimate) { isOurs = true }
    #endif
    guard isOurs else { return context.counters.count(.rtcpForeignStream) }
    path.reported.take(estimate: estimate.bitrate, beside: max(leaving - named, 0), now: now)
    estimator.setCeiling(path.reported.estimate(now: now))
  }

  /// Bits per second in all streams of ours.
  private var leaving: Double {
    (0..<slots.count).reduce(0) { sum, slot in
      slots.pointer(slot).pointee.isAgreed ? sum + slots.pointer(slot).pointee.left.rate : sum
    }
  }

  // MARK: - What comes from the peer

  /// What SRTP, UDP and IPv4 add to a plain packet.
  private static let sealing = 44

  /// A packet of the peer's says when it left.
  /// - Parameter size: in plain text.
  @inline(never)
  mutating func noteSendTime(_ units: UInt32, size: Int, at arrival: Instant) {
    path.sendTimes.received(
      units: units, size: size &+ Self.sealing, roundTrip: roundTrip, at: arrival)
    scheduleFeedback(path.sendTimes.deadline)
  }

  /// A packet of the peer's came, which is reported by stream.
  @inline(never)
  mutating func noteStreamArrival(_ header: RTPHeader, at arrival: Instant) {
    streamArrivals.received(ssrc: header.ssrc, sequence: header.sequence, at: arrival)
    scheduleFeedback(streamArrivals.deadline)
  }

  /// Bits per second that the peer is asked to keep to, where it adapts by nothing but a receiver's word.
  func allowedBitrate(_ context: borrowing MediaContext) -> UInt64 {
    path.sendTimes.estimate.map { min(UInt64($0), context.publisherMaxBitrate) }
      ?? context.publisherMaxBitrate
  }

  // MARK: - Time

  /// Weighs what the peer's reports said of losses; about once a second.
  mutating func weighReports(now: Instant) {
    var sent: UInt64 = 0
    for slot in 0..<slots.count where slots.pointer(slot).pointee.isAgreed {
      let slot = slots.pointer(slot)
      let bytes = slot.pointee.forwarder.bytesLeft
      slot.pointee.left.weigh(bytes, now: now)
      sent &+= bytes
    }
    path.reported.weigh(sent: sent, roundTrip: roundTrip, now: now)
    if path.reported.estimate(now: now) == nil { estimator.setCeiling(nil) }
  }
}

/// What a session knows of its path beside what arrival times tell of it, and what its peer may say about that.
struct PathWord {
  /// What the path to the peer carries, by its own estimates and its receiver reports.
  var reported = ReportedRate()
  /// When a report said last how long the round trip is. No state: until the next one, checks do.
  var roundTripReported = Instant(nanoseconds: .min / 2)
  /// Of its reports on streams.
  var clock = ReportClock()
  /// What the path from the peer carries, where it gives no transport-wide numbers and says when its packets left.
  var sendTimes = SendTimeEstimator()
  /// Estimates of its own that the peer may send; libwebrtc sends one a second, and one whenever it falls.
  var estimates = RateLimit(rate: 20, burst: 40)
  /// Packets that the peer may say something of; a chunk of two bytes speaks of thousands.
  var statuses = RateLimit(rate: 50_000, burst: 65_536)
}

/// The clock of a receiver's reports without its wrap (RFC 8888 §3.1).
struct ReportClock: BitwiseCopyable {
  private var last: UInt32?
  private var units: Int64 = 0

  init() {}

  /// - Returns: nanoseconds since the first report.
  mutating func extend(_ timestamp: UInt32) -> Int64 {
    if let last { units &+= Int64(Int32(bitPattern: timestamp &- last)) }
    last = timestamp
    let rest = (units & (CongestionFeedback.timestampRate &- 1)) &* 1_000_000_000
    return (units >> 16) &* 1_000_000_000 &+ rest / CongestionFeedback.timestampRate
  }
}

extension Forwarder {
  /// What RTP, its extensions, SRTP, UDP and IPv4 add to a payload, by and large.
  private static var overhead: UInt64 { 64 }

  /// Bytes that have left, without retransmissions; wraps with what sender reports count.
  fileprivate var bytesLeft: UInt64 { UInt64(reports.octets) &+ UInt64(reports.packets) &* Self.overhead }
}
