internal import Model

/// What a probe has shown: the rate at which it left and that at which it arrived.
///
/// It is judged once, when all of it was heard of: an arrival that is some milliseconds off is a large part of the first packets' span. And
/// what it arrived at is the slope of a line through all arrivals, in which one of them says little.
struct ProbeCluster: BitwiseCopyable {
  /// What a probe proved, or that it failed.
  enum Verdict: BitwiseCopyable, Equatable {
    case carries(Double)
    /// Much less arrived than left.
    case failed(Double)
  }

  /// Of a cluster's packets so many must have arrived.
  private static let leastPackets = 4
  private static let leastShare = 0.8
  private static let longest: Int64 = 1_000_000_000
  /// What arrives within less says too little.
  private static let shortest: Int64 = 15_000_000
  /// Arrived faster than it left: the receiver's clock, or its word, is wrong.
  private static let mostRatio = 2.0
  /// Below, a queue has grown.
  private static let leastRatio = 0.9

  /// 0: none, or it has been judged.
  private(set) var number: UInt16 = 0
  private var rate = 0.0
  private var planned: (packets: Int, bytes: Int) = (0, 0)
  private var packets = 0
  private var bytes = 0
  private var lost: (packets: Int, bytes: Int) = (0, 0)
  /// Of its packets that were heard of, by their numbers.
  private(set) var highest: Int64 = -1
  private var firstSent: Int64 = .max
  private var lastSent: Int64 = .min
  private var lastBytes = 0
  /// Of the first that was heard of.
  private var begin: Int64 = 0
  private var firstArrived: Int64 = .max
  private var lastArrived: Int64 = .min
  private var line = ArrivalLine()

  /// None.
  init() {}

  /// A probe begins.
  init(_ plan: ProbePlan) {
    number = plan.cluster
    rate = plan.rate
    planned = (plan.packets, plan.bytes)
  }

  /// A packet of a probe arrived.
  mutating func take(_ cluster: UInt16, _ place: Int64, sent: Int64, arrived: Int64, bytes size: Int) {
    guard cluster == number else { return }
    highest = max(highest, place)
    packets += 1
    bytes += size
    if sent < firstSent { firstSent = sent }
    if sent > lastSent { (lastSent, lastBytes) = (sent, size) }
    firstArrived = min(firstArrived, arrived)
    lastArrived = max(lastArrived, arrived)
    // The first finds the path idle, and may wait for a radio that the others find awake.
    if packets == 1 {
      begin = arrived
    } else {
      line.add(bits: Double(bytes) * 8, seconds: Double(arrived &- begin) / 1e9)
    }
  }

  /// A packet of a probe was lost.
  mutating func lose(_ cluster: UInt16, _ place: Int64, bytes size: Int) {
    guard cluster == number else { return }
    highest = max(highest, place)
    lost.packets += 1
    lost.bytes += size
  }

  /// One that was taken for lost comes after all.
  mutating func takeBack(_ cluster: UInt16, bytes size: Int) {
    guard cluster == number, lost.packets > 0 else { return }
    lost.packets -= 1
    lost.bytes = max(0, lost.bytes - size)
  }

  /// What all of it has shown, once.
  /// - Parameter isBehind: what left behind it was heard of, so that nothing of it is yet to be.
  /// - Returns: nil until then, and where it shows nothing.
  mutating func verdict(isBehind: Bool) -> Verdict? {
    guard number != 0, packets > 0 else { return nil }
    let isWhole = packets + lost.packets >= planned.packets && bytes + lost.bytes >= planned.bytes
    #if PLANTED_DEFECTS
      guard isWhole || isBehind || PlantedDefect.isOn(.probeByPrefix) && isEnough else { return nil }
    #else
      guard isWhole || isBehind else { return nil }
    #endif
    number = 0
    return isEnough ? judge() : nil
  }

  private var isEnough: Bool {
    packets >= max(Self.leastPackets, Int(Double(planned.packets) * Self.leastShare))
      && Double(bytes) >= Double(planned.bytes) * Self.leastShare
  }

  private func judge() -> Verdict? {
    let span = (sent: lastSent &- firstSent, arrived: lastArrived &- firstArrived)
    guard span.sent > 0, span.sent < Self.longest, span.arrived >= Self.shortest, span.arrived < Self.longest,
      let came = line.rate
    else { return nil }
    // The last packet's bytes are not of the span in which they left.
    let left = Double(bytes - lastBytes) * 8e9 / Double(span.sent)
    guard came <= Self.mostRatio * left else { return nil }
    // Where less comes than left the path is full: a little below what came leaves the queue room to drain.
    if came < Self.leastRatio * left { return .failed(came * 0.95) }
    // Media that leaves meanwhile may have it leave faster than it was to, which is tried by another.
    return .carries(min(left, came, rate))
  }
}

/// How much had come by when, and the line through it with the least squares.
private struct ArrivalLine: BitwiseCopyable {
  private var count = 0.0
  private var bits = 0.0
  private var seconds = 0.0
  private var squares = 0.0
  private var products = 0.0

  init() {}

  mutating func add(bits x: Double, seconds t: Double) {
    count += 1
    bits += x
    seconds += t
    squares += x * x
    products += x * t
  }

  /// Bits per second; nil where what comes later is no more.
  var rate: Double? {
    let (variance, covariance) = (count * squares - bits * bits, count * products - bits * seconds)
    return variance > 0 && covariance > 0 ? variance / covariance : nil
  }
}
