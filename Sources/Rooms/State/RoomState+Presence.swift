internal import AccessTokens
internal import Model

/// Who is away for a while, and who comes back.
extension RoomState {
  /// The participant's front door has nowhere to send to.
  mutating func absent(_ id: ParticipantID) {
    guard let member = member(id) else { return }
    members[member].presence.absent(now: now)
    emit(.unattended(id))
    presenceChanged()
  }

  /// - Parameter after: the last event that the client has.
  mutating func present(_ id: ParticipantID, after: Int) {
    guard let member = member(id) else { return reply(.refused(.gone)) }
    // What is read is paid for once it is known how much it is; who can pay for nothing has nothing read.
    guard spend(member, { $0.requests.wait(now: $1) }) == .zero else { return reply(.refused(.tooOften)) }
    // Before the first that was sent to this participant there is nothing to be read here.
    emit(.read(id, after: max(after, members[member].firstEvent)))
  }

  /// `resumed` among the notices has what was missed; what comes after it is for the client that came back.
  mutating func resume(_ id: ParticipantID, after: Int, _ page: EventLog.Page?) {
    guard let member = member(id), let page, page.events.last?.id ?? after == page.lastEvent else {
      return reply(.refused(.gone))
    }
    // Of those who wait hosts alone hear.
    let isHost = members[member].isHost
    let missed = page.events.filter { isHost || !$0.kind.isForHosts }
    let bytes = missed.reduce(0) { $0 + $1.messageBytes }
    guard missed.count <= ResumedState.eventLimit, bytes <= ResumedState.byteLimit else {
      return reply(.refused(.gone))
    }
    #if PLANTED_DEFECTS
      let cost = PlantedDefect.isOn(.resumeForNothing) ? 0 : StateBudget.eventCost(bytes)
    #else
      let cost = StateBudget.eventCost(bytes)
    #endif
    // Whatever was missed before may be asked for again by each new socket.
    guard spend(member, { $0.requests.take(upTo: cost, now: $1) }) else { return reply(.refused(.tooOften)) }
    members[member].presence.present()
    let transports = members[member].transports.filter { $0.standalone == nil }.map { transport in
      ResumedState.Transport(
        id: transport.id, slots: transport.assignments,
        tracks: transport.published.map { ($0.mid, $0.info.id) })
    }
    notify(
      member,
      .resumed(
        ResumedState(
          lastEvent: page.lastEvent, missed: missed, transports: transports,
          notices: standing(of: member))))
    log("participant resumed", of: members[member], ("id", id.text))
    reply(.done)
    // Who is given up by it is in no event that was read above, and comes after `resumed`: what comes before is not for
    // the client that came back.
    presenceChanged()
  }

  /// All that is said by change only, as it is now.
  private func standing(of member: Int) -> [ParticipantNotice] {
    var notices: [ParticipantNotice] = [.speakers(speaking)]
    if !knownQualities.isEmpty { notices.append(.quality(knownQualities)) }
    for transport in members[member].transports where transport.peer != nil && transport.standalone == nil {
      notices += transport.standing(commonCodecs.known).map { .on(transport.id, $0) }
    }
    if members[member].presence.wantsRestart { notices.append(.restartWanted) }
    if let deadline { notices.append(.draining(deadline: deadline)) }
    return notices
  }

  /// Does what has become due for those who are away, and has the room called again. It ends sessions, so it comes last
  /// of what an input brings about: ask for it by `presenceChanged`.
  mutating func lookAfter() {
    expireWaiting()
    newcomers.history.apply(settings.dataHistory, now: now)
    var index = 0
    while index < members.count {
      let id = members[index].id
      while index < members.count, members[index].id == id,
        let change = members[index].presence.poll(now: now)
      {
        switch change {
        case .reconnecting: say(.participantReconnecting, of: index)
        case .reconnected: say(.participantReconnected, of: index)
        case .restartWanted: notify(index, .restartWanted)
        case .lost: endSession(index, reason: .connectionLost)
        }
      }
      if index < members.count, members[index].id == id { index += 1 }
    }
    let forgets = newcomers.history.forgets(settings.dataHistory)
    emit(.alarm((members.map(\.presence.deadline) + waiting.map(\.deadline) + [forgets]).min() ?? .never))
  }

  private mutating func say(_ kind: RoomEvent.Kind, of member: Int) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.hiddenAway), members[member].grants.hidden { record(kind, of: member) }
    #endif
    if !members[member].grants.hidden {
      // As any event that has all of its state.
      let cost = members[member].eventCost
      spend(member) { $0.requests.charge(upTo: cost, now: $1) }
      record(kind, of: member)
    }
    log(kind.rawValue, of: members[member], ("id", members[member].id.text))
  }
}

extension Transport {
  /// What of it is said by change only.
  fileprivate func standing(_ common: CodecSet) -> [TransportNotice] {
    var notices: [TransportNotice] = []
    let tracks = slots.standings.keys.sorted { $0.text < $1.text }
    if !tracks.isEmpty { notices.append(.streams(tracks.map { ($0, announced[$0] ?? .active) })) }
    for track in published where track.info.kind == .video && (track.watched != .max || track.knowsCodecs) {
      notices.append(.publish(track.info.id, advice(for: track, common)))
    }
    if !requested.isZero { notices.append(.offerWanted(audio: requested.audio, video: requested.video)) }
    return notices
  }
}
