public import Model
internal import Wire

/// When what the stream carries was taken.
extension TrackReceiver {
  /// The codec changed to one with another clock (RFC 7160): the stream goes on as one that started over.
  ///
  /// Senders differ in how they go on counting, so its first timestamp says nothing about when it was taken. The
  /// last journey of the old clock does, as well as the network's jitter lets it, until the next report.
  @inline(never)
  mutating func changeClock(to rate: UInt32, _ header: RTPHeader, _ arrival: Instant) {
    let old = clock.rate
    clock.rate = rate
    guard old != 0 else { return }
    let equal = statistics.timestamp(of: arrival, clockRate: old)
    statistics.changeClock(from: old, to: rate)
    restarts &+= 1
    clock.firstArrival = arrival
    clock.firstTimestamp = header.timestamp
    let known = clock.line.line(rate: old, pace: clock.pace.pace(rate: old))
    clock.pace.reset()
    // The card that it counts by is the same, whatever the codec's clock.
    guard let equal, let known else { return clock.line.reset() }
    let mapping = ClockMapping(
      timestamp: known.timestamp, ntp: known.ntp, rate: old, measured: known.rate, isReported: true)
    clock.line.restart(
      mapping.ntp(at: equal), header.timestamp, pace: Double(known.rate) / Double(old) - 1, arrival: arrival)
  }

  /// What is known of the clock's rate but by reports.
  private var pace: ClockPace? { kind == .audio ? clock.pace.pace(rate: clock.rate) : .nominal }

  /// How far the timestamp of a report may be from those of the packets.
  private static let reportTolerance = Duration.seconds(10)

  /// A sender report of the media stream came.
  /// - Parameter moment: `ntp` on the server's time line, as far as that is known. One from before the stream
  ///   started over speaks of another clock, however late it comes.
  public mutating func senderReport(
    ntp: NTPTime, timestamp: UInt32, arrival: Instant, moment: NTPTime, epoch: Epoch
  ) {
    clock.reportNTP = ntp.rawValue
    clock.reportArrival = arrival
    guard restarts == 0 || moment.nanoseconds(since: epoch.ntp(at: clock.firstArrival)) >= 0 else { return }
    // So does one that overtook the first packet of another clock.
    if let expected = statistics.timestamp(of: arrival, clockRate: clock.rate),
      Int64(Int32(bitPattern: timestamp &- expected)).magnitude
        > UInt64(clock.rate) * UInt64(Self.reportTolerance.components.seconds)
    {
      return
    }
    clock.line.add(ntp, timestamp, rate: clock.rate, pace: pace, arrival: arrival)
  }

  /// What was reported is of another clock than what comes from now on.
  mutating func forgetClock() {
    clock.line.reset()
    clock.pace.reset()
  }

  /// Where the stream's timestamps stand on the server's time line.
  /// - Returns: nil before the first packet, and where nothing new is known since the publisher's clock was set:
  ///   what was known holds.
  public func mapping(_ publisher: PublisherClock, epoch: Epoch) -> ClockMapping? {
    guard clock.rate > 0 else { return nil }
    if publisher.isKnown,
      let known = clock.line.line(rate: clock.rate, pace: pace)
    {
      let moment = publisher.serverTime(known.ntp)
      let delay = epoch.ntp(at: clock.line.arrival).nanoseconds(since: moment)
      guard delay.magnitude < UInt64(PublisherClock.step) else { return nil }
      return ClockMapping(
        timestamp: known.timestamp, ntp: moment, rate: clock.rate, measured: known.rate,
        isReported: known.isKnown
      )
    }
    guard clock.firstArrival != .never else { return nil }
    return ClockMapping(
      timestamp: clock.firstTimestamp, ntp: epoch.ntp(at: clock.firstArrival), rate: clock.rate,
      isReported: false)
  }
}
