public import Model

/// What a sender's path to us carries, by the times at which its packets left (abs-send-time) and came: for senders that know
/// nothing but a receiver's estimate, REMB (draft-alvestrand-rmcat-remb-03).
///
/// The same parts as on the other side: groups of arrivals, the trend of their delay, and a rate that grows while no queue does.
/// Fixed memory, and a few operations a packet.
public struct SendTimeEstimator: BitwiseCopyable, Sendable {
  /// A fall by more than this share is said at once.
  private static let fall = 0.03
  /// Between two that are said at once.
  private static let least: Int64 = 100_000_000
  /// How often the rate is weighed while no queue grows.
  private static let interval: Int64 = 50_000_000
  /// After a pause so long the times of sending have begun another circle of 64 s, or may have.
  private static let pause: Int64 = 10_000_000_000

  private var clock = SendTimeClock()
  private var queue = QueueDelay()
  private var groups = ArrivalGroups()
  private var trend = DelayTrend()
  private var arriving = AcknowledgedRate()
  private var rate = AIMDRate(start: BandwidthEstimator.start)
  private var last: Instant?
  private var weighedAt = Instant(nanoseconds: .min / 2)
  private var said: Double?
  private var saidAt = Instant(nanoseconds: .min / 2)
  /// When a fall is to be said; `.never` where there was none.
  public private(set) var deadline = Instant.never

  public init() {}

  /// Bits per second, with UDP and IP; nil before anything came with a time of sending.
  public var estimate: Double? {
    last == nil ? nil : max(rate.rate * queue.drain, BandwidthEstimator.bounds.lowerBound)
  }

  /// A packet came.
  /// - Parameters:
  ///   - units: when it left, in seconds × 2^18, of which the lower 24 bits count.
  ///   - size: on the wire, with UDP and IP.
  ///   - roundTrip: to the sender and back.
  public mutating func received(units: UInt32, size: Int, roundTrip: Duration, at arrival: Instant) {
    if let last, arrival.nanoseconds &- last.nanoseconds > Self.pause {
      clock = SendTimeClock()
      groups = ArrivalGroups()
      queue = QueueDelay()
    }
    last = arrival
    let sent = clock.extend(units)
    arriving.take(bytes: size, arrived: arrival.nanoseconds, isIdle: false)
    queue.take(sent: sent, arrived: arrival.nanoseconds)
    var isOver = false
    if let difference = groups.take(sent: sent, arrived: arrival.nanoseconds, now: arrival) {
      trend.take(difference)
      isOver = trend.use == .over
    }
    guard isOver || arrival.nanoseconds &- weighedAt.nanoseconds >= Self.interval else { return }
    weighedAt = arrival
    rate.update(
      isOver ? .over : trend.use, acknowledged: arriving.bitsPerSecond, roundTrip: roundTrip,
      bounds: BandwidthEstimator.bounds, allowed: .infinity, mayGrow: true, isFilled: true,
      now: arrival)
    if let said, let estimate, estimate < said * (1 - Self.fall), deadline == .never {
      deadline = max(arrival, saidAt.advanced(byNanoseconds: Self.least))
    }
  }

  /// The estimate was sent to the sender of the packets.
  public mutating func noteSent(now: Instant) {
    said = estimate
    saidAt = now
    deadline = .never
  }

  // MARK: - State

  private static let stateVersion: UInt8 = 1

  /// The rate, and whether there is one; how the path behaved lately is learnt again.
  public func encode(into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    writer.write(optional: last)
    writer.write(rate.rate)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    _ = try reader.version("estimate by times of sending", upTo: Self.stateVersion)
    last = try reader.optionalInstant()
    let offset = reader.offset
    let read = try reader.double()
    guard BandwidthEstimator.bounds.contains(read) else {
      throw .invalid(field: "estimate by times of sending", offset: offset)
    }
    rate = AIMDRate(start: read)
  }
}

/// Times of sending without their circle of 64 s: each is taken for the one nearest to the one before.
struct SendTimeClock: BitwiseCopyable {
  private var last: UInt32?
  private var units: Int64 = 0

  init() {}

  /// - Returns: nanoseconds since the first.
  mutating func extend(_ now: UInt32) -> Int64 {
    if let last {
      // The upper of 24 bits becomes the sign.
      let step = Int32(bitPattern: (now &- last) << 8) >> 8
      #if PLANTED_DEFECTS
        let isWrapped = PlantedDefect.isOn(.sendTimeWraps) && now & 0xFF_FFFF < last & 0xFF_FFFF
        units &+= isWrapped ? Int64(now & 0xFF_FFFF) - Int64(last & 0xFF_FFFF) : Int64(step)
      #else
        units &+= Int64(step)
      #endif
    }
    last = now
    return (units >> 18) &* 1_000_000_000 &+ ((units & 0x3_FFFF) &* 1_000_000_000) >> 18
  }
}
