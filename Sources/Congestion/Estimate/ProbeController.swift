internal import Model

/// Packets that are to leave at a rate above the target, to see whether they arrive as they left.
public struct ProbePlan: BitwiseCopyable, Equatable, Sendable {
  /// Names the probe in what is sent; never 0.
  public var cluster: UInt16
  /// Bits per second, with UDP and IP.
  public var rate: Double
  /// At least so many packets and bytes.
  public var packets: Int
  public var bytes: Int

  public init(cluster: UInt16, rate: Double, packets: Int, bytes: Int) {
    self.cluster = cluster
    self.rate = rate
    self.packets = packets
    self.bytes = bytes
  }
}

/// What there would be to send.
struct WantedRate: BitwiseCopyable {
  /// Bits per second.
  var rate = BandwidthEstimator.start
  /// The target at which something more would be shown; nil: nothing is withheld for want of rate.
  var next: Double?
  /// The target at which what is shown may grow; nil: there is as much, or something is withheld.
  var room: Double?
}

/// When to probe, and how high (draft-ietf-rmcat-gcc-02 leaves it open; the rules are those of libwebrtc, less what a server
/// has no use for).
struct ProbeController: BitwiseCopyable {
  /// The first, by the rate at the start.
  private static let first = 3.0
  /// While each is carried the next is so much higher.
  private static let further = 2.0
  /// A probe counts as carried where it proves so much of its rate.
  private static let carried = 0.7
  /// Between probes while something wanted is withheld.
  private static let interval: Int64 = 5_000_000_000
  private static let shortInterval: Int64 = 1_000_000_000
  /// Of those for room to grow each that finds none doubles the time to the next.
  private static let longestInterval: Int64 = 60_000_000_000
  /// For so long a probe's verdict is waited for.
  private static let patience: Int64 = 1_000_000_000
  /// The first may come before the remote knows the stream that carries them: they are repeated so often, unless anything is heard.
  private static let firstAttempts: UInt8 = 8
  private static let firstPatience: Int64 = 500_000_000
  /// So long, and so many packets, that an arrival which is some milliseconds off changes little.
  private static let span = 0.025
  private static let leastPackets = 8
  /// A probe is no use where it would take a little more than what is there.
  private static let leastGain = 1.1
  /// So much more than what is withheld takes is probed for: what a probe shows is a tenth less than its rate where either end has
  /// little processor, and pictures grow.
  private static let spare = 1.3

  private enum Phase: UInt8, BitwiseCopyable {
    case new, climbing, settled
  }

  private var phase = Phase.new
  private var number: UInt16 = 0
  /// Bits per second of the one that leaves next.
  private var planned: Double?
  private(set) var last: (cluster: UInt16, rate: Double) = (0, 0)
  private(set) var lastAt: Int64 = .min
  private(set) var awaits = false
  /// The last showed what it was for: a higher one waits for nothing.
  private var wasCarried = false
  /// There is a way to send one.
  var arePossible = false
  /// What stands in for probes where there is none. No state: it begins again.
  var attempt = UntriedRate()
  /// The last was the first of its path.
  private var isFirst = false
  /// The last was for room to grow.
  private var isForRoom = false
  private var lastRoomAt: Int64 = .min
  private var roomInterval = ProbeController.interval
  /// Of the first clusters, that are left.
  private var attempts: UInt8 = ProbeController.firstAttempts

  init() {}

  /// What the cluster that is under way has at least.
  static func size(_ rate: Double) -> (packets: Int, bytes: Int) {
    (leastPackets, Int(rate * span / 8))
  }

  /// The probe that is to leave now.
  /// - Parameters:
  ///   - target: what is allowed already.
  ///   - wanted: what there would be to send; there is no use in proving much more.
  ///   - isIdle: what is sent says nothing of more than the target.
  mutating func next(target: Double, _ wanted: WantedRate, isIdle: Bool, now: Instant) -> ProbePlan? {
    if awaits, now.nanoseconds &- lastAt > (attempts > 0 ? Self.firstPatience : Self.patience) {
      awaits = false
      planned = nil
      if phase == .climbing { phase = attempts > 0 ? .new : .settled }
      noteRoom(isFound: false)
    }
    if planned == nil, !awaits { plan(target: target, wanted, isIdle: isIdle, now: now) }
    guard let rate = planned else { return nil }
    planned = nil
    number = number == .max ? 1 : number + 1
    wasCarried = false
    last = (number, rate)
    lastAt = now.nanoseconds
    awaits = true
    let size = Self.size(rate)
    return ProbePlan(cluster: number, rate: rate, packets: size.packets, bytes: size.bytes)
  }

  private mutating func plan(target: Double, _ wanted: WantedRate, isIdle: Bool, now: Instant) {
    switch phase {
    case .new:
      phase = .climbing
      attempts = max(attempts, 1) - 1
      isFirst = true
      add(Self.first * target, above: target)
    case .climbing: break
    case .settled:
      guard let next = wanted.next else { return planRoom(target: target, wanted, now: now) }
      guard isIdle else { return }
      // Far enough for what is withheld and for what it takes more by the time that it is shown: a target that just suffices is too
      // little a moment later, and what was taken up falls again. But never far above what is known: what a publisher says that its
      // picture takes would else decide how large a queue there is on others' paths. While probes are carried they go on.
      let most = max(wanted.rate, next)
      guard target < most else { return }
      let useful = most * Self.spare
      #if PLANTED_DEFECTS
        let rate = PlantedDefect.isOn(.probesAsAnnounced) ? useful : min(useful, Self.further * target)
      #else
        let rate = min(useful, Self.further * target)
      #endif
      // So high none was tried yet.
      let isNew = rate > Self.leastGain * last.rate
      let pause = !isNew ? Self.interval : wasCarried ? 0 : Self.shortInterval
      guard lastAt == .min || now.nanoseconds &- lastAt >= pause else { return }
      add(rate, above: target)
    }
  }

  /// A picture that is shown as it is best grows with what moves in it. Where that isn't proven before, it is taken for too much.
  private mutating func planRoom(target: Double, _ wanted: WantedRate, now: Instant) {
    guard let room = wanted.room, lastRoomAt == .min || now.nanoseconds &- lastRoomAt >= roomInterval,
      lastAt == .min || now.nanoseconds &- lastAt >= Self.interval
    else { return }
    add(min(room * Self.leastGain, Self.further * target), above: target)
    isForRoom = planned != nil
    if isForRoom { lastRoomAt = now.nanoseconds }
  }

  private mutating func noteRoom(isFound: Bool) {
    guard isForRoom else { return }
    isForRoom = false
    roomInterval = isFound ? Self.interval : min(2 * roomInterval, Self.longestInterval)
  }

  private mutating func add(_ rate: Double, above target: Double) {
    let rate = min(rate, BandwidthEstimator.bounds.upperBound)
    if rate >= target * Self.leastGain { planned = rate }
  }

  /// What a cluster has shown.
  /// - Parameter target: what was allowed before: what proves no more has found no room.
  mutating func judged(
    _ verdict: ProbeCluster.Verdict, cluster: UInt16, _ wanted: WantedRate, above target: Double = 0
  ) {
    guard cluster == last.cluster else { return }
    awaits = false
    wasCarried = false
    attempts = 0
    if case .carries(let rate) = verdict {
      noteRoom(isFound: rate >= Self.carried * last.rate && rate > target)
    } else {
      noteRoom(isFound: false)
    }
    let next = wanted.next ?? 0
    // After a stall the climb would begin again, but this verdict serves as well as that of a new first probe.
    let wasClimbing = phase != .settled
    let wasFirst = isFirst
    isFirst = false
    phase = .settled
    guard case .carries(let rate) = verdict, rate >= Self.carried * last.rate else { return }
    wasCarried = true
    // It went as high as is needed, and shows a little less: one more, if that wasn't one.
    let fallsShort = last.rate >= next && rate < next
    guard !fallsShort || last.rate < next * (Self.spare - 0.01) else { return }
    guard wasClimbing || last.rate < next || fallsShort else { return }
    // After the first it isn't known yet what there is to send.
    let gain = fallsShort ? Self.spare : Self.leastGain
    let most = wasFirst ? Double.infinity : max(wanted.rate, next) * gain
    guard rate * Self.leastGain < most else { return }
    add(min(Self.further * rate, most), above: rate)
    if planned != nil { phase = .climbing }
  }

  /// Where no probe can be sent: the target to which it goes up although nothing shows that the path carries it.
  /// - Parameter next: at which something more would be shown.
  func untried(_ next: Double?, now: Instant) -> Double? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.unprobedStays) { return nil }
    #endif
    #if PLANTED_DEFECTS
      let isUnproven = !arePossible || PlantedDefect.isOn(.triedUnproven)
    #else
      let isUnproven = !arePossible
    #endif
    guard isUnproven, let next, attempt.mayRise(now: now) else { return nil }
    return next * Self.enough
  }
  /// What is just as much may be a little too little.
  private static let enough = 1.01

  /// The path is back: the next probe waits for nothing.
  mutating func hurry() {
    lastAt = .min
    awaits = false
    isForRoom = false
    if phase == .climbing, planned == nil { phase = attempts > 0 ? .new : .settled }
  }

  /// How many of the first probes are left; 0: one was heard of, or they are over, and there is no climb from a start.
  var firstLeft: UInt8 { phase == .settled ? 0 : attempts }

  /// Goes on with a path of which only the target is known, as where its peer moves to another worker. One that moves before its first
  /// probe was heard of has it still before it.
  mutating func resume(firstLeft: UInt8) {
    attempts = min(firstLeft, Self.firstAttempts)
    phase = attempts > 0 ? .new : .settled
  }

  /// The path is another, or its rate has fallen: what was planned is too high.
  mutating func cancel() {
    if awaits || planned != nil { noteRoom(isFound: false) }
    planned = nil
    awaits = false
    wasCarried = false
    if phase == .climbing { phase = .settled }
  }

  /// A probe is on its way, or was a moment ago: what waits in the queue may be of it.
  func isUnderway(_ roundTrip: Duration, now: Instant) -> Bool {
    lastAt != .min && now.nanoseconds &- lastAt < roundTrip.wholeNanoseconds &+ Self.aftermath
  }
  private static let aftermath: Int64 = 150_000_000
}
