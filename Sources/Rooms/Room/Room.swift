internal import AccessTokens
internal import Engine
internal import Logging
internal import Model
internal import Peer

/// One room: who is in it, what they publish, and which slot of whom shows which track.
///
/// An actor, readable before fast: packets never come here. It tells the media plane what to do by one-way
/// commands and hears of it by events and samples.
actor Room {
  /// Counts rooms as they are made.
  nonisolated let number: UInt64
  nonisolated let name: String
  private(set) var info: RoomInfo
  let created: WallTime
  var settings: RoomSettings { didSet { info.metadata = settings.metadata } }
  let media: MediaPlane
  let directory: RoomDirectory
  let log: Log
  var members: [Member] = []
  /// By identity.
  var allowances = AllowanceTable<String, Allowance>(capacity: 4_096)
  var random: RandomSource
  var speakers = SpeakerDetector()
  /// As told last.
  var speaking: [Speaker] = []
  /// Tracks whose packets have ceased to come.
  var stalled: Set<TrackID> = []
  private var lastEvent = 0
  /// Why every session ends, once that is so.
  private(set) var closed: LeaveReason?
  /// Until when those who are in may stay.
  private(set) var deadline: WallTime?

  init(
    number: UInt64, name: String, settings: RoomSettings, media: MediaPlane, directory: RoomDirectory,
    log: Log
  ) {
    self.number = number
    self.name = name
    var random = media.makeRandom()
    info = RoomInfo(id: RoomID(&random), name: name, metadata: settings.metadata)
    self.random = random
    self.settings = settings
    created = media.wallTime
    self.media = media
    self.directory = directory
    self.log = log
  }

  var now: Instant { media.now }

  // MARK: - Coming and going

  /// - Returns: the session, whose state is that of its `lastEvent`; what comes after is told by its notices.
  /// - Throws: `removed`: an administrator was faster. `tooLarge`. `tooOften`: the identity has spent too much here to come
  ///   again; what session it has stays.
  func join(_ newcomer: Newcomer) throws(JoinError) -> ParticipantSession {
    // Asked here as well as at the door: a removal may have come between the two.
    guard !directory.isForbidden(newcomer.identity, in: info.name, issued: newcomer.issued) else {
      throw .removed
    }
    let participant = ParticipantInfo(
      id: ParticipantID(&random), identity: newcomer.identity, name: newcomer.name,
      metadata: newcomer.metadata, attributes: newcomer.attributes, permissions: newcomer.grants.permissions,
      tracks: [])
    let old = members.first { $0.info.identity == newcomer.identity }
    let bytes: Int
    do throws(StateExcess) { bytes = try review(participant, of: old) } catch { throw .tooLarge(error) }
    let isPaid = allowances.use(newcomer.identity, now: now) {
      $0.requests.take(upTo: StateBudget.eventCost(bytes), now: now)
    }
    guard isPaid else { throw .tooOften }
    if let old { end(old, reason: .duplicateIdentity) }
    start()
    #if PLANTED_DEFECTS
      let others = members.filter { PlantedDefect.isOn(.hiddenPresent) || !$0.grants.hidden }
    #else
      let others = members.filter { !$0.grants.hidden }
    #endif
    if !newcomer.grants.hidden { record(.participantJoined, participant: participant) }
    let session = ParticipantSession(
      id: participant.id, room: self,
      joined: JoinedState(
        room: info, participant: participant, participants: others.map(\.info), lastEvent: lastEvent))
    let member = Member(
      session: session, info: participant, stateBytes: bytes, grants: newcomer.grants,
      joined: media.wallTime, grace: directory.reconnectGrace)
    if newcomer.grants.canSubscribe {
      let tracks = others.flatMap { other in other.published.map { slotTrack($0, of: other) } }
      member.native.slots.add(tracks, now: now)
    }
    members.append(member)
    if !speaking.isEmpty { session.notify(.speakers(speaking)) }
    let qualities = others.compactMap { other in
      other.quality.map { ParticipantQuality(participant: other.id, quality: $0.value) }
    }
    if !qualities.isEmpty { session.notify(.quality(qualities)) }
    log.info(
      "participant joined",
      ["room": info.name, "identity": newcomer.identity, "id": participant.id.text])
    // Who was on the way in when the others were told is told now.
    if let deadline { session.notify(.draining(deadline: deadline)) }
    if let closed { end(member, reason: closed) }
    return session
  }

  func leave(_ id: ParticipantID, reason: LeaveReason) {
    if let member = member(id) { end(member, reason: reason) }
  }

  func end(_ member: Member, reason: LeaveReason) {
    guard members.contains(where: { $0 === member }) else { return }
    // That it goes, and each track that ends with it.
    let cost = StateBudget.eventCost(member.stateBytes) + Double(member.info.tracks.count)
    spend(member) { $0.requests.owe(cost, now: now) }
    for transport in member.transports {
      unpublish(transport.published, of: member, transport)
      // Its place is given back when the media plane says that it is gone.
      if let peer = transport.peer { media.post(.close(peer)) }
    }
    members.removeAll { $0 === member }
    if !member.grants.hidden { record(.participantLeft, participant: member.info, reason: reason) }
    member.session.finish(.closed(reason))
    if directory.sessionEnded(of: member.info.identity, in: info.name, reason: reason) { finish() }
    log.info(
      "participant left", ["room": info.name, "identity": member.info.identity, "reason": reason.rawValue])
  }

  /// Tells everybody until when they may stay.
  func drain(until deadline: WallTime) {
    self.deadline = deadline
    for member in members { member.session.notify(.draining(deadline: deadline)) }
  }

  /// The first event, once.
  func start() { if lastEvent == 0 { record(.roomStarted) } }

  /// The directory has forgotten the room.
  func finish() { if lastEvent > 0 { record(.roomFinished) } }

  /// Ends every session, also of those that are on their way in.
  func close(reason: LeaveReason) {
    closed = reason
    for member in members { end(member, reason: reason) }
  }

  // MARK: - Events

  func member(_ id: ParticipantID) -> Member? { members.first { $0.id == id } }

  /// Numbers an event and tells it to everybody who is in.
  func record(
    _ kind: RoomEvent.Kind, participant: ParticipantInfo? = nil, track: TrackInfo? = nil,
    reason: LeaveReason? = nil
  ) {
    lastEvent += 1
    // Everybody has heard of a track's publisher: its event says no more than which one it is.
    let subject = participant.map { track == nil ? EventParticipant.whole($0) : .named(ParticipantName($0)) }
    let event = RoomEvent(
      id: lastEvent, time: media.wallTime, room: info, kind: kind, participant: subject, track: track,
      reason: reason)
    directory.events.append(event)
    for member in members { member.session.notify(.event(event)) }
  }
}

/// Who comes in, as the token has it.
struct Newcomer: Sendable {
  var identity: String
  var name: String?
  var metadata: String?
  var attributes: [String: String] = [:]
  var grants: Grants
  /// When its token counts as issued, seconds since 1970; nil: not known.
  var issued: Int?
}
