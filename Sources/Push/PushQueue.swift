internal import Model

/// What is still to be sent to one push service; given the time, it says what to send, and when to look again.
///
/// Rings go before their ends. What fails for a while is sent again until the ring is over, and what is too late is not begun. It is
/// bounded in number and in bytes: full, it gives up the end of a ring that has waited longest for a ring, and else takes no more.
struct PushQueue: Sendable {
  struct Limits: Equatable, Sendable {
    /// Pushes that wait or are under way.
    var count = 4_096
    var bytes = 16 * 1_024 * 1_024
    /// Under way at once.
    var atOnce = 100
  }

  enum Action: Equatable, Sendable {
    /// Say by `answered` what became of it.
    case send(PushJob)
    /// Nothing before that moment, unless a push or an answer comes; `.never`: nothing waits but for those.
    case wait(until: Instant)
  }

  struct Finished: Equatable, Sendable {
    var job: PushJob
    var state: PushOutcome.State
    var reason: String
  }

  private enum Turn: Equatable, Sendable {
    case ready
    case paused
    case sending
  }

  private struct Entry: Sendable {
    var job: PushJob
    var turn = Turn.ready
    /// Its ring is over: it isn't sent again.
    var isStopped = false
  }

  private(set) var counters = PushCounters()
  private(set) var bytes = 0
  private let limits: Limits
  private var entries: [UInt64: Entry] = [:]
  private var rings: [UInt64] = []
  private var ends: [UInt64] = []
  /// By the moment.
  private var paused: [(until: Instant, number: UInt64)] = []
  private var underWay = 0
  private var last: UInt64 = 0
  private var finished: [Finished] = []

  init(limits: Limits = Limits()) { self.limits = limits }

  /// How many wait or are under way.
  var count: Int { entries.count }

  // MARK: What comes

  mutating func add(_ job: PushJob) {
    var job = job
    last += 1
    job.number = last
    while let problem = obstacle(to: job) {
      guard job.isRing, let victim = waitingEnd else {
        return refuse(job, .failed, problem)
      }
      counters.dropped[problem, default: 0] &+= 1
      finish(victim, .failed, problem.rawValue)
    }
    entries[job.number] = Entry(job: job)
    bytes += job.bytes
    if job.isRing { rings.append(job.number) } else { ends.append(job.number) }
  }

  /// A push that isn't sent at all.
  mutating func refuse(_ job: PushJob, _ state: PushOutcome.State, _ reason: PushDrop) {
    counters.dropped[reason, default: 0] &+= 1
    counters.outcomes[state, default: 0] &+= 1
    finished.append(Finished(job: job, state: state, reason: reason.rawValue))
  }

  private func obstacle(to job: PushJob) -> PushDrop? {
    if entries.count >= limits.count { return .queueCount }
    return bytes + job.bytes > limits.bytes ? .queueBytes : nil
  }

  /// The end of a ring that has waited longest.
  private var waitingEnd: UInt64? {
    ends.first ?? paused.first { entries[$0.number]?.job.isRing == false }?.number
  }

  /// That ring is over for a device: it isn't sent there again.
  /// - Parameter device: nil: for all.
  /// - Returns: devices that it was never sent to, and won't be.
  mutating func stop(ring: String, device: PushDevice.Name? = nil) -> Set<PushDevice.Name> {
    var untouched: Set<PushDevice.Name> = []
    for (number, entry) in entries where entry.job.isRing && entry.job.ringId == ring {
      let name = entry.job.device.name
      guard device == nil || device == name else { continue }
      if entry.turn == .sending {
        entries[number]?.isStopped = true
        continue
      }
      if entry.job.tries == 0 { untouched.insert(name) }
      counters.dropped[.ringOver, default: 0] &+= 1
      finish(number, .expired, PushDrop.ringOver.rawValue)
    }
    return untouched
  }

  /// What became of a push that was sent.
  mutating func answered(_ number: UInt64, _ verdict: PushVerdict, now: Instant) {
    guard let entry = entries[number], entry.turn == .sending else { return }
    underWay -= 1
    switch verdict {
    case .delivered: finish(number, .delivered, "")
    case .remove(let reason): finish(number, .removed, reason)
    case .failed(let reason), .misconfigured(let reason): finish(number, .failed, reason)
    case .expired(let reason): finish(number, .expired, reason)
    case .retry where entry.isStopped: finish(number, .expired, PushDrop.ringOver.rawValue)
    case .retry(let pause, _):
      counters.retries &+= 1
      entries[number]?.turn = .paused
      let until = now + pause
      paused.insert((until, number), at: paused.firstIndex { $0.until > until } ?? paused.count)
    }
  }

  // MARK: What is to be done

  /// - Parameter now: by a clock that is never stepped.
  mutating func next(now: Instant) -> Action {
    while let first = paused.first, first.until <= now {
      paused.removeFirst()
      guard let entry = entries[first.number] else { continue }
      entries[first.number]?.turn = .ready
      // They have waited before.
      if entry.job.isRing { rings.insert(first.number, at: 0) } else { ends.insert(first.number, at: 0) }
    }
    while underWay < limits.atOnce, let number = takeTurn() {
      guard let job = entries[number]?.job else { continue }
      guard now < job.deadline else {
        counters.dropped[.late, default: 0] &+= 1
        finish(number, .expired, PushDrop.late.rawValue)
        continue
      }
      underWay += 1
      entries[number]?.turn = .sending
      entries[number]?.job.tries += 1
      return entries[number].map { .send($0.job) } ?? .wait(until: now)
    }
    return .wait(until: paused.first?.until ?? .never)
  }

  private mutating func takeTurn() -> UInt64? {
    if !rings.isEmpty { return rings.removeFirst() }
    return ends.isEmpty ? nil : ends.removeFirst()
  }

  private mutating func finish(_ number: UInt64, _ state: PushOutcome.State, _ reason: String) {
    guard let entry = entries.removeValue(forKey: number) else { return }
    bytes -= entry.job.bytes
    switch entry.turn {
    case .ready:
      rings.removeAll { $0 == number }
      ends.removeAll { $0 == number }
    case .paused: paused.removeAll { $0.number == number }
    case .sending: break
    }
    counters.outcomes[state, default: 0] &+= 1
    finished.append(Finished(job: entry.job, state: state, reason: reason))
  }

  /// What is over since it was asked for last.
  mutating func takeFinished() -> [Finished] {
    defer { finished = [] }
    return finished
  }
}
