internal import AccessTokens
internal import Logging
internal import Model

/// Who is away for a while, and who comes back.
extension Room {
  /// The participant's front door has nobody to speak to.
  /// - Parameter socket: its number; a word about one that was replaced already comes too late.
  func socketLost(_ socket: Int, of id: ParticipantID) {
    guard let member = member(id) else { return }
    member.presence.socketLost(socket, now: now)
    lookAfter(now: now)
  }

  /// A new socket: `resumed` among the notices holds what was missed; what comes after it is for that socket.
  /// - Parameters:
  ///   - socket: its number, higher than the last.
  ///   - after: the last event that the client has.
  func resume(_ id: ParticipantID, socket: Int, after: Int) throws(RequestError) {
    guard let member = member(id) else { throw .gone }
    // Before the first that was told to this participant there is nothing to be read here.
    let after = max(after, member.session.joined.lastEvent)
    let missed: EventLog.Page
    do throws(EventLogError) {
      missed = try directory.events.events(of: info.id, after: after, limit: ResumedState.eventLimit)
    } catch {
      throw .gone
    }
    guard missed.events.last?.id ?? after == missed.lastEvent,
      missed.events.reduce(0, { $0 + $1.messageBytes }) <= ResumedState.byteLimit
    else { throw .gone }
    member.presence.socketOpened(socket)
    member.session.notify(
      .resumed(
        ResumedState(
          socket: socket, lastEvent: missed.lastEvent, missed: missed.events, slots: slots(of: member),
          tracks: member.native.published.map { ($0.mid, $0.info.id) }, notices: standing(of: member))))
    log.info("participant resumed", ["room": info.name, "identity": member.info.identity, "id": id.text])
    // Not before: whoever is given up by it is in no event that was read above, and what is told before `resumed` goes to
    // the old socket.
    lookAfter(now: now)
  }

  func tellSlots(of id: ParticipantID) {
    guard let member = member(id) else { return }
    member.session.notify(.slots(slots(of: member)))
  }

  private func slots(of member: Member) -> [SlotAssignment] {
    guard member.native.peer != nil else { return [] }
    return member.native.slots.slots.map { SlotAssignment(mid: $0.mid, track: $0.track) }
  }

  /// All that is told by change only, as it is now.
  private func standing(of member: Member) -> [ParticipantNotice] {
    var notices: [ParticipantNotice] = [.speakers(speaking)]
    let qualities = members.filter { !$0.grants.hidden }.compactMap { other in
      other.quality.map { ParticipantQuality(participant: other.id, quality: $0.value) }
    }
    if !qualities.isEmpty { notices.append(.quality(qualities)) }
    let transport = member.native
    if transport.peer != nil {
      let tracks = transport.slots.standings.keys.sorted { $0.text < $1.text }
      if !tracks.isEmpty { notices.append(.streams(tracks.map { ($0, transport.told[$0] ?? .active) })) }
      let asked = transport.asked
      if asked.audio + asked.video > 0 {
        notices.append(.offerWanted(audio: asked.audio, video: asked.video))
      }
      if member.presence.wantsRestart { notices.append(.restartWanted) }
    }
    if let deadline { notices.append(.draining(deadline: deadline)) }
    return notices
  }

  /// Does what has become due for those who are away, and has itself called again.
  func lookAfter(now: Instant) {
    for member in members {
      while let change = member.presence.poll(now: now) {
        switch change {
        case .reconnecting: tell(.participantReconnecting, of: member)
        case .reconnected: tell(.participantReconnected, of: member)
        case .restartWanted: member.session.notify(.restartWanted)
        case .lost: end(member, reason: .connectionLost)
        }
      }
    }
    directory.setAlarm(of: self, at: members.map(\.presence.deadline).min() ?? .never)
  }

  private func tell(_ kind: RoomEvent.Kind, of member: Member) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.hiddenAway), member.grants.hidden { record(kind, participant: member.info) }
    #endif
    if !member.grants.hidden { record(kind, participant: member.info) }
    log.info(
      kind.rawValue, ["room": info.name, "identity": member.info.identity, "id": member.id.text])
  }
}
