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

  /// Goes on where a process before this one ended: who waited then waits no longer, and who was in has left, as if the server had
  /// closed each session.
  mutating func comeBack(_ kept: RoomRecovery.Room) {
    lastEvent = kept.lastEvent
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.numbersAgain) { lastEvent = 0 }
    #endif
    for waiter in kept.waiting {
      record(.waitingEnded, EventWaiting(waiter: waiter, reason: .serverShutdown))
    }
    for participant in kept.participants {
      let (info, name) = (participant.info, participant.info.name)
      for track in participant.tracks {
        record(unpublished: track, of: ParticipantName(id: info.id, identity: info.identity, name: name))
      }
      record(left: info, .serverShutdown)
    }
  }

  /// The last event, of a room that had a first. What it has kept goes with it, also that of one which never began.
  mutating func finish() {
    isFinished = true
    newcomers.history.apply(nil, now: now)
    endAllWaiting(.roomClosed)
    endRecordings(.roomFinished)
    if lastEvent > 0 { record(.roomFinished) }
    emit(.finished)
  }

  mutating func join(_ newcomer: Newcomer, refused: JoinError?) {
    do throws(JoinError) {
      if let refused { throw refused }
      try admit(newcomer)
    } catch {
      emit(.sessionEnded(identity: newcomer.identity, nil, patience: patience))
      reply(.joinRefused(error))
    }
  }

  private mutating func admit(_ newcomer: Newcomer) throws(JoinError) {
    // As with `start`.
    if closed == .roomClosed, lastEvent == 0 { throw .noRoom }
    switch entrance(of: newcomer) {
    case .open: reply(try come(newcomer) ? .done : .attached)
    case .waits: try wait(newcomer)
    case .locked: throw .locked
    }
  }

  /// A session begins, in the place of an earlier one of its identity. One of that identity that still waits came before it, and gives
  /// way as well.
  /// - Returns: whether its participant has come with it; else that was in already, by transports without a socket.
  mutating func come(_ newcomer: Newcomer) throws(JoinError) -> Bool {
    let old = member(of: newcomer.identity)
    let hasMoved = old.map { newcomer.hasMoved(from: members[$0]) } ?? false
    if let old, members[old].hasStandalone, !hasMoved {
      try attach(newcomer, to: old)
      endWaiting(of: newcomer.identity, .duplicateIdentity)
      return false
    }
    let admission = try review(newcomer, replacing: old)
    newcomers.history.apply(settings.dataHistory, now: now)
    let given = members.indices.reduce(newcomers.history.bytes) {
      $1 == old ? $0 : $0 + members[$1].bodyBytes
    }
    guard pay(newcomer, StateBudget.joinCost(admission.stateBytes, given: given)) else { throw .tooOften }
    if let old { end(old, reason: hasMoved ? .movedElsewhere : .duplicateIdentity) }
    let member = enter(newcomer, admission)
    endWaiting(of: newcomer.identity, .duplicateIdentity)
    beginSession(newcomer, of: member)
    greet(member)
    return true
  }

  /// A participant that may come.
  struct Admission {
    let participant: ParticipantInfo
    let stateBytes: Int
  }

  /// Whether there is a place for a participant, and for what it says of itself.
  /// - Parameter old: whose place it takes.
  mutating func review(_ newcomer: Newcomer, replacing old: Int?) throws(JoinError) -> Admission {
    try checkPlace(replacing: old)
    let participant = ParticipantInfo(
      id: ParticipantID(&random), identity: newcomer.identity, name: newcomer.name,
      metadata: newcomer.metadata, attributes: newcomer.attributes, permissions: newcomer.grants.permissions,
      tracks: [])
    do throws(StateExcess) {
      return Admission(participant: participant, stateBytes: try review(participant, of: old))
    } catch { throw .tooLarge(error) }
  }

  func checkPlace(replacing old: Int? = nil) throws(JoinError) {
    let limit = min(settings.maxParticipants ?? .max, terms.participantLimit)
    guard members.count - (old == nil ? 0 : 1) < limit else { throw .full(limit: limit) }
  }

  /// - Returns: whether its identity has so much to spend.
  mutating func pay(_ newcomer: Newcomer, _ cost: Double) -> Bool {
    spend(of: newcomer.identity) { $0.requests.take(upTo: cost, now: $1) }
  }

  /// A participant comes, and everybody hears of it.
  mutating func enter(_ newcomer: Newcomer, _ admission: Admission) -> Int {
    start()
    if !newcomer.grants.hidden { record(joined: admission.participant) }
    members.append(makeMember(newcomer, admission))
    log("participant joined", of: members[members.count - 1], ("id", admission.participant.id.text))
    return members.count - 1
  }

  func makeMember(_ newcomer: Newcomer, _ admission: Admission) -> Member {
    Member(
      admission.participant, stateBytes: admission.stateBytes, grants: newcomer.grants, joined: wallTime,
      firstEvent: lastEvent, presence: Presence(grace: terms.reconnectGrace, isAttended: newcomer.isAttended))
  }

  /// The participant has a handle from here on, which hears all that comes.
  mutating func beginSession(_ newcomer: Newcomer, of member: Int) {
    #if PLANTED_DEFECTS
      let others = members.indices.filter {
        $0 != member && (PlantedDefect.isOn(.hiddenPresent) || !members[$0].grants.hidden)
      }
      let hears = PlantedDefect.isOn(.historyForAll) || members[member].handleGrants.canSubscribe
    #else
      let others = members.indices.filter { $0 != member && !members[$0].grants.hidden }
      let hears = members[member].handleGrants.canSubscribe
    #endif
    members[member].beginSession(after: lastEvent)
    var transport: TransportID?
    if let role = newcomer.opens {
      let opened = makeTransport(role, for: members[member])
      members[member].add(opened)
      transport = opened.id
    }
    emit(
      .admit(
        JoinedState(
          room: info, participant: members[member].info, participants: others.map { members[$0].knownInfo },
          lastEvent: lastEvent, waiting: members[member].isHost ? waiting.map(\.waiter) : nil,
          history: hears ? newcomers.history.kept : .none),
        SessionTerms(
          number: members[member].sessionsBegun, transport: transport, role: newcomer.opens,
          isAttended: newcomer.isAttended)))
  }

  /// What is otherwise said by change only.
  mutating func greet(_ member: Int) {
    if !speaking.isEmpty { notify(member, .speakers(speaking)) }
    let qualities = knownQualities
    if !qualities.isEmpty { notify(member, .quality(qualities)) }
    // Who was on the way in when the others heard of it hears of it now.
    if let deadline { notify(member, .draining(deadline: deadline)) }
    if let closed { end(member, reason: closed) }
  }

  mutating func leave(_ id: ParticipantID, reason: LeaveReason) {
    if let member = member(id) { endSession(member, reason: reason) }
  }

  /// The handle's session is over, with its transports. The participant stays as long as it has others.
  /// - Parameter gone: a peer that has ended by itself before.
  mutating func endSession(_ index: Int, reason: LeaveReason, after gone: PeerKey? = nil) {
    guard members[index].session != nil, members[index].hasStandalone else {
      return end(index, reason: reason, after: gone)
    }
    if reason == .connectionLost { keepRecords(of: members[index], after: gone) }
    let own = members[index].transports.filter { $0.standalone == nil }
    // Each track that ends with it.
    let cost = Double(own.reduce(0) { $0 + $1.published.count })
    spend(index) { $0.requests.charge(upTo: cost, now: $1) }
    for transport in own {
      guard let place = place(of: transport.id, of: index) else { continue }
      unpublish(place) { _ in true }
      endPeer(of: place)
      members[index].transports.remove(at: place.transport)
    }
    emit(.dismiss(members[index].id, reason))
    members[index].endSession()
    log("session ended beside other transports", of: members[index], ("reason", reason.rawValue))
    presenceChanged()
  }

  /// - Parameter gone: a peer that has ended by itself before.
  mutating func end(_ index: Int, reason: LeaveReason, after gone: PeerKey? = nil) {
    if reason == .connectionLost { keepRecords(of: members[index], after: gone) }
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
    emit(
      .media(of: member.identity, stay: member.stay.id, reason == .connectionLost ? .lost : .gone))
    emit(.dismiss(member.id, reason))
    emit(.sessionEnded(identity: member.identity, reason, patience: patience))
    log("participant left", of: member, ("reason", reason.rawValue))
  }

  /// Who is lost without a word is given up by its socket or its silence before the media plane gives up its peer, so the record is
  /// kept here. Of a peer that has ended by itself it came with its end.
  private mutating func keepRecords(of member: Member, after gone: PeerKey?) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.lostUnrecorded) { return }
    #endif
    for transport in member.transports where transport.standalone == nil {
      guard let peer = transport.peer, peer != gone else { continue }
      emit(.lost(peer, of: member.id, identity: member.identity, transport.id))
    }
  }

  /// Seconds for which the room stays without anybody.
  var patience: Int {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.closedRoomWaits) { return settings.departureTimeout }
    #endif
    // A room whose only join was refused never started, and ends at once.
    return closed == .roomClosed || lastEvent == 0 ? 0 : settings.departureTimeout
  }

  mutating func close(_ reason: LeaveReason) {
    closed = reason
    endRecordings(reason == .serverShutdown ? .serverShutdown : .roomFinished)
    endAllWaiting(reason == .serverShutdown ? .serverShutdown : .roomClosed)
    if reason == .roomClosed, lastEvent > 0 { emit(.giveUpName) }
    while !members.isEmpty { end(0, reason: reason) }
  }
}
