internal import AccessTokens
internal import Model
internal import Negotiation

/// All that a room knows: who is in it, what they publish, and which slot of whom shows which track.
///
/// A value: it hears what happens by `handle` and answers by what is to be done. Its owner performs that, in order,
/// and answers its questions before the next effect.
package struct RoomState: Sendable {
  /// Identities of which it is remembered what they have spent.
  static let allowanceLimit = 4_096

  let id: RoomID
  let name: String
  let created: WallTime
  let terms: RoomTerms
  var settings: RoomSettings
  /// In the order in which they came.
  var members: [Member] = []
  /// Who waits, and what is kept for those who come.
  var newcomers = Newcomers()
  /// What each identity has spent.
  var allowances = AllowanceTable<ExactName, Allowance>(capacity: RoomState.allowanceLimit)
  var random: RandomSource
  var speakers = SpeakerDetector()
  /// As last said.
  var speaking: [Speaker] = []
  var stalls = Stalls()
  /// Video formats that everybody present takes.
  var commonCodecs = CommonCodecs()
  /// In the order in which they began.
  var recordings: [RoomRecording] = []
  var lastEvent = 0
  /// Why every session ends, once that is so.
  var closed: LeaveReason?
  /// Until when those who are in may stay.
  var deadline: WallTime?
  /// The directory has forgotten the room, whose state no one hands on any more: one that was closed before it began never does.
  var isFinished = false

  /// The moment of the input that is being handled.
  private(set) var now: Instant
  private var turn = Turn()

  /// What has come of that input so far.
  private struct Turn {
    var effects: [RoomEffect] = []
    /// What the directory is asked behind them: further inputs follow from its answers at once, with events of their own.
    var questions: [RoomEffect] = []
    /// Signs of life were taken: what is due for those who are away is done once the input has been handled.
    var hasPresenceChanged = false
    /// Invitations may have ended by which some wait.
    var asksInvitations = false
  }

  /// - Parameter random: draws ids and what descriptions need.
  init(
    id: RoomID, name: String, created: WallTime, settings: RoomSettings, terms: RoomTerms,
    random: RandomSource, now: Instant
  ) {
    self.id = id
    self.name = name
    self.created = created
    self.settings = settings
    self.terms = terms
    self.random = random
    self.now = now
  }

  var info: RoomInfo {
    RoomInfo(
      id: id, name: name, metadata: settings.metadata, isRecorded: !recordings.isEmpty,
      admission: settings.admission, isLocked: settings.isLocked)
  }
  var wallTime: WallTime { WallTime(terms.epoch.ntp(at: now)) }

  /// - Returns: what is to be done, in that order.
  mutating func handle(_ input: RoomInput, now: Instant) -> [RoomEffect] {
    self.now = now
    let kept = newcomers.history.bytes
    switch input {
    // One that has given up its name doesn't claim it by beginning: that may be another's by now, with its settings in the journal.
    case .start: if !isFinished, closed != .roomClosed { start() }
    case .comeBack(let kept): comeBack(kept)
    case .finish: finish()
    case .join(let newcomer, let refused): join(newcomer, refused: refused)
    case .waits(let session, let error): beginWaiting(session, error)
    case .placed(let id, let identity, let error, let cause): placed(id, of: identity, error, cause)
    case .forbidden(let id, let isRemembered, let cause): forbidden(id, isRemembered: isRemembered, cause)
    case .stopWaiting(let id, let reason): stopWaiting(id, reason)
    case .invitationEnded: invitationsMayHaveEnded()
    case .uninvited(let invitations): endWaiting(by: invitations)
    case .request(let id, let request, let session): handle(request, of: id, session)
    case .open(let entry, let refused): open(entry, refused: refused)
    case .standalone(let name, let request): handle(request, of: name)
    case .administration(let request): handle(request)
    case .stay(let id, let stay, let arrival): note(stay, of: id, by: arrival)
    case .drain(let deadline):
      self.deadline = deadline
      endAllWaiting(.serverShutdown)
      emit(.notifyAll(.draining(deadline: deadline)))
    case .close(let reason): close(reason)
    case .media(let events): take(events)
    case .samples(let samples): take(samples)
    case .alarm: presenceChanged()
    case .prepared(let proposal, let key, let local): go(on: proposal, key, local)
    case .overloaded(let proposal): overloaded(proposal)
    case .missed(let id, let after, let page): resume(id, after: after, page)
    case .keepAtMost(let bytes): newcomers.history.shrink(to: bytes)
    case .recordingEnded(let id, let reason): endRecording(id, reason)
    case .called(let kind, let call):
      if isFinished { reply(.administrationRefused(.unknownRoom)) } else { record(kind, nil, call: call) }
    case .recordingLeftOpen(let id): noteLeftOpen(id)
    }
    // Last, since it may end sessions: until here members stay at their places in the list.
    if turn.hasPresenceChanged { lookAfter() }
    // Behind all that has happened, or events that follow from the answers would be out of their order.
    turn.effects += turn.questions
    if newcomers.history.bytes != kept { emit(.historyChanged) }
    if turn.asksInvitations { askInvitations() }
    defer { turn = Turn() }
    return turn.effects
  }

  /// A participant's presence has changed, or time has passed: `lookAfter` comes at the end of this input.
  mutating func presenceChanged() {
    turn.hasPresenceChanged = true
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.endedTooSoon) { lookAfter() }
    #endif
  }

  /// At the end of this input it is asked which of those hold by which some wait.
  mutating func invitationsMayHaveEnded() { turn.asksInvitations = true }

  // MARK: - What is to be done

  mutating func emit(_ effect: RoomEffect) { turn.effects.append(effect) }
  /// At the end of this input.
  mutating func ask(_ question: RoomEffect) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.askedTooSoon) { return emit(question) }
    #endif
    turn.questions.append(question)
  }
  mutating func reply(_ reply: RoomReply) { turn.effects.append(.reply(reply)) }

  mutating func notify(_ member: Int, _ notice: ParticipantNotice) {
    turn.effects.append(.notify(members[member].id, notice))
  }

  /// - Parameter fields: two at most.
  mutating func log(_ message: String, of member: Member, _ fields: (key: String, value: String)...) {
    let own: KeyValuePairs<String, String> =
      switch fields.count {
      case 0: ["room": name, "identity": member.identity]
      case 1: ["room": name, "identity": member.identity, fields[0].key: fields[0].value]
      default:
        [
          "room": name, "identity": member.identity, fields[0].key: fields[0].value,
          fields[1].key: fields[1].value,
        ]
      }
    turn.effects.append(.log(message, own))
  }

  /// Numbers an event, for the journal and for everybody who is in.
  private mutating func record(
    _ kind: RoomEvent.Kind, _ participant: EventParticipant?, _ track: TrackInfo? = nil,
    recording: EventRecording? = nil, call: EventCall? = nil,
    leaving: (id: ParticipantID, reason: LeaveReason)? = nil
  ) {
    lastEvent += 1
    turn.effects.append(
      .record(
        RoomEvent(
          id: lastEvent, time: wallTime, room: info, kind: kind, participant: participant, track: track,
          reason: leaving?.reason, recording: recording, call: call), except: leaving?.id))
  }

  mutating func record(_ kind: RoomEvent.Kind) { record(kind, nil) }

  /// An event about one that waits: of those who are in, for hosts alone. Who reads the log from outside runs rooms.
  mutating func record(_ kind: RoomEvent.Kind, _ waiting: EventWaiting) {
    lastEvent += 1
    var event = RoomEvent(id: lastEvent, time: wallTime, room: info, kind: kind)
    event.waiting = waiting
    #if PLANTED_DEFECTS
      let known = PlantedDefect.isOn(.waitersKnown) ? members.map(\.id) : hosts
      emit(.recordForHosts(event, known))
    #else
      emit(.recordForHosts(event, hosts))
    #endif
  }

  mutating func record(_ kind: RoomEvent.Kind, _ recording: EventRecording) {
    record(kind, nil, recording: recording)
  }

  /// An event about a participant, who is not hidden.
  mutating func record(_ kind: RoomEvent.Kind, of member: Int) {
    record(kind, .whole(members[member].info))
  }

  /// Everybody has heard of a track's publisher: its event says no more than which one it is.
  mutating func record(_ kind: RoomEvent.Kind, of member: Int, track: TrackInfo) {
    record(kind, .named(ParticipantName(members[member])), track)
  }

  mutating func record(joined participant: ParticipantInfo) {
    record(.participantJoined, .whole(participant))
  }

  mutating func record(left member: Member, _ reason: LeaveReason) {
    record(left: member.info, reason)
  }

  mutating func record(left participant: ParticipantInfo, _ reason: LeaveReason) {
    record(.participantLeft, .whole(participant), leaving: (participant.id, reason))
  }

  mutating func record(unpublished track: TrackInfo, of publisher: ParticipantName) {
    record(.trackUnpublished, .named(publisher), track)
  }

  // MARK: - Finding

  func member(_ id: ParticipantID) -> Int? { members.firstIndex { $0.id == id } }
  func member(of identity: String) -> Int? { members.firstIndex { $0.identity.isExactly(identity) } }

  /// What a member's identity may spend, whichever session it spends it in.
  @discardableResult
  mutating func spend<Result>(_ member: Int, _ body: (inout Allowance, Instant) -> Result) -> Result {
    spend(of: members[member].identity, body)
  }

  /// The same of an identity, whether it is in or not.
  mutating func spend<Result>(
    of identity: String, _ body: (inout Allowance, Instant) -> Result
  ) -> Result {
    let now = now
    return allowances.use(ExactName(identity), now: now) { body(&$0, now) }
  }
}
