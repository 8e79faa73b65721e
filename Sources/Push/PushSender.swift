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

  /// That ring is over for those devices, which get its end, but for phones that it was never sent to: they would ring for it.
  func end(ring: String, _ jobs: [PushJob]) {
    var wanted: [PushJob] = []
    for job in jobs {
      let untouched = queue.stop(ring: ring, device: job.device.name)
      // An alert says what was missed.
      if untouched.isEmpty || job.device.platform == .apnsAlert {
        wanted.append(job)
      } else {
        queue.refuse(job, .expired, .neverRang)
      }
    }
    send(wanted)
  }

  /// That ring is over, for all.
  func stop(ring: String) {
    _ = queue.stop(ring: ring)
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
    let verdict = await platform.push(job)
    guard !isOver else { return }
    say(verdict)
    queue.answered(job.number, verdict, now: clocks.instant())
    goOn()
  }

  private func tell() {
    for done in queue.takeFinished() {
      report(
        PushOutcome(
          device: done.job.device, ringId: done.job.ringId, isRing: done.job.isRing, state: done.state,
          reason: done.reason, at: clocks.wall(), tries: done.job.tries))
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
