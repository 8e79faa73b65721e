import Model

@testable import Congestion

/// A subscriber that reports arrivals: sound, and one picture in several layers, by what the allocator makes of the estimate.
final class LayeredSubscriber {
  private static let sound = 60e3
  private static let size = 750
  var estimator = BandwidthEstimator()
  private let path: Bottleneck
  private let layers: [Double]
  private let canProbe: Bool
  private var memory = SlotMemory()
  private(set) var shown: Int?
  /// When something is shown that wasn't, or something better.
  private(set) var rises: [Double] = []
  /// Of all packets, in milliseconds.
  private(set) var waits: [Double] = []
  private(set) var judge = StepJudge()
  /// Nothing arrives, and nothing is heard.
  var isOut = false
  private var now: Int64 = 1_000_000_000
  private let begin: Int64 = 1_000_000_000
  private var budget = 0.0
  private var probe: (plan: ProbePlan, left: Int, budget: Double)?
  private var underway: [(number: Int64, at: Int64, bytes: Int, cluster: UInt16)] = []
  private var arrived: [Int64: Int64] = [:]
  private var highest: Int64 = -1
  private var reported: Int64 = 0

  /// - Parameters:
  ///   - layers: bits per second, from the cheapest to the best.
  ///   - canProbe: there is a stream whose packets can be padding alone.
  init(_ path: Bottleneck, layers: [Double], canProbe: Bool = false) {
    self.path = path
    self.layers = layers
    self.canProbe = canProbe
  }

  var second: Double { Double(now - begin) / 1e9 }

  /// - Parameter each: called each millisecond.
  func run(_ span: Duration, _ each: () -> Void = {}) {
    for _ in 0..<span.wholeNanoseconds / 1_000_000 {
      each()
      turn()
      now += 1_000_000
    }
  }

  private func turn() {
    let step = (now - begin) / 1_000_000
    while let first = underway.first, first.at <= now {
      underway.removeFirst()
      arrived[first.number] = first.at
      highest = max(highest, first.number)
      judge.arrived(first.bytes, cluster: first.cluster, at: first.at)
    }
    if step % 50 == 0, highest >= reported { report() }
    estimator.poll(now: Instant(nanoseconds: now))
    if step % 100 == 0 { allocate() }
    if step % 20 == 0 { send(Int(Self.sound / 400)) }
    if let shown { budget = min(budget + layers[shown] / 8_000, 3_000) }
    if probe == nil { beginProbe() }
    if probe != nil { return goOnWithProbe() }
    while shown != nil, budget >= Double(Self.size) {
      budget -= Double(Self.size)
      send(Self.size)
    }
  }

  private func beginProbe() {
    guard let plan = estimator.takeProbe(canProbe: canProbe, now: Instant(nanoseconds: now)) else { return }
    judge.planned(plan)
    probe = (plan, max(plan.bytes, plan.packets * Self.size), 0)
  }

  /// What the picture has to say goes first, as part of the probe; the rest is padding.
  private func goOnWithProbe() {
    guard var open = probe else { return }
    open.budget += open.plan.rate / 8_000
    while open.left > 0, open.budget >= Double(Self.size) {
      open.budget -= Double(Self.size)
      open.left -= Self.size
      if shown != nil, budget >= Double(Self.size) { budget -= Double(Self.size) }
      send(Self.size, cluster: open.plan.cluster)
    }
    probe = open.left > 0 ? open : nil
  }

  private func send(_ bytes: Int, cluster: UInt16 = 0) {
    let number = estimator.leave(size: bytes, cluster: cluster, now: Instant(nanoseconds: now))
    waits.append(path.wait(at: now) / 1e6)
    if let at = path.pass(bytes, at: now), !isOut { underway.append((number, at, bytes, cluster)) }
  }

  private func report() {
    var feedback = estimator.takeFeedback(now: Instant(nanoseconds: now))
    for number in reported...highest {
      let ticks = arrived.removeValue(forKey: number).map { UInt32(truncatingIfNeeded: $0 / 250_000) }
      if !isOut { estimator.note(UInt16(truncatingIfNeeded: number), arrival: ticks, in: &feedback) }
    }
    reported = highest + 1
    if !isOut { _ = estimator.finish(feedback) }
  }

  private func allocate() {
    let sound = LayerOption(rate: Self.sound, peak: Self.sound)
    let options = layers.enumerated().map {
      LayerOption(encoding: UInt8($0.offset), rate: $0.element, peak: $0.element)
    }
    let allocation = Allocator.allocate(
      estimator.capacity,
      [
        SlotDemand(slot: 0, kind: .audio, options: [sound]),
        SlotDemand(slot: 1, kind: .video, options: options, memory: memory),
      ], now: Instant(nanoseconds: now))
    estimator.want(allocation.wanted, next: allocation.next, room: allocation.room)
    memory = allocation.slots[1].memory
    let before = shown
    shown = allocation.slots[1].option.map { Int($0.encoding) }
    guard (shown ?? -1) > (before ?? -1) else { return }
    rises.append(second)
    judge.stepped(to: allocation.rate, second: second)
  }
}

/// Holds each step up to a better layer against what its path was shown to carry before: by packets that were sent anyway and arrived, or
/// by a probe that arrived at no less. It looks at arrivals alone, and at nothing that the estimator makes of them.
struct StepJudge {
  /// Of one probe.
  private struct Cluster {
    var rate: Double
    var packets = 0
    /// Bytes behind the first packet, and when that came and the last one.
    var bytes = 0
    var first: Int64 = 0
    var last: Int64 = 0

    /// What it arrived at; at most what it was planned as.
    var proven: Double {
      guard packets >= 4, last > first else { return 0 }
      return min(rate, Double(bytes) * 8e9 / Double(last - first))
    }
  }

  private static let window: Int64 = 500_000_000
  /// A window that isn't full counts as that long at least, as in `AcknowledgedRate.carried`.
  private static let leastSpan = 0.45

  private var recent: [(at: Int64, bytes: Int)] = []
  private var inWindow = 0
  private var clusters: [UInt16: Cluster] = [:]
  /// The most that ever arrived in half a second, in bits per second.
  private(set) var acknowledged = 0.0
  /// The most that a probe ever arrived at.
  private(set) var probed = 0.0
  private(set) var steps = 0
  private(set) var problems: [String] = []

  init() {}

  /// What a path is believed to carry before anything is known of it; and how far beyond what arrives the target may grow where probes can
  /// show more (`AIMDRate.update`).
  var proven: Double {
    max(BandwidthEstimator.start, AIMDRate.furtherProbed * acknowledged + 10_000, probed)
  }

  mutating func planned(_ plan: ProbePlan) { clusters[plan.cluster] = Cluster(rate: plan.rate) }

  /// In the order of arrival.
  mutating func arrived(_ bytes: Int, cluster: UInt16, at moment: Int64) {
    recent.append((moment, bytes))
    inWindow += bytes
    while let first = recent.first, first.at <= moment - Self.window {
      inWindow -= first.bytes
      recent.removeFirst()
    }
    acknowledged = max(acknowledged, Double(inWindow) * 8 / Self.leastSpan)
    guard cluster != 0, var known = clusters[cluster] else { return }
    if known.packets == 0 { known.first = moment } else { known.bytes += bytes }
    known.packets += 1
    known.last = moment
    clusters[cluster] = known
    probed = max(probed, known.proven)
  }

  /// More is shown than before.
  /// - Parameter total: bits per second of everything that is sent from here on.
  mutating func stepped(to total: Double, second: Double) {
    steps += 1
    guard total > proven else { return }
    problems.append(
      "at \(second) s it goes up to \(Int(total / 1e3)) kbit/s, where \(Int(acknowledged / 1e3)) have arrived and probes at \(Int(probed / 1e3))"
    )
  }
}
