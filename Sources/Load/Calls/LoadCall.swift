internal import Engine
internal import HTTPClient
internal import Model
internal import SyntheticPeers

/// One call of a load, from the moment at which the callee listens until the server says that it is over.
///
///     waiting ─▶ listening ─▶ starting ─▶ gathering ─both hear each other─▶ talking ─▶ leaving ─▶ closing ─▶ over
///                                             ▲                               │
///                                             └───media lost, with restarts───┘
///
/// It belongs to the run's thread.
final class LoadCall {
  enum Phase { case waiting, listening, starting, gathering, talking, leaving, closing, over }

  struct Terms {
    /// Nanoseconds.
    var talk: Int64
    var survivesRestarts: Bool
    /// By whom it is ended.
    var endedBy: CallEnd
  }

  let clerk: CallClerk
  let media: CallMedia
  let terms: Terms
  let listener: CallListener
  /// Its media's; apart from others', so that it goes with the call.
  let journal = Journal()
  var caller: CallSide
  var callee: CallSide
  var phase = Phase.waiting
  var tale: CallTale
  var times = CallTimes()
  /// Why it didn't go as it should.
  var failure: String?
  /// What is wrong with what the server said or did.
  var problems: [String] = []
  var isStuck = false
  /// The server says that it is over, and the callee has heard so, or is waited for.
  var isOver = false
  var heardEnd = false
  var awaitsWord = false
  /// Called once, when there is nothing more to be done.
  var onOver: (_ now: Instant) -> Void = { _ in }
  private var isAnswering = false
  /// Counts how often both came together, so that a hang-up of before means nothing.
  private var meeting = 0

  init(
    id: String, caller: CallSide, callee: CallSide, terms: Terms, clerk: CallClerk, media: CallMedia
  ) {
    self.caller = caller
    self.callee = callee
    self.terms = terms
    self.clerk = clerk
    self.media = media
    tale = CallTale(id: id, caller: caller.person, callee: callee.person)
    listener = CallListener(
      clerk, token: callee.token, device: callee.device, resumes: terms.survivesRestarts)
    listener.onHeard = { [weak self] heard, now in self?.take(heard, now) }
    listener.onDeaf = { [weak self] reason, now in self?.fail("events: \(reason)", now) }
  }

  subscript(end: CallEnd) -> CallSide {
    get { end == .caller ? caller : callee }
    set { if end == .caller { caller = newValue } else { callee = newValue } }
  }

  // MARK: Ringing

  /// The callee begins to listen.
  func begin() {
    guard phase == .waiting else { return }
    phase = .listening
    listener.open()
  }

  /// - Parameter due: when the caller starts; a callee that doesn't listen yet is waited for.
  func start(due: Instant) {
    times.due = due
    clerk.agenda.add(at: due) { [weak self] now in self?.startIfReady(now) }
    clerk.agenda.add(at: due.advanced(byNanoseconds: Self.patience)) { [weak self] now in
      guard let self, phase == .listening else { return }
      fail("the callee's events don't begin", now)
    }
  }

  private func startIfReady(_ now: Instant) {
    guard phase == .listening, times.listening != .never, now >= times.due else { return }
    phase = .starting
    times.start = now
    let body = CallStartBody(id: tale.id, recipients: [callee.person], deviceId: caller.device)
    clerk.ask(.post, ["v1", "calls"], token: caller.token, body: CallJSON.write(body), now: now) {
      [weak self] outcome, now in self?.started(outcome, now)
    }
  }

  private func started(_ outcome: CallClerk.Outcome, _ now: Instant) {
    guard case .answered(let answer) = outcome, answer.head.status == 201 || answer.head.status == 200,
      let entry = CallJSON.read(CallEntryFacts.self, answer.body)
    else { return fail("start: \(outcome.text)", now) }
    times.started = now
    tale.isStarted = true
    if phase == .starting { phase = .gathering }
    guard phase == .gathering else { return }
    sit(.caller, entry, now)
  }

  private func take(_ heard: CallListener.Heard, _ now: Instant) {
    switch heard {
    case .state(let state):
      if times.listening == .never { times.listening = now }
      startIfReady(now)
      // What was rung before is no event any more.
      if state.calls.contains(where: { $0.id == tale.id && $0.invitedParticipants.contains(callee.person) }) {
        answer(by: callee.token, now)
      }
    case .ring(let ring):
      guard ring.call.id == tale.id else {
        return problems.append("\(callee.person) is rung by another call")
      }
      if times.ring == .never { times.ring = now }
      answer(by: ring.token ?? callee.token, now)
    case .callEnded(let facts):
      guard facts.id == tale.id else { return }
      heardEnd = true
      if phase == .closing { closeIfDone(now) } else { endedByServer(now) }
    }
  }

  /// - Parameter token: of the ring, or of the person.
  private func answer(by token: String, _ now: Instant) {
    guard !isAnswering, phase == .starting || phase == .gathering else { return }
    isAnswering = true
    times.answer = now
    join(.callee, by: token, now)
  }

  func join(_ end: CallEnd, by token: String, _ now: Instant) {
    let body = CallJSON.write(CallDeviceBody(deviceId: self[end].device))
    clerk.ask(.post, ["v1", "calls", tale.id, "join"], token: token, body: body, now: now) {
      [weak self] outcome, now in self?.joined(end, outcome, now)
    }
  }

  private func joined(_ end: CallEnd, _ outcome: CallClerk.Outcome, _ now: Instant) {
    guard case .answered(let answer) = outcome else { return fail("join: \(outcome.text)", now) }
    if answer.head.status == 410 { return endedByServer(now) }
    guard answer.head.status == 200, let entry = CallJSON.read(CallEntryFacts.self, answer.body) else {
      return fail("join: \(outcome.text)", now)
    }
    if end == .callee { tale.isJoined = true }
    guard phase == .starting || phase == .gathering else { return }
    sit(end, entry, now)
  }

  // MARK: Media

  private func sit(_ end: CallEnd, _ entry: CallEntryFacts, _ now: Instant) {
    guard self[end].seat == nil else { return }
    guard let room = entry.call.room, let token = entry.token,
      let seat = media.seat(token: token, room: room, journal: journal, now: now)
    else { return fail("the server names no room", now) }
    self[end].seat = seat
    self[end].numbers.insert(seat.participant.number)
    seat.changed = { [weak self, weak seat] now in
      guard let self, let seat, self[end].seat === seat else { return }
      if let reason = seat.failure { lose(end, reason, now) } else { came(end, now) }
    }
  }

  private func came(_ end: CallEnd, _ now: Instant) {
    if end == .callee, times.sound == .never, let first = callee.seat?.participant.first.packetAt {
      times.sound = first
    }
    guard phase == .gathering, caller.isIn, callee.isIn else { return }
    phase = .talking
    tale.isConnected = true
    meeting += 1
    times.met = now
    if times.firstMet == .never { times.firstMet = now }
    let end = max(
      times.firstMet.advanced(byNanoseconds: terms.talk), now.advanced(byNanoseconds: Self.shortestTalk))
    clerk.agenda.add(at: end) { [weak self, meeting] now in
      guard let self, self.meeting == meeting, phase == .talking else { return }
      hangUp(now)
    }
  }

  /// Its media is gone.
  private func lose(_ end: CallEnd, _ reason: String, _ now: Instant) {
    unseat(end)
    guard phase == .starting || phase == .gathering || phase == .talking else { return }
    // Too many at once may be fewer a little later.
    let isRefused = reason.hasPrefix("status 429") || reason.hasPrefix("status 503")
    guard terms.survivesRestarts || isRefused, self[end].rejoins < Self.mostRejoins else {
      return fail("media: \(reason)", now)
    }
    if phase == .talking { phase = .gathering }
    self[end].rejoins += 1
    let pause = isRefused ? Self.refusedPause : Self.rejoinPause
    clerk.agenda.add(at: now.advanced(byNanoseconds: pause)) { [weak self] now in
      guard let self, phase == .starting || phase == .gathering else { return }
      join(end, by: self[end].token, now)
    }
  }

  func unseat(_ end: CallEnd) {
    guard let seat = self[end].seat else { return }
    self[end].sound.add(seat.sound)
    self[end].seat = nil
    seat.changed = { _ in }
    media.end(seat)
  }

  /// For a callee that doesn't listen.
  private static let patience: Int64 = 90_000_000_000
  /// Of two who have found each other again.
  private static let shortestTalk: Int64 = 1_000_000_000
  private static let rejoinPause: Int64 = 250_000_000
  private static let refusedPause: Int64 = 1_000_000_000
  private static let mostRejoins = 100
}
