internal import Model

/// The rate that losses allow. Losses that come with any rate, as on radio, are no reason to send less; losses that come of a full
/// queue are. Which they are is found by what explains the last observations best: a bandwidth and a share that is lost
/// whatever is sent (the idea of libwebrtc's second loss-based estimator). Losses are weighed by bytes: a full queue refuses large
/// packets and still takes small ones, so that a third of the packets lost may be half of the bytes.
struct LossBound: BitwiseCopyable {
  /// An observation is so long at least, and has so many packets.
  private static let span: Int64 = 250_000_000
  private static let leastPackets = 20
  private static let window = 20
  /// An observation weighs so much less than the one after it.
  private static let aging = 0.9
  private static let inherent = 0.0...0.5
  /// The rate grows by no more from one observation to the next.
  private static let growth = 1.3
  /// By packet, where much and where little is lost.
  private static let leastBias = 0.0002
  private static let mostBias = 0.1
  private static let much = 0.15
  private static let little = 0.05
  private static let searches = 8
  /// More is never held for inherent than what rates so low lose.
  private static let inherentFloor = 0.01
  private static let inherentBalance = 100_000.0
  /// Of losses beside a full queue, as much may have another cause.
  private static let queuedInherent = 0.05
  /// Rates below are not distinguished.
  static let least = 30_000.0

  private struct Observation: BitwiseCopyable {
    var packets = 0
    var lostPackets = 0
    var bytes = 0
    var lostBytes = 0
    /// Bits per second.
    var rate = 0.0

    /// - Returns: false where none was taken for lost here.
    mutating func takeBack(_ bytes: Int) -> Bool {
      guard lostPackets > 0 else { return false }
      lostPackets -= 1
      lostBytes = max(0, lostBytes - bytes)
      return true
    }

    /// As many packets as the lost bytes are of all.
    var lost: Double { bytes > 0 ? Double(packets) * Double(lostBytes) / Double(bytes) : 0 }
  }

  // What reads them is mutating, so that it reads them in their place and not a copy of all.
  private var observations: InlineArray<20, Observation> = InlineArray(repeating: Observation())
  private var count = 0
  private var place = 0
  private var open = Observation()
  private var openSince: Int64 = .min
  /// Nil as long as nothing is bounded.
  private(set) var bound: Double?
  private(set) var inherentLoss = 0.01
  /// Share of the packets, smoothed over all observations: 0–1.
  private(set) var average = 0.0
  /// While losses bound the rate it grows slowly.
  private var heldUntil: Int64 = .min

  init() {}

  /// Takes what one feedback said of packets.
  mutating func take(
    packets: Int, lost: Int, bytes: Int, lostBytes: Int, lastSent: Int64
  ) {
    if openSince == .min { openSince = lastSent }
    open.packets += packets
    open.lostPackets += lost
    open.bytes += bytes
    open.lostBytes += lostBytes
    let passed = lastSent &- openSince
    guard passed >= Self.span, open.packets >= Self.leastPackets || passed >= 4 * Self.span else { return }
    open.rate = Double(open.bytes) * 8e9 / Double(passed)
    observations[place] = open
    place = (place + 1) % Self.window
    count = min(count + 1, Self.window)
    open = Observation()
    openSince = lastSent
    average = smoothedLoss()
    isFresh = true
  }

  private var isFresh = false
  /// How many packets the observations weigh.
  private var smoothedPackets = 0.0

  /// A packet of so many bytes that was taken for lost has come after all: it was overtaken.
  mutating func takeBack(_ bytes: Int) {
    if open.takeBack(bytes) { return }
    for back in 1...max(count, 1) {
      if observations[(place - back + Self.window) % Self.window].takeBack(bytes) { return }
    }
  }

  /// Weighs what the rate could be.
  /// - Parameters:
  ///   - delayed: what the delay allows, which is never exceeded.
  ///   - acknowledged: what arrives.
  ///   - isQueued: packets wait on the way for long: what is lost is lost in that queue, and not on the radio.
  ///   - mayGrow: false while so little is sent that nothing is learnt of more.
  mutating func update(
    delayed: Double, acknowledged: Double?, isQueued: Bool, mayGrow: Bool, now: Instant
  ) {
    guard isFresh, count > 0 else {
      if let bound, bound > delayed { self.bound = delayed }
      return
    }
    isFresh = false
    let current = min(bound ?? delayed, delayed)
    var best = (rate: current, inherent: inherentLoss, worth: -Double.infinity)
    var candidates: InlineArray<5, Double> = InlineArray(repeating: 0)
    candidates[0] = current * 1.02
    candidates[1] = current
    candidates[2] = current * 0.95
    candidates[3] = (acknowledged ?? current) * 0.95
    candidates[4] = bound == nil ? delayed : min(delayed, current * Self.growth)
    for index in 0..<5 {
      let rate = max(min(candidates[index], delayed), Self.least)
      let share = inherent(at: rate, most: isQueued ? Self.queuedInherent : mostInherent(rate))
      let worth = likelihood(rate, share) + bias(rate)
      if worth > best.worth { best = (rate, share, worth) }
    }
    inherentLoss = best.inherent
    if best.rate < current {
      // Not below what arrives nearly whole.
      bound = max(best.rate, Self.least)
      heldUntil = now.nanoseconds &+ 300_000_000
    } else if bound != nil, mayGrow, now.nanoseconds >= heldUntil {
      bound = best.rate
    }
    if let bound, bound >= delayed { self.bound = average < 0.02 ? nil : delayed }
  }

  /// A probe arrived whole at that rate.
  mutating func proven(_ rate: Double) { if let bound, rate > bound { self.bound = rate } }

  private mutating func smoothedLoss() -> Double {
    var (packets, lost, weight) = (0.0, 0.0, 1.0)
    for back in 1...count {
      let entry = observations[(place - back + Self.window) % Self.window]
      packets += weight * Double(entry.packets)
      lost += weight * Double(entry.lostPackets)
      weight *= Self.aging
    }
    smoothedPackets = packets
    return packets > 0 ? lost / packets : 0
  }

  /// What is lost at a rate, if the path carries `bandwidth` and loses `inherent` of everything.
  private func loss(_ rate: Double, _ bandwidth: Double, _ inherent: Double) -> Double {
    let over = rate > bandwidth && rate > 0 ? (rate - bandwidth) / rate : 0
    return min(max(inherent + (1 - inherent) * over, 1e-6), 1 - 1e-6)
  }

  /// The inherent share that explains the observations best, by bisection of the likelihood's slope.
  private mutating func inherent(at bandwidth: Double, most: Double) -> Double {
    var (low, high) = (Self.inherent.lowerBound, most)
    // Where nothing is lost no share explains it better than a smaller one.
    if !hasLosses { return low + (high - low) / Double(2 << Self.searches) }
    for _ in 0..<Self.searches {
      let middle = (low + high) / 2
      if isRising(bandwidth, middle) {
        low = middle
      } else {
        high = middle
      }
    }
    return (low + high) / 2
  }

  private var hasLosses: Bool {
    mutating get {
      for index in 0..<count where observations[index].lost > 0 { return true }
      return false
    }
  }

  /// A path that loses much at a low rate may be bad; one that loses much at a high rate is full.
  private func mostInherent(_ bandwidth: Double) -> Double {
    min(Self.inherentFloor + Self.inherentBalance / max(bandwidth, 1) + 0.12, Self.inherent.upperBound)
  }

  /// Whether a larger inherent share explains them better: the sign of the likelihood's derivative, which needs no logarithms.
  private mutating func isRising(_ bandwidth: Double, _ inherent: Double) -> Bool {
    var (sum, weight) = (0.0, 1.0)
    for back in 1...count {
      let entry = observations[(place - back + Self.window) % Self.window]
      let p = loss(entry.rate, bandwidth, inherent)
      let passes = entry.rate > bandwidth ? bandwidth / entry.rate : 1
      sum += weight * passes * (entry.lost / p - (Double(entry.packets) - entry.lost) / (1 - p))
      weight *= Self.aging
    }
    return sum > 0
  }

  private mutating func likelihood(_ bandwidth: Double, _ inherent: Double) -> Double {
    var (sum, weight) = (0.0, 1.0)
    for back in 1...count {
      let entry = observations[(place - back + Self.window) % Self.window]
      let p = loss(entry.rate, bandwidth, inherent)
      sum +=
        weight * (entry.lost * logarithm(p) + (Double(entry.packets) - entry.lost) * logarithm(1 - p))
      weight *= Self.aging
    }
    return sum
  }

  /// Of two that explain it equally the higher; and while little is lost also one that explains it a little less, since few losses
  /// in a row are chance.
  private func bias(_ rate: Double) -> Double {
    let doubt = min(max((Self.much - average) / (Self.much - Self.little), 0), 1)
    return (Self.leastBias + Self.mostBias * doubt) * smoothedPackets * logarithm(max(rate, 1))
  }

  /// The natural logarithm; by the exponent and a series, because no module below Engine has the C library.
  private func logarithm(_ x: Double) -> Double {
    let exponent = Double(x.exponent)
    let s = (x.significand - 1) / (x.significand + 1)
    let s2 = s * s
    let series = 2 * s * (1 + s2 / 3 + s2 * s2 / 5 + s2 * s2 * s2 / 7 + s2 * s2 * s2 * s2 / 9)
    return exponent * 0.693_147_180_559_945_3 + series
  }
}
