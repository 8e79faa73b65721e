internal import AccessTokens
internal import Engine
internal import Model

/// Coming and going.
extension RoomState {
  /// The first event, once.
  mutating func start() {
    guard lastEvent == 0 else { return }
    emit(.keepSettings(settings))
    record(.roomStarted)
  }

  /// Goes on where a process before this one ended: who was in then has left, as if the server had closed each session.
  mutating func comeBack(after last: Int, _ participants: [RoomRecovery.Participant]) {
    lastEvent = last
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.numbersAgain) { lastEvent = 0 }
    #endif
    for participant in participants {
      let (info, name) = (participant.info, participant.info.name)
      for track in participant.tracks {
        record(unpublished: track, of: ParticipantName(id: info.id, identity: info.identity, name: name))
      }
      record(left: info, .serverShutdown)
    }
  }

  /// The last event, of a room that had a first.
  mutating func finish() {
    isFinished = true
    endRecordings(.roomFinished)
    if lastEvent > 0 { record(.roomFinished) }
  }

  mutating func join(_ newcomer: Newcomer, isForbidden: Bool) {
    do throws(JoinError) {
      try admit(newcomer, isForbidden: isForbidden)
    } catch {
      emit(.sessionEnded(identity: newcomer.identity, nil, patience: patience))
      reply(.joinRefused(error))
    }
  }

  private mutating func admit(_ newcomer: Newcomer, isForbidden: Bool) throws(JoinError) {
    guard !isForbidden else { throw .removed }
    let old = member(of: newcomer.identity)
    let limit = min(settings.maxParticipants ?? .max, terms.participantLimit)
    guard members.count - (old == nil ? 0 : 1) < limit else { throw .full(limit: limit) }
    let participant = ParticipantInfo(
      id: ParticipantID(&random), identity: newcomer.identity, name: newcomer.name,
      metadata: newcomer.metadata, attributes: newcomer.attributes, permissions: newcomer.grants.permissions,
      tracks: [])
    let bytes: Int
    do throws(StateExcess) { bytes = try review(participant, of: old) } catch { throw .tooLarge(error) }
    let now = now
    let given = members.indices.reduce(0) { $1 == old ? $0 : $0 + members[$1].bodyBytes }
    let cost = StateBudget.joinCost(bytes, given: given)
    let isPaid = allowances.use(ExactName(newcomer.identity), now: now) {
      $0.requests.take(upTo: cost, now: now)
    }
    guard isPaid else { throw .tooOften }
    if let old { end(old, reason: .duplicateIdentity) }
    start()
    #if PLANTED_DEFECTS
      let others = members.filter { PlantedDefect.isOn(.hiddenPresent) || !$0.grants.hidden }
    #else
      let others = members.filter { !$0.grants.hidden }
    #endif
    if !newcomer.grants.hidden { record(joined: participant) }
    var member = Member(
      participant, stateBytes: bytes, grants: newcomer.grants, joined: wallTime, firstEvent: lastEvent,
      presence: Presence(grace: terms.reconnectGrace, isAttended: newcomer.isAttended))
    if let role = newcomer.opens { member.add(makeTransport(role, for: member)) }
    emit(
      .admit(
        JoinedState(
          room: info, participant: participant, participants: others.map(\.knownInfo), lastEvent: lastEvent),
        role: newcomer.opens, isAttended: newcomer.isAttended))
    members.append(member)
    greet(members.count - 1)
  }

  /// What is otherwise said by change only.
  private mutating func greet(_ member: Int) {
    if !speaking.isEmpty { notify(member, .speakers(speaking)) }
    let qualities = knownQualities
    if !qualities.isEmpty { notify(member, .quality(qualities)) }
    log("participant joined", of: members[member], ("id", members[member].id.text))
    // Who was on the way in when the others heard of it hears of it now.
    if let deadline { notify(member, .draining(deadline: deadline)) }
    if let closed { end(member, reason: closed) }
    reply(.done)
  }

  mutating func leave(_ id: ParticipantID, reason: LeaveReason) {
    if let member = member(id) { end(member, reason: reason) }
  }

  mutating func end(_ index: Int, reason: LeaveReason) {
    // That it goes, and each track that ends with it.
    let cost = members[index].eventCost + Double(members[index].trackCount)
    spend(index) { $0.requests.charge(upTo: cost, now: $1) }
    for transport in members[index].transports.indices {
      unpublish(TransportPlace(index, transport)) { _ in true }
      // Its place is given back when the media plane says that it is gone.
      endPeer(of: TransportPlace(index, transport))
    }
    let member = members.remove(at: index)
    for place in members.indices.flatMap(places(of:)) { self[place].slots.forget(member.groups) }
    if !member.grants.hidden { record(left: member, reason) }
    emit(.dismiss(member.id, reason))
    emit(.sessionEnded(identity: member.identity, reason, patience: patience))
    log("participant left", of: member, ("reason", reason.rawValue))
  }

  /// Seconds for which the room stays without anybody.
  private var patience: Int {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.closedRoomWaits) { return settings.departureTimeout }
    #endif
    return closed == .roomClosed ? 0 : settings.departureTimeout
  }

  mutating func close(_ reason: LeaveReason) {
    closed = reason
    endRecordings(reason == .serverShutdown ? .serverShutdown : .roomFinished)
    if reason == .roomClosed, lastEvent > 0 { emit(.giveUpName) }
    while !members.isEmpty { end(0, reason: reason) }
  }
}
