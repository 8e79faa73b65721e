public import Model

/// What the path to one remote carries, by what it says of the packets that were sent: the target that everything sent keeps to,
/// and the probes that find more.
///
///     sent ────────▶ SentPackets ◀──────── feedback: arrived when, or lost
///                        │
///        ┌───────────────┼──────────────┬───────────────┐
///     DelayTrend   AcknowledgedRate  LossBound     ProbeCluster
///        └──▶ AIMDRate ◀─┘              │               │
///                 └──── the least ──────┴──▶ target ◀───┘
///
/// It is given the time and never asks. Its state, without what is in flight, outlives a move to another worker.
public struct BandwidthEstimator: ~Copyable {
  /// Bits per second, with UDP and IP.
  public static let start = 600_000.0
  public static let bounds = 30_000.0...200_000_000.0
  /// Without feedback for so long, with packets in flight, the path is taken for stalled.
  private static let (stall, stallStep) = (Duration.seconds(1), Duration.milliseconds(500))
  private static let stallFactor = 0.8
  /// In flight at most: what the target sends in a round trip and this.
  private static let (flight, leastFlight) = (Duration.seconds(1), 4_000)

  private(set) var sent = SentPackets()
  private var clock = ReceiverClock()
  private var queue = QueueDelay()
  private var groups = ArrivalGroups()
  private var trend = DelayTrend()
  private var acknowledged = AcknowledgedRate()
  private var delayed = AIMDRate(start: BandwidthEstimator.start)
  private var losses = LossBound()
  private var use = TargetUse()
  private var cluster = ProbeCluster()
  private(set) var probes = ProbeController()
  private var wanted = WantedRate()
  private var lastFeedback: Instant?
  private var lastStall: Instant?
  private var firstLeft: Instant?
  private var lastLeft: Instant?
  private var ceiling: Double?
  /// When a probe last showed about as much as the target, or half of that arrived.
  private var provenAt = Instant(nanoseconds: .min / 2)
  /// Bytes; without a bound before feedback comes.
  private var mostInFlight = Int.max
  /// Of the latest feedback.
  public private(set) var roundTrip = Duration.milliseconds(100)

  public init() {}

  // MARK: - What is known

  /// Bits per second that may be sent, with UDP and IP.
  public var target: Double { bounded(heeded * queue.drain) }

  /// What may be sent once a queue that is there has gone: which layers are shown goes by that, since a queue is gone sooner than a layer
  /// comes back.
  public var capacity: Double { bounded(heeded) }

  private var heeded: Double { min(allowed, ceiling ?? .infinity) }

  private func bounded(_ rate: Double) -> Double {
    min(max(rate, Self.bounds.lowerBound), Self.bounds.upperBound)
  }

  /// What delay and losses allow.
  private var allowed: Double { min(delayed.rate, losses.bound ?? .infinity) }

  /// The remote reports on what comes, or may yet: nothing has left so long ago that its first word is overdue.
  public func isReporting(now: Instant) -> Bool {
    lastFeedback != nil || firstLeft.map { now - $0 < Self.overdue } ?? true
  }
  private static let overdue = Duration.seconds(3)

  /// Something was heard of what left.
  public var hasFeedback: Bool { lastFeedback != nil }
  /// What really arrives, in bits per second; nil before it is known.
  public var arriving: Double? { acknowledged.bitsPerSecond }
  /// Share of packets that are lost, smoothed: 0–1.
  public var loss: Double { losses.average }

  /// Whether more is in flight than the path holds at the target: what can wait does. Where nothing is heard of what left, that
  /// counts no longer once the path is taken for stalled, so that a little goes on leaving.
  public var isFull: Bool { sent.bytesInFlight > mostInFlight }

  private mutating func boundFlight() {
    let span = Double((roundTrip + Self.flight).wholeNanoseconds) / 1e9
    mostInFlight = max(Int(target * span / 8), Self.leastFlight)
  }

  /// What everything that is wanted takes.
  /// - Parameters:
  ///   - next: the target at which something more would be shown; nil: nothing is withheld for want of rate.
  ///   - room: the target at which what is shown may grow; nil: there is as much.
  public mutating func want(_ rate: Double, next: Double?, room: Double? = nil) {
    wanted = WantedRate(rate: rate, next: next, room: room)
  }

  /// Nothing can be sent any more that no stream's numbers count.
  public mutating func ceaseProbes() { probes.arePossible = false }

  /// The remote's own word, REMB (draft-alvestrand-rmcat-remb-03), where it gives one; nil: it gives none any more.
  public mutating func setCeiling(_ rate: Double?) {
    ceiling = rate.map { min(max($0, Self.bounds.lowerBound), Self.bounds.upperBound) }
  }

  // MARK: - Sending

  /// The number of the packet that leaves next, as it is sent.
  public var nextNumber: UInt16 { UInt16(truncatingIfNeeded: sent.next) }

  /// A packet leaves.
  /// - Parameters:
  ///   - size: on the wire, with UDP and IP.
  ///   - cluster: of the probe that it belongs to; 0: none.
  /// - Returns: its transport-wide number, of which the lower 16 bits are sent.
  @discardableResult
  public mutating func leave(size: Int, cluster: UInt16 = 0, now: Instant) -> Int64 {
    if firstLeft == nil { firstLeft = now }
    lastLeft = now
    if use.sent(bytes: size, target: target, now: now) { acknowledged.expectChange() }
    return sent.append(size: size, cluster: cluster, at: now)
  }

  /// As `leave`, of a packet that feedback will name by its stream and its number there.
  public mutating func leave(ssrc: UInt32, sequence: UInt16, size: Int, cluster: UInt16 = 0, now: Instant) {
    sent.name(leave(size: size, cluster: cluster, now: now), ssrc: ssrc, sequence: sequence)
  }

  /// The probe that is to leave now; to be asked for once nothing of an earlier one is left.
  /// - Parameter canProbe: there is a way to send what no stream's numbers count.
  public mutating func takeProbe(canProbe: Bool, now: Instant) -> ProbePlan? {
    probes.arePossible = canProbe
    guard canProbe, trend.use != .over else { return nil }
    // What the remote doesn't ask for is of no use.
    let isRefused = ceiling.map { $0 <= allowed } ?? false
    let useful = isRefused ? WantedRate(rate: wanted.rate, next: wanted.next) : wanted
    guard let plan = probes.next(target: target, useful, isIdle: isIdle, now: now) else { return nil }
    cluster = ProbeCluster(plan)
    return plan
  }

  /// What is sent says nothing of more than the target: a sender that fills it finds more by itself.
  private var isIdle: Bool {
    use.idleSince != nil || arriving.map { $0 < Self.fills * target } ?? true
  }
  private static let fills = 0.9

  // MARK: - Feedback

  /// What became of one packet.
  /// - Parameters:
  ///   - arrival: on the receiver's clock, in ticks of 250 µs modulo 2^32; nil: not received.
  public mutating func note(_ sequence: UInt16, arrival: UInt32?, in feedback: inout Feedback) {
    guard let number = sent.extend(sequence) else { return }
    guard let arrival else { return noteLost(number, &feedback) }
    note(number, arrived: .known(clock.extend(arrival)), &feedback)
  }

  /// What became of a packet that is named by its stream and its number there (RFC 8888).
  /// - Parameter arrival: on the receiver's clock, in nanoseconds.
  public mutating func note(
    ssrc: UInt32, sequence: UInt16, _ arrival: StreamArrival, in feedback: inout Feedback
  ) {
    guard let number = sent.number(ssrc: ssrc, sequence: sequence) else { return }
    if arrival == .lost { noteLost(number, &feedback) } else { note(number, arrived: arrival, &feedback) }
  }

  private mutating func noteLost(_ number: Int64, _ feedback: inout Feedback) {
    var packet = sent[number]
    guard packet.state != .arrived else { return }
    feedback.highest = max(feedback.highest, number)
    guard packet.state == .inFlight else { return }
    packet.state = .lost
    sent[number] = packet
    feedback.packets += 1
    feedback.lost += 1
    feedback.lostBytes += Int(packet.size)
    feedback.bytes += Int(packet.size)
    feedback.lastSent = max(feedback.lastSent, packet.sentAt)
    if packet.cluster != 0 { cluster.lose(packet.cluster, number, bytes: Int(packet.size)) }
  }

  private mutating func note(_ number: Int64, arrived arrival: StreamArrival, _ feedback: inout Feedback) {
    var packet = sent[number]
    // Said again.
    guard packet.state != .arrived else { return }
    feedback.highest = max(feedback.highest, number)
    let wasLost = packet.state == .lost
    if !wasLost {
      feedback.packets += 1
      feedback.bytes += Int(packet.size)
    } else {
      // It was overtaken by others, and is no loss.
      #if PLANTED_DEFECTS
        if !PlantedDefect.isOn(.overtakenLost) { losses.takeBack(Int(packet.size)) }
      #else
        losses.takeBack(Int(packet.size))
      #endif
    }
    packet.state = .arrived
    sent[number] = packet
    feedback.lastSent = max(feedback.lastSent, packet.sentAt)
    guard case .known(let moment) = arrival else { return }
    arrived(packet, moment, &feedback)
    if packet.cluster != 0 {
      if wasLost { cluster.takeBack(packet.cluster, bytes: Int(packet.size)) }
      cluster.take(
        packet.cluster, number, sent: packet.sentAt, arrived: moment, bytes: Int(packet.size))
    }
  }

  private mutating func arrived(_ packet: SentPackets.Packet, _ arrived: Int64, _ feedback: inout Feedback) {
    queue.take(sent: packet.sentAt, arrived: arrived)
    acknowledged.take(bytes: Int(packet.size), arrived: arrived, isIdle: use.idleSince != nil)
    if let difference = groups.take(sent: packet.sentAt, arrived: arrived, now: feedback.now) {
      trend.take(difference)
      if trend.use == .over { feedback.isOver = true }
    }
  }

  /// A probe shows what the path carries once all of it was heard of: as soon as something is said of a packet behind it, nothing of it
  /// is yet to be.
  private mutating func judgeProbe(_ feedback: Feedback) {
    let isBehind =
      feedback.highest > cluster.highest && sent[feedback.highest].cluster != cluster.number
    guard let verdict = cluster.verdict(isBehind: isBehind) else { return }
    probes.judged(verdict, cluster: probes.last.cluster, wanted, above: allowed)
    switch verdict {
    case .carries(let rate), .failed(let rate):
      if rate > Self.nearly * allowed { provenAt = feedback.now }
      guard rate > allowed, trend.use != .over else { return }
      delayed.set(min(rate, Self.bounds.upperBound), now: feedback.now)
      losses.proven(rate)
    }
  }

  /// All packets of the message were noted.
  /// - Returns: false where it said nothing of any packet that was sent lately.
  public mutating func finish(_ feedback: Feedback) -> Bool {
    guard feedback.highest >= 0 else { return false }
    let now = feedback.now
    lastFeedback = now
    if lastStall != nil { probes.hurry() }
    lastStall = nil
    if feedback.lastSent != .min {
      roundTrip = max(.milliseconds(1), now - Instant(nanoseconds: feedback.lastSent))
    }
    sent.land(upTo: feedback.highest)
    if feedback.packets > 0 {
      losses.take(
        packets: feedback.packets, lost: feedback.lost, bytes: feedback.bytes, lostBytes: feedback.lostBytes,
        lastSent: feedback.lastSent)
    }
    judgeProbe(feedback)
    if feedback.isOver { probes.cancel() }
    var found = feedback.isOver ? .over : trend.use
    // A short queue, while less is sent than is allowed, says nothing of what is allowed.
    if found == .over, !queue.isLong, isOwnBurst(now) || !use.fills(now: now) { found = .under }
    let hasStayed = queue.hasStayed(now: now)
    if found == .over, isLargePicture(now), queue.excuse(now: now) { found = .under }
    if hasStayed { found = .over }
    if trend.use == .under { delayed.raise(to: acknowledged.bitsPerSecond, now: now) }
    let (before, untried) = (allowed, probes.untried(wanted.next, now: now))
    let mayGrow = use.idleSince == nil || untried != nil
    delayed.update(
      found, acknowledged: found == .over ? carried : acknowledged.carried, roundTrip: roundTrip,
      bounds: Self.bounds, allowed: before, mayGrow: mayGrow, further: further,
      isFilled: isFilled(now), untried: untried, now: now)
    losses.update(
      delayed: delayed.rate, acknowledged: acknowledged.carried, isQueued: queue.isLong,
      mayGrow: mayGrow, now: now)
    probes.attempt.note(
      from: before, to: allowed, isUntried: untried != nil && use.idleSince != nil, now: now)
    forgetUnused(now)
    boundFlight()
    return true
  }

  /// What the path carries while a queue grows: what came in a burst came at no more than that.
  private var carried: Double? {
    acknowledged.carried.map { max($0, min(acknowledged.exactBurst, allowed)) }
  }

  /// What arrives is what the path carries: it holds a long queue, or nearly as much was sent as is allowed.
  private func isFilled(_ now: Instant) -> Bool { queue.isLong || use.fills(now: now) }

  /// What hasn't been made use of for long is proven by a probe before it is: the path may be another by then.
  private mutating func forgetUnused(_ now: Instant) {
    guard probes.arePossible, let carried = acknowledged.carried else { return }
    let most = max(Self.unproven, 2 * carried)
    if delayed.rate <= most { provenAt = now }
    guard let since = use.idleSince, now - max(since, provenAt) > Self.trust else { return }
    delayed.set(most, now: now)
  }
  private static let (nearly, unproven) = (0.9, 300_000.0)
  private static let trust = Duration.seconds(10)

  /// What wasn't sent isn't proven: where there are probes the target keeps near what is, and one goes before what needs more.
  private var further: Double {
    probes.arePossible ? AIMDRate.furtherProbed / (1 - min(losses.average, 0.5)) : AIMDRate.further
  }

  /// The queue is of what left faster than the target, a probe or a large picture, and will soon be gone: the path carries the target.
  private func isOwnBurst(_ now: Instant) -> Bool {
    probes.isUnderway(roundTrip, now: now) || acknowledged.burst > Self.burstGain * target
  }
  private static let burstGain = 1.1

  /// A picture much larger than others has left, as where a scene is cut.
  private mutating func isLargePicture(_ now: Instant) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.largePictureLowers) { return false }
    #endif
    return use.burst(now: now) > max(Self.pictureGain * allowed, Self.leastPicture)
  }
  private static let pictureGain = 1.5
  /// Bits per second: on a narrow path every picture comes in a burst.
  private static let leastPicture = 1e6

  // MARK: - Time and path

  /// When `poll` wants to be called.
  public var deadline: Instant {
    guard let oldest = sent.oldestInFlight, let lastFeedback else { return .never }
    guard let lastStall else { return max(lastFeedback, oldest) + Self.stall }
    // What left before is lost, and has been answered.
    return lastLeft.map { $0 > lastStall } ?? false ? lastStall + Self.stallStep : .never
  }

  /// Takes the rate down while packets leave and nothing is heard of them.
  public mutating func poll(now: Instant) {
    guard now >= deadline else { return }
    lastStall = now
    probes.cancel()
    // Of what was allowed: a queue's drain, and a remote's own word, are of the moment.
    delayed.set(max(allowed * Self.stallFactor, Self.bounds.lowerBound), now: now)
    sent.landAll()
    boundFlight()
  }

  /// The remote has another address: nothing is known of the path to it.
  public mutating func startOver() {
    sent.forgetAll()
    queue = QueueDelay()
    groups = ArrivalGroups()
    trend = DelayTrend()
    acknowledged = AcknowledgedRate()
    delayed = AIMDRate(start: Self.start)
    losses = LossBound()
    use = TargetUse()
    cluster = ProbeCluster()
    probes = ProbeController()
    lastFeedback = nil
    lastStall = nil
    provenAt = Instant(nanoseconds: .min / 2)
    mostInFlight = .max
    firstLeft = nil
    lastLeft = nil
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.wordOfBefore) { return }
    #endif
    ceiling = nil
  }

  // MARK: - State

  /// 2: which of the first probes are left.
  private static let stateVersion: UInt8 = 2

  /// The numbers and the rate; how the path behaved in the last second is learnt again.
  public func encode(into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    sent.encode(into: &writer)
    writer.write(bounded(allowed))
    writer.write(ceiling != nil)
    writer.write(ceiling ?? 0)
    writer.write(roundTrip.wholeNanoseconds)
    writer.write(probes.firstLeft)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    let version = try reader.version("bandwidth estimate", upTo: Self.stateVersion)
    sent = try SentPackets(from: &reader)
    let offset = reader.offset
    let rate = try reader.double()
    guard Self.bounds.contains(rate) else { throw .invalid(field: "target rate", offset: offset) }
    delayed = AIMDRate(start: rate)
    let hasCeiling = try reader.bool()
    let word = try reader.double()
    guard !hasCeiling || Self.bounds.contains(word) else {
      throw .invalid(field: "receiver's estimate", offset: offset)
    }
    ceiling = hasCeiling ? word : nil
    roundTrip = .nanoseconds(try reader.integer(Int64.self))
    probes.resume(firstLeft: version > 1 ? try reader.integer() : 0)
  }
}
