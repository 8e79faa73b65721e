internal import Model

/// What is still to be sent to one push service; given the time, it says what to send, and when to look again.
///
/// Rings go before their ends, and an end waits for what becomes of the ring that is under way to the same device. What fails for a
/// while is sent again until the ring is over, and what is too late is not begun. It is bounded in number and in bytes: full, it gives
/// up the end of a ring that has waited longest for a ring, and else takes no more.
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
    var mayHaveArrived = false
  }

  private enum Turn: Equatable, Sendable {
    case ready
    case paused
    case sending
  }

  private struct Entry: Sendable {
    var job: PushJob
    var turn = Turn.ready
    /// Why it isn't sent again once its answer has come.
    var stopped: PushDrop?
    /// It was taken, or a try has no answer.
    var mayHaveArrived = false
    /// Of an end, the ring whose answer it waits for.
    var behind: UInt64?
  }

  /// A platform answers within five seconds as a rule; an end that waits for that goes out after so long at the latest.
  private static let longestHold = Duration.seconds(6)

  private(set) var counters = PushCounters()
  private(set) var bytes = 0
  private let limits: Limits
  private var entries: [UInt64: Entry] = [:]
  private var rings: [UInt64] = []
  private var ends: [UInt64] = []
  /// By the moment.
  private var paused: [(until: Instant, number: UInt64)] = []
  /// Ends that wait for an answer, by the ring's number.
  private var held: [UInt64: UInt64] = [:]
  private var underWay = 0
  private var last: UInt64 = 0
  private var finished: [Finished] = []

  init(limits: Limits = Limits()) { self.limits = limits }

  /// How many wait or are under way.
  var count: Int { entries.count }

  // MARK: What comes

  /// - Returns: its number; nil: there is no room for it.
  @discardableResult
  mutating func add(_ job: PushJob) -> UInt64? {
    var job = job
    last += 1
    job.number = last
    while let problem = obstacle(to: job) {
      guard job.isRing, let victim = waitingEnd else {
        refuse(job, .failed, problem)
        return nil
      }
      counters.dropped[problem, default: 0] &+= 1
      finish(victim, .failed, problem.rawValue)
    }
    entries[job.number] = Entry(job: job)
    bytes += job.bytes
    if job.isRing { rings.append(job.number) } else { ends.append(job.number) }
    return job.number
  }

  /// Takes the end of a ring. Where the ring is under way to that device, its answer is waited for, though not for ever: the end
  /// neither overtakes the ring nor goes to a device that it doesn't come to.
  mutating func addEnd(_ job: PushJob, now: Instant) {
    guard let number = add(job), let ring = ringUnderWay(before: job) else { return }
    ends.removeAll { $0 == number }
    entries[ring]?.stopped = .ringOver
    entries[number]?.behind = ring
    held[ring] = number
    pause(number, until: now + Self.longestHold)
  }

  private func ringUnderWay(before end: PushJob) -> UInt64? {
    entries.values.first {
      $0.turn == .sending && $0.job.isRing && $0.job.ringId == end.ringId
        && $0.job.device.name == end.device.name
    }?.job.number
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

  /// A ring is over, for all devices: it isn't sent again.
  mutating func stop(ring: String) {
    stop(.ringOver) { $0.isRing && $0.ringId == ring }
  }

  /// Nothing is sent to that device any more.
  mutating func stop(device: PushDevice.Name) {
    stop(.deviceGone) { $0.device.name == device }
  }

  private mutating func stop(_ reason: PushDrop, _ isMeant: (PushJob) -> Bool) {
    for (number, entry) in entries where isMeant(entry.job) {
      if entry.turn == .sending {
        entries[number]?.stopped = reason
        continue
      }
      counters.dropped[reason, default: 0] &+= 1
      finish(number, Self.state(of: reason), reason.rawValue)
    }
  }

  private static func state(of reason: PushDrop) -> PushOutcome.State {
    reason == .deviceGone ? .failed : .expired
  }

  /// What became of a push that was sent.
  /// - Parameter isUnanswered: no answer says whether it has arrived.
  mutating func answered(_ number: UInt64, _ verdict: PushVerdict, isUnanswered: Bool = false, now: Instant) {
    guard var entry = entries[number], entry.turn == .sending else { return }
    underWay -= 1
    if verdict == .delivered || isUnanswered { entry.mayHaveArrived = true }
    // Nothing comes to a token that is no good, whatever was tried before.
    if case .remove = verdict { entry.mayHaveArrived = false }
    entries[number] = entry
    switch verdict {
    case .delivered: finish(number, .delivered, "")
    case .remove(let reason): finish(number, .removed, reason)
    case .failed(let reason), .misconfigured(let reason): finish(number, .failed, reason)
    case .expired(let reason): finish(number, .expired, reason)
    case .retry(let span, _):
      if let reason = entry.stopped {
        finish(number, Self.state(of: reason), reason.rawValue)
      } else {
        counters.retries &+= 1
        pause(number, until: now + span)
      }
    }
    release(behind: number, mayHaveArrived: entry.mayHaveArrived)
  }

  /// A ring has its answer: the end that waits for that goes out where the device may have the ring.
  private mutating func release(behind ring: UInt64, mayHaveArrived: Bool) {
    guard let number = held.removeValue(forKey: ring), entries[number]?.behind == ring else { return }
    guard mayHaveArrived else {
      counters.dropped[.neverRang, default: 0] &+= 1
      return finish(number, .expired, PushDrop.neverRang.rawValue)
    }
    paused.removeAll { $0.number == number }
    entries[number]?.turn = .ready
    entries[number]?.behind = nil
    ends.append(number)
  }

  private mutating func pause(_ number: UInt64, until moment: Instant) {
    entries[number]?.turn = .paused
    paused.insert((moment, number), at: paused.firstIndex { $0.until > moment } ?? paused.count)
  }

  // MARK: What is to be done

  /// - Parameter now: by a clock that is never stepped.
  mutating func next(now: Instant) -> Action {
    while let first = paused.first, first.until <= now {
      paused.removeFirst()
      guard let entry = entries[first.number] else { continue }
      entries[first.number]?.turn = .ready
      entries[first.number]?.behind = nil
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
    finished.append(
      Finished(job: entry.job, state: state, reason: reason, mayHaveArrived: entry.mayHaveArrived))
  }

  /// What is over since it was asked for last.
  mutating func takeFinished() -> [Finished] {
    defer { finished = [] }
    return finished
  }
}
