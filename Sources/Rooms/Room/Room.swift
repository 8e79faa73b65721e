internal import Engine
internal import Logging
internal import Model
internal import Recording

/// One room of the server: performs what its state says is to be done, and nothing else.
///
/// An actor, readable before fast: packets never come here. It says to the media plane what to do by one-way commands and
/// hears of it by events and samples.
actor Room: RoomRequests {
  /// Counts rooms as they are made.
  nonisolated let number: UInt64
  nonisolated let name: String
  nonisolated let id: RoomID
  private(set) var state: RoomState
  let media: MediaPlane
  private let registry: RoomRegistry<Room>
  private let studio: RecordingStudio?
  private let flights: FlightFiles?
  private let log: Log
  private var sessions = RoomSessions()
  private let pressure = NoticePressure()
  /// Whom the input that is being handled has let in.
  private var newcomer: ParticipantSession?
  /// Whom it has let wait.
  private var waiter: WaitingTicket?
  private var tickets: [WaitingID: WaitingTicket] = [:]
  /// Answers of the media plane that are waited for.
  var explanations = RunningExplanations()
  /// Flight recorders that those who run the room may ask for.
  var flightRequests = RateLimit(rate: 1, burst: 4)
  /// Pictures of its tracks that those who run the room may ask for.
  var thumbnails = ThumbnailPaces()

  /// - Parameter life: under which id it goes on; nil: it begins.
  init(
    number: UInt64, name: String, life: RoomLife? = nil, settings: RoomSettings, terms: RoomTerms,
    media: MediaPlane, registry: RoomRegistry<Room>, studio: RecordingStudio? = nil,
    flights: FlightFiles? = nil, log: Log
  ) {
    self.number = number
    self.name = name
    var random = media.makeRandom()
    let fresh = RoomID(&random)
    let id = life?.id ?? fresh
    self.id = id
    state = RoomState(
      id: id, name: name, created: life?.created ?? media.wallTime, settings: settings,
      terms: terms, random: random, now: media.now)
    self.media = media
    self.registry = registry
    self.studio = studio
    self.flights = flights
    self.log = log
  }

  func handle(_ input: RoomInput) -> RoomReply { handle(input, now: media.now) }

  func handle(_ input: RoomInput, now: Instant) -> RoomReply {
    var reply = RoomReply.done
    for effect in state.handle(input, now: now) { perform(effect, &reply) }
    return reply
  }

  func ask(_ input: RoomInput) async -> RoomReply {
    if input.isNoticed { await giveWay() }
    return handle(input)
  }

  /// How long it takes until it is looked again whether front doors have caught up, and how often one that takes nothing
  /// is waited for.
  private static let pause = Duration.milliseconds(5)
  private static let patience = 40

  /// Waits while front doors are behind, as long as they go on reading. Else many who say much at once would end the sessions
  /// of those who only listen.
  private func giveWay() async {
    var taken = pressure.taken
    var idle = 0
    while pressure.isOn, idle < Self.patience {
      do { try await media.port.pause(Self.pause) } catch { return }
      idle = pressure.taken == taken ? idle + 1 : 0
      taken = pressure.taken
    }
  }

  /// - Returns: the session, whose state is that of its `lastEvent`; what comes after is in its notices. `isNew`: its participant
  ///   has come with it.
  /// - Throws: `removed`: an administrator was faster. `full`, `tooLarge`. `tooOften`: the identity has spent too much here
  ///   to come again; what session it has stays.
  func join(_ newcomer: Newcomer) throws(JoinError) -> (session: ParticipantSession, isNew: Bool) {
    guard case .session(let session, let isNew) = try enter(newcomer) else { throw .admissionRequired }
    return (session, isNew)
  }

  /// How one has come to the room.
  enum Entry {
    case session(ParticipantSession, isNew: Bool)
    case waiting(WaitingTicket)
  }

  /// As `join`, of one that may wait to be let in. Nothing is waited for here: those who come later find it in, or waiting.
  func enter(_ newcomer: Newcomer) throws(JoinError) -> Entry {
    (self.newcomer, waiter) = (nil, nil)
    let known = registry.known(newcomer, in: name)
    let reply = handle(.join(known, refused: registry.refusal(of: known, in: name)))
    if case .joinRefused(let error) = reply { throw error }
    if case .waiting = reply, let waiter { return .waiting(waiter) }
    guard let session = self.newcomer else { throw .removed }
    if case .attached = reply { return .session(session, isNew: false) }
    return .session(session, isNew: true)
  }

  func stored() async throws(RequestError) {
    do throws(JournalError) { try await registry.records.synced() } catch { throw .notStored }
  }

  /// As `join`, of a client without a socket.
  func open(_ entry: StandaloneEntry) async -> RoomReply {
    await giveWay()
    var entry = entry
    entry.newcomer = registry.known(entry.newcomer, in: name)
    return handle(.open(entry, refused: registry.refusal(of: entry.newcomer, in: name)))
  }

  var now: Instant { media.now }

  // MARK: - Effects

  private func perform(_ effect: RoomEffect, _ reply: inout RoomReply) {
    switch effect {
    case .reply(let new): reply = new
    case .admit(let joined, let terms): admit(joined, terms)
    case .askWait(let session, let replacing):
      follow(.waits(session, wait(session.newcomer.identity, replacing: replacing)), &reply)
    case .wait(let waiter): wait(waiter)
    case .askPlace(let id, let newcomer, let cause):
      follow(.placed(id, of: newcomer.identity, takePlace(newcomer), cause), &reply)
    case .askInvitations(let invitations):
      follow(.uninvited(invitations.filter { !registry.holds($0, in: name) }), &reply)
    case .waitingEnded(let patience):
      let isOver = registry.waitingEnded(in: name, number: number, patience: patience, now: now)
      if isOver { follow(.finish, &reply) }
    case .settle(let id, let outcome): settle(id, outcome)
    case .unattended(let id): sessions[id]?.mailbox.absent()
    case .notify(let id, let notice): sessions[id]?.mailbox.put(notice)
    case .notifyAll(let notice): for session in sessions.inOrder { session.mailbox.put(notice) }
    case .dismiss(let id, let reason): dismiss(id, reason)
    case .record(let event, let leaving):
      registry.records.record(event)
      for session in sessions.inOrder where session.id != leaving { session.mailbox.put(.event(event)) }
    case .recordForHosts(let event, let hosts):
      registry.records.record(event)
      for id in hosts { sessions[id]?.mailbox.put(.event(event)) }
    case .forbid(let id, let identity, let cause):
      let isRemembered = registry.records.remove(
        identity, from: name, state.id, now: registry.wallSeconds())
      if !isRemembered {
        log.warning("a removal is not remembered: too many are", ["room": name, "identity": identity])
      }
      follow(.forbidden(id, isRemembered: isRemembered, cause), &reply)
    case .keepSettings(let settings):
      registry.records.keep(settings, of: state.info, created: state.created)
    case .historyChanged: boundHistory(&reply)
    case .giveUpName: registry.records.giveUpName(of: state.id)
    case .sessionEnded(let identity, let reason, let patience):
      let isOver = registry.sessionEnded(
        of: identity, in: name, number: number, reason: reason, patience: patience, now: now)
      if isOver { follow(.finish, &reply) }
    case .mediaReady(let span): registry.withRooms { $0.noteJoining(span) }
    case .media(let identity, let stay, let presence):
      registry.noteMedia(of: identity, stay: stay, in: name, presence)
    case .finished: finished()
    case .alarm(let moment): setAlarm(moment)
    case .log(let message, let fields): log.info(message, fields)
    case .read(let id, let after):
      let page = try? registry.records.events.events(
        of: state.id, after: after, limit: ResumedState.readLimit)
      follow(.missed(id, after: after, page), &reply)
    case .prepare(let proposal): prepare(proposal, &reply)
    case .expect(let key): registry.withRooms { $0.expect(key, self) }
    case .add(let key, let transport, let agreed): media.add(key, transport, agreed)
    case .lost(let peer, let id, let identity, let transport):
      flights?.keep(peer, of: id, identity, transport, in: name)
    case .post(let command): media.post(command)
    case .release(let key): media.release(key)
    case .recording(let command): studio?.perform(command)
    }
  }

  private func finished() {
    setAlarm(.never)
    registry.records.roomFinished(state.id)
  }

  /// One that is over is called no more, also where it ended by an effect before this one: else the table would keep it.
  private func setAlarm(_ moment: Instant) {
    let moment = state.isFinished ? .never : moment
    registry.withRooms { $0.setAlarm(self, number: number, at: moment) }
  }

  /// What an effect brings about comes before the next one.
  private func follow(_ input: RoomInput, _ reply: inout RoomReply) {
    for effect in state.handle(input, now: state.now) { perform(effect, &reply) }
  }

  /// Looks at what the room keeps by now: an effect before this one may have ended it.
  private func boundHistory(_ reply: inout RoomReply) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.historyOfAll) { return }
    #endif
    let (kept, bytes) = (state.newcomers.history.entries.count, state.newcomers.history.bytes)
    let most = registry.histories.keep(bytes, of: number)
    guard most < bytes else { return }
    follow(.keepAtMost(most), &reply)
    registry.histories.forgot(kept - state.newcomers.history.entries.count)
  }

  private func prepare(_ proposal: Proposal, _ reply: inout RoomReply) {
    guard let key = proposal.peer ?? media.reserve() else { return follow(.overloaded(proposal), &reply) }
    follow(.prepared(proposal, key, media.local(for: key)), &reply)
  }

  /// - Returns: why one may not wait.
  private func wait(_ identity: String, replacing: Bool) -> JoinError? {
    do throws(JoinError) {
      try registry.wait(identity, in: name, number: number, replacing: replacing)
      return nil
    } catch { return error }
  }

  /// - Returns: why there is no place for one that waits. What its token says is asked once more, at the act.
  private func takePlace(_ newcomer: Newcomer) -> JoinError? {
    if let refused = registry.refusal(of: newcomer, in: name) { return refused }
    do throws(JoinError) {
      try registry.takePlace(newcomer.identity, in: name, number: number)
      return nil
    } catch { return error }
  }

  private func wait(_ waiter: Waiter) {
    let ticket = WaitingTicket(waiter)
    tickets[waiter.id] = ticket
    self.waiter = ticket
  }

  private func settle(_ id: WaitingID, _ outcome: WaitingOutcome) {
    let ticket = tickets.removeValue(forKey: id)
    switch outcome {
    case .ended(let error): ticket?.settle(.failure(error))
    case .admitted(let isNew):
      ticket?.settle(newcomer.map { .success(($0, isNew)) } ?? .failure(.notAdmitted))
    }
  }

  private func admit(_ joined: JoinedState, _ terms: SessionTerms) {
    let session = ParticipantSession(joined: joined, terms: terms, room: self, pressure: pressure)
    sessions.insert(session)
    newcomer = session
  }

  private func dismiss(_ id: ParticipantID, _ reason: LeaveReason) {
    sessions.remove(id)?.mailbox.finish(.closed(reason))
  }

  // MARK: - State as bytes

  /// Goes on from its own state as bytes: what is in no byte is lost.
  func rebuild() throws(StateError) {
    state = try RoomState(bytes: state.bytes, terms: state.terms, now: media.now)
  }
}
