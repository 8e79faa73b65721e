internal import Logging
internal import Model

/// Carries pushes to one push service: sends what `PushQueue` says, and does nothing else.
actor PushSender {
  private let service: String
  private let platform: any PushPlatform
  private let clocks: PushClocks
  private let log: Log
  private let report: @Sendable (PushOutcome) -> Void
  private var queue: PushQueue
  private var isOver = false
  private var alarm: Task<Void, any Error>?
  /// Why nothing got through when the operator heard of it last; nil: all is well.
  private var trouble: String?
  private var lastWord: Instant?
  private var readiness: Task<Void, Never>?

  /// - Parameter report: hears what became of each push; returns soon.
  init(
    _ service: String, _ platform: any PushPlatform, limits: PushQueue.Limits, clocks: PushClocks, log: Log,
    report: @escaping @Sendable (PushOutcome) -> Void
  ) {
    self.service = service
    self.platform = platform
    self.clocks = clocks
    self.log = log
    self.report = report
    queue = PushQueue(limits: limits)
  }

  var state: PushReport {
    PushReport(
      service: service, counters: queue.counters, waiting: queue.count, waitingBytes: queue.bytes)
  }

  /// Keeps ready what a push needs, from now on.
  func stayReady() {
    guard readiness == nil, !isOver else { return }
    readiness = Task { [platform] in await platform.stayReady() }
  }

  func send(_ jobs: [PushJob]) {
    guard !isOver else { return }
    stayReady()
    for job in jobs { queue.add(job) }
    goOn()
  }

  /// Sends ends of a ring that was stopped, but not to phones that it never came to: they would ring for it.
  /// - Parameter mayHaveIt: whether a device may have the ring, as far as that was reported.
  func end(_ jobs: [PushJob], _ mayHaveIt: @escaping @Sendable (PushDevice) -> Bool) {
    guard !isOver else { return }
    stayReady()
    for job in jobs {
      if mayHaveIt(job.device) {
        queue.addEnd(job, now: clocks.instant())
      } else {
        queue.refuse(job, .expired, .neverRang)
      }
    }
    goOn()
  }

  /// A ring is over, for all devices: it isn't sent again. What was never sent is reported before this returns.
  func stop(ring: String) {
    queue.stop(ring: ring)
    goOn()
  }

  /// Nothing is sent to that device any more.
  func stop(device: PushDevice.Name) {
    queue.stop(device: device)
    goOn()
  }

  /// Nothing more is sent, and nothing more said.
  func stop() {
    isOver = true
    alarm?.cancel()
    readiness?.cancel()
    platform.stop()
  }

  deinit {
    alarm?.cancel()
    readiness?.cancel()
  }

  private func goOn() {
    defer { tell() }
    while !isOver {
      switch queue.next(now: clocks.instant()) {
      case .send(let job): Task { await carry(job) }
      case .wait(let moment): return wake(at: moment)
      }
    }
  }

  private func wake(at moment: Instant) {
    alarm?.cancel()
    guard moment != .never else { return }
    let pause = max(moment - clocks.instant(), .milliseconds(1))
    alarm = Task { [weak self] in
      try await Task.sleep(for: pause)
      await self?.goOn()
    }
  }

  private func carry(_ job: PushJob) async {
    let result = await platform.push(job)
    guard !isOver else { return }
    say(result.verdict)
    queue.answered(job.number, result.verdict, isUnanswered: result.isUnanswered, now: clocks.instant())
    goOn()
  }

  private func tell() {
    for done in queue.takeFinished() {
      report(
        PushOutcome(
          device: done.job.device, ringId: done.job.ringId, isRing: done.job.isRing, state: done.state,
          reason: done.reason, at: clocks.wall(), tries: done.job.tries,
          mayHaveArrived: done.mayHaveArrived))
    }
  }

  /// What the operator hears: when something changes, and once a minute at most. Of a push nothing but the reason.
  private func say(_ verdict: PushVerdict) {
    let trouble: String?
    switch verdict {
    case .delivered: trouble = nil
    case .misconfigured(let reason): trouble = reason
    case .retry(_, let reason), .expired(let reason): trouble = reason
    // It says something of the device alone.
    case .remove, .failed: return
    }
    let now = clocks.instant()
    guard trouble != self.trouble, lastWord.map({ now - $0 >= .seconds(60) }) ?? true else { return }
    (self.trouble, lastWord) = (trouble, now)
    switch (trouble, verdict) {
    case (nil, _): log.info("pushes get through again", ["service": service])
    case (let reason?, .misconfigured):
      log.error(
        "the push service refuses what the configuration says", ["service": service, "reason": reason])
    case (let reason?, _): log.warning("a push does not get through", ["service": service, "reason": reason])
    }
  }
}
