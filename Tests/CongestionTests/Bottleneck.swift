import Model

@testable import Congestion

/// A path that several flows share: a rate, a queue that drops what doesn't fit, a delay, and losses at random.
final class Bottleneck {
  /// Bits per second.
  var rate: Double
  /// Each way.
  let delay: Int64
  /// Bytes.
  private let room: Double
  private let loss: Double
  private var queued = 0.0
  private var last: Int64 = 0
  private var random: RandomSource

  /// - Parameters:
  ///   - queue: what fits into it, as time at the first rate.
  ///   - loss: share of packets lost whatever the queue holds.
  init(rate: Double, delay: Duration, queue: Duration, loss: Double = 0, seed: UInt64 = 1) {
    self.rate = rate
    self.delay = delay.wholeNanoseconds
    room = rate / 8 * Double(queue.wholeNanoseconds) / 1e9
    self.loss = loss
    random = .seeded(state: seed)
  }

  /// What a packet that comes now waits, in nanoseconds.
  func wait(at now: Int64) -> Double { max(0, queued - rate / 8 * Double(now - last) / 1e9) * 8e9 / rate }

  /// - Returns: when the packet leaves the far end; nil: it is lost.
  func pass(_ bytes: Int, at now: Int64) -> Int64? {
    queued = max(0, queued - rate / 8 * Double(now - last) / 1e9)
    last = now
    guard queued + Double(bytes) <= room else { return nil }
    queued += Double(bytes)
    let isLost = loss > 0 && Double(random.next() % 1_000_000) < loss * 1e6
    return isLost ? nil : now + Int64(queued * 8e9 / rate) + delay
  }
}

/// One sender that always has as much to send as it may, up to a bound, and its receiver, which reports arrivals.
final class MediaFlow {
  var estimator = BandwidthEstimator()
  let path: Bottleneck
  /// Of this flow alone, each way, beyond the path's.
  private let further: Int64
  var most: Double
  /// Sends nothing meanwhile.
  var isPaused = false
  private let interval: Int64
  private let start: Int64
  private var budget = 0.0
  private var probe: (plan: ProbePlan, left: Int, budget: Double)?
  private var arrivals: [Int64: Int64] = [:]
  private var highestArrived: Int64 = -1
  private var reported: Int64 = 0
  private var underway: [(at: Int64, number: Int64, arrived: Int64)] = []
  private var nextReport: Int64
  private var reports: [(at: Int64, entries: [(UInt16, UInt32?)])] = []
  /// Packets that came after they were reported as lost.
  private var late: [(number: Int64, arrived: Int64)] = []
  /// The path of the feedback, where it is shared with media.
  private let back: Bottleneck?
  /// At most, of single packets on top of the queue; those that are overtaken come out of order.
  private let jitter: Int64
  private let reorders: Bool
  private var latest: Int64 = 0
  private(set) var received = 0
  private(set) var padding = 0
  private(set) var sentBytes = 0
  /// Share of feedback that is lost.
  var feedbackLoss = 0.0
  var isDeaf = false
  private var random: RandomSource
  /// What packets waited in the queue, in milliseconds, with the time in seconds.
  private(set) var waits: [(second: Double, wait: Double)] = []
  private(set) var targets: [(second: Double, target: Double)] = []

  /// - Parameters:
  ///   - further: of this flow alone, each way, beyond the path's delay.
  ///   - interval: between two reports.
  ///   - back: what feedback shares its way with; nil: nothing.
  init(
    _ path: Bottleneck, most: Double = 20e6, further: Duration = .zero, start: Duration = .zero,
    interval: Duration = .milliseconds(50), jitter: Duration = .zero, reorders: Bool = false,
    back: Bottleneck? = nil, seed: UInt64 = 7
  ) {
    self.path = path
    self.back = back
    self.jitter = jitter.wholeNanoseconds
    self.reorders = reorders
    random = .seeded(state: seed)
    self.interval = interval.wholeNanoseconds
    self.most = most
    self.further = further.wholeNanoseconds
    self.start = start.wholeNanoseconds
    nextReport = self.start + self.interval
  }

  static let step: Int64 = 1_000_000
  private static let size = 1_200

  /// Goes on with what another flow has learnt; what that sent is not heard of any more.
  func take(over estimator: consuming BandwidthEstimator) {
    self.estimator = estimator
    reported = self.estimator.leave(size: Self.size, now: Instant(nanoseconds: start)) + 1
    highestArrived = reported - 1
  }

  func turn(at now: Int64) {
    guard now >= start else { return }
    deliver(now)
    let instant = Instant(nanoseconds: now)
    estimator.want(most, next: estimator.target < most ? estimator.target * 1.3 : nil)
    estimator.poll(now: instant)
    if now % 100_000_000 == 0 { targets.append((Double(now) / 1e9, estimator.target)) }
    guard !isPaused else { return }
    if probe == nil, let plan = estimator.takeProbe(canProbe: true, now: instant) {
      probe = (plan, max(plan.bytes, plan.packets * Self.size), 0)
    }
    let rate = min(estimator.target, most)
    budget = min(budget + rate / 8 * Double(Self.step) / 1e9, 3 * Double(Self.size))
    if var open = probe {
      open.budget += open.plan.rate / 8 * Double(Self.step) / 1e9
      while open.left > 0, open.budget >= Double(Self.size) {
        open.budget -= Double(Self.size)
        open.left -= Self.size
        // What the media has to say goes first, as part of the probe.
        if budget >= Double(Self.size) { budget -= Double(Self.size) } else { padding += Self.size }
        send(open.plan.cluster, now)
      }
      probe = open.left > 0 ? open : nil
    } else {
      while budget >= Double(Self.size) {
        budget -= Double(Self.size)
        send(0, now)
      }
    }
  }

  private func send(_ cluster: UInt16, _ now: Int64) {
    let number = estimator.leave(size: Self.size, cluster: cluster, now: Instant(nanoseconds: now))
    sentBytes += Self.size
    waits.append((Double(now) / 1e9, path.wait(at: now) / 1e6))
    if let arrived = path.pass(Self.size, at: now) {
      var at = arrived + further
      if jitter > 0 { at += Int64(random.next() % UInt64(jitter)) }
      if !reorders { at = max(at, latest) }
      latest = max(latest, at)
      underway.append((at, number, at))
    }
  }

  private func deliver(_ now: Int64) {
    let come = underway.filter { $0.at <= now }
    if !come.isEmpty { underway.removeAll { $0.at <= now } }
    for packet in come.sorted(by: { $0.at < $1.at }) {
      guard packet.number >= reported else {
        late.append((packet.number, packet.arrived))
        continue
      }
      arrivals[packet.number] = packet.arrived
      highestArrived = max(highestArrived, packet.number)
      received += Self.size
    }
    if now >= nextReport {
      nextReport += interval
      if highestArrived >= reported, !isDeaf { report(now) }
    }
    while let report = reports.first, report.at <= now {
      reports.removeFirst()
      var feedback = estimator.takeFeedback(now: Instant(nanoseconds: now))
      for (sequence, arrival) in report.entries { estimator.note(sequence, arrival: arrival, in: &feedback) }
      _ = estimator.finish(feedback)
    }
  }
}

extension MediaFlow {
  private func ticks(_ arrived: Int64) -> UInt32 {
    UInt32(truncatingIfNeeded: arrived / 250_000 + 0xFFFF_0000)
  }

  /// Everything that came since the last report, and what didn't.
  private func report(_ now: Int64) {
    var entries: [(UInt16, UInt32?)] = late.map { (UInt16(truncatingIfNeeded: $0.number), ticks($0.arrived)) }
    late = []
    for number in reported...highestArrived {
      entries.append((UInt16(truncatingIfNeeded: number), arrivals[number].map { ticks($0) }))
      arrivals[number] = nil
    }
    reported = highestArrived + 1
    let isLost = Double(random.next() % 1_000) < feedbackLoss * 1_000
    let leaves = back.map { $0.pass(60 + 2 * entries.count, at: now) } ?? now + path.delay
    if !isLost, let leaves { reports.append((max(leaves + further, reports.last?.at ?? 0), entries)) }
  }
}

/// A download by CUBIC (RFC 9438) over the same path: a window of packets, cut by three tenths where one is lost.
final class Download {
  private let path: Bottleneck
  private let start: Int64
  private let stop: Int64
  private var window = 10.0
  private var before = 10.0
  private var cutAt: Int64
  private var inFlight: [(ack: Int64, isLost: Bool)] = []
  private var isSlowStart = true
  private(set) var received = 0

  private let size: Int

  /// - Parameter size: bytes of the file.
  init(_ path: Bottleneck, start: Duration, stop: Duration = .seconds(10_000), size: Int = .max) {
    self.path = path
    self.size = size
    self.start = start.wholeNanoseconds
    self.stop = stop.wholeNanoseconds
    cutAt = self.start
  }

  func turn(at now: Int64) {
    guard now >= start, now < stop, received < size else { return }
    let done = inFlight.filter { $0.ack <= now }
    inFlight.removeAll { $0.ack <= now }
    var lost = false
    for packet in done {
      if packet.isLost {
        lost = true
      } else {
        received += 1_500
        if isSlowStart { window += 1 }
      }
    }
    if lost, now - cutAt > 2 * path.delay {
      isSlowStart = false
      before = window
      window = max(2, window * 0.7)
      cutAt = now
    } else if !isSlowStart, !done.isEmpty {
      let time = Double(now - cutAt) / 1e9
      let k = cubeRoot(before * 0.3 / 0.4)
      window = max(window, 0.4 * (time - k) * (time - k) * (time - k) + before)
    }
    while Double(inFlight.count) < window {
      if let arrived = path.pass(1_500, at: now) {
        inFlight.append((arrived + path.delay, false))
      } else {
        inFlight.append((now + 2 * path.delay + 10_000_000, true))
      }
    }
  }

  private func cubeRoot(_ x: Double) -> Double {
    var y = max(x, 1)
    for _ in 0..<40 { y = (2 * y + x / (y * y)) / 3 }
    return y
  }
}

/// Runs flows over a time, a millisecond at a time.
func run(
  _ span: Duration, _ flows: [MediaFlow], _ downloads: [Download] = [], _ each: (Double) -> Void = { _ in }
) {
  var now: Int64 = 0
  while now < span.wholeNanoseconds {
    each(Double(now) / 1e9)
    for flow in flows { flow.turn(at: now) }
    for download in downloads { download.turn(at: now) }
    now += MediaFlow.step
  }
}

extension MediaFlow {
  /// Mean of the target between two moments, in seconds.
  func mean(_ span: ClosedRange<Double>) -> Double {
    let inside = targets.filter { span.contains($0.second) }
    return inside.reduce(0) { $0 + $1.target } / Double(max(inside.count, 1))
  }

  /// What nineteen of twenty packets waited less than, in milliseconds.
  func wait(_ span: ClosedRange<Double>, share: Double = 0.95) -> Double {
    let inside = waits.filter { span.contains($0.second) }.map(\.wait).sorted()
    return inside.isEmpty ? 0 : inside[min(inside.count - 1, Int(Double(inside.count) * share))]
  }

  /// The first moment from which on the target stays above a rate for a second.
  func reaches(_ rate: Double, from: Double) -> Double? {
    var since: Double?
    for (second, target) in targets where second >= from {
      if target >= rate {
        if since == nil { since = second }
        if let since, second - since >= 1 { return since }
      } else {
        since = nil
      }
    }
    return nil
  }
}
