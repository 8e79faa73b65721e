internal import AccessTokens
internal import Engine
internal import FoundationEssentials
internal import Model
internal import SyntheticPeers

/// Begins calls at the asked rate, lets them ring, talk and end, and asks the server in the end what became of each.
public final class CallRun {
  private let options: LoadOptions
  private let plan: CallPlan
  private let say: (String) -> Void
  private let clock = Clock()
  private let clerk: CallClerk
  private let media: CallMedia
  private var calls: [LoadCall] = []
  private var results = CallReport()
  private var over = 0
  private var lastOver = Instant.never
  private var nextTick = Instant.never

  private static let second: Int64 = 1_000_000_000
  /// Before its start a callee begins to listen.
  private static let lead: Int64 = 1_000_000_000
  /// A run whose calls don't end is given up after so long beyond the last start.
  private static let patience: Int64 = 300_000_000_000

  /// - Parameters:
  ///   - options: with `calls`.
  ///   - say: takes a line of progress.
  public init(_ options: LoadOptions, _ plan: CallPlan, say: @escaping (String) -> Void) throws {
    self.options = options
    self.plan = plan
    self.say = say
    guard options.media == nil || options.mediaAddress != nil else {
      throw LoadError("--media is address:port, not \(options.media ?? "")")
    }
    let now = LoadRun.unixSeconds()
    clerk = try CallClerk(options, clock: clock)
    media = try CallMedia(options, clock: clock, now: now)
    media.watch(clerk.descriptor)
    // Histories outlast a run: its people are its own.
    let run = UUID().uuidString.lowercased().prefix(8)
    for number in 0..<plan.count { add(number, run: String(run), seconds: now) }
  }

  private func add(_ number: Int, run: String, seconds: Int) {
    func side(_ place: Int, _ device: String) -> CallSide {
      let person = "\(options.names.identity)-\(run)-\(number * 2 + place)"
      let token = AccessToken(
        apiKey: options.apiKey, identity: person, expires: seconds + 86_400, issuedAt: seconds, name: person
      ).signed(secret: options.secret)
      return CallSide(person: person, token: token, device: device)
    }
    let terms = LoadCall.Terms(
      talk: Int64(plan.talk) * Self.second, survivesRestarts: plan.survivesRestarts,
      endedBy: number % 2 == 0 ? .caller : .callee)
    let call = LoadCall(
      id: UUID().uuidString.lowercased(), caller: side(0, "laptop"), callee: side(1, "phone"), terms: terms,
      clerk: clerk, media: media)
    call.onOver = { [unowned self] now in
      over += 1
      lastOver = now
    }
    calls.append(call)
  }

  // MARK: The loop

  /// Runs to the end.
  public func run() -> CallReport {
    let began = clock.now
    let first = began.advanced(byNanoseconds: Self.lead)
    for (number, call) in calls.enumerated() {
      let offset = Int64(Double(number) / plan.rate * Double(Self.second))
      clerk.agenda.add(at: began.advanced(byNanoseconds: offset)) { [unowned call] _ in call.begin() }
      call.start(due: first.advanced(byNanoseconds: offset))
    }
    let span = Int64(Double(plan.count) / plan.rate) + Int64(plan.talk)
    let end = began.advanced(byNanoseconds: span * Self.second + Self.patience)
    nextTick = began.advanced(byNanoseconds: Self.second)
    loop(until: end, "calling") { [unowned self] in over == calls.count }
    let audit = CallAudit(calls, clerk: clerk)
    audit.advance(now: clock.now)
    loop(until: clock.now.advanced(byNanoseconds: Self.patience), "looking") { audit.isDone }
    if over > 0 { results.seconds = Double(lastOver.nanoseconds - first.nanoseconds) / 1e9 }
    finish(audit)
    media.stop()
    clerk.stop()
    return results
  }

  private func loop(until end: Instant, _ phase: String, isDone: () -> Bool) {
    while !isDone() {
      media.advance(until: min(clerk.agenda.deadline, nextTick, end))
      clerk.takeNews()
      let now = clock.now
      clerk.agenda.run(now: now)
      if nextTick <= now { tick(phase, now) }
      guard now < end else { return }
    }
  }

  private func tick(_ phase: String, _ now: Instant) {
    nextTick = now.advanced(byNanoseconds: Self.second)
    guard !options.output.isQuiet else { return }
    let started = calls.count { $0.tale.isStarted }
    let connected = calls.count { $0.tale.isConnected }
    let failed = calls.count { $0.failure != nil }
    say(
      "\(phase), \(started) of \(plan.count) started, \(connected) connected, \(over) over, \(failed) failed")
  }

  // MARK: Telling

  private func finish(_ audit: CallAudit) {
    results.survivesRestarts = plan.survivesRestarts
    results.calls = calls.count
    results.again.requests = clerk.repeats
    var ring = LatencyHistogram()
    var sound = LatencyHistogram()
    var start = LatencyHistogram()
    for call in calls {
      note(call)
      let times = call.times
      if let span = CallTimes.span(times.start, times.ring) { ring.add(nanoseconds: span) }
      if let span = CallTimes.span(times.answer, times.sound) { sound.add(nanoseconds: span) }
      if let span = CallTimes.span(times.start, times.started) { start.add(nanoseconds: span) }
    }
    for finding in audit.findings { note(finding) }
    // Once, whether it was so after its hang-up or in the end.
    let stuck = calls.filter(\.isStuck).map(\.tale.id) + audit.findings.filter(\.isStuck).map(\.id)
    results.wrong.stuck = Set(stuck).count
    let unseen = calls.count - audit.findings.count
    if unseen > 0 { results.failures["not looked at in time", default: 0] += unseen }
    results.times.startToRing = LoadReport.Latency(ring)
    results.times.answerToSound = LoadReport.Latency(sound)
    results.times.start = LoadReport.Latency(start)
  }

  private func note(_ call: LoadCall) {
    if call.tale.isStarted { results.started += 1 }
    if call.tale.isConnected { results.connected += 1 }
    if let failure = call.failure { results.failures[failure, default: 0] += 1 }
    results.wrong.events += call.problems.count
    results.wrong.violations += call.journal.violationCount
    for text in call.problems + call.journal.violations { problem("call \(call.tale.id): \(text)") }
    results.again.streams += call.listener.resumptions
    results.again.joins += call.caller.rejoins + call.callee.rejoins
    for side in [call.caller, call.callee] {
      results.sound.received += side.sound.received
      results.sound.lost += side.sound.lost
    }
  }

  private func note(_ finding: CallAudit.Finding) {
    if finding.isOver { results.ended += 1 }
    if finding.isLost { results.wrong.lost += 1 }
    if let outcome = finding.outcome { results.outcomes[outcome, default: 0] += 1 }
    if !finding.histories.isEmpty { results.wrong.histories += 1 }
    for text in finding.histories { problem("call \(finding.id): \(text)") }
    if let failure = finding.failure { results.failures[failure, default: 0] += 1 }
  }

  private func problem(_ text: String) {
    if results.firstProblems.count < 10 { results.firstProblems.append(text) }
  }
}
