internal import Engine
internal import Model
internal import Peer
internal import SyntheticPeers

/// What passes between rooms and workers: the books by which everything that comes out of the server is judged.
extension Conference {
  func takeTap() {
    for entry in control.tap.take() {
      switch entry {
      case .command(let command): note(command)
      case .events(let events): note(events)
      }
    }
  }

  private func participant(_ key: PeerKey) -> Participant? { byKey[key].map { participants[$0] } }

  // MARK: - Commands

  private func note(_ command: Command) {
    switch command {
    case .add(let setup):
      guard
        let owner = participants.last(where: {
          $0.peer.pendingCredentials.ufrag == setup.remote.credentials.ufrag
        })
      else { return journal.violation(now, "a peer is made for no one's offer") }
      owner.key = setup.key
      owner.connection.closedAt = .never
      owner.connection.rtcpIndices = []
      owner.connection.ear = nil
      byKey[setup.key] = owner.number
      books.codecs.hasChanged = true
      agree(owner, setup.media)
      journal.trace(now, "\(owner.number) has a peer, home \(setup.key.home)")
    case .apply(let key, let media): if let owner = participant(key) { agree(owner, media) }
    case .restartICE: break
    case .prefer, .describe, .resize: break
    case .assign(let key, let slot, let track):
      if let subscriber = participant(key) { assign(subscriber, slot, to: track) }
    case .mute(let key, let muted): hold(key, muted)
    case .close(let key), .dismiss(let key): if let owner = participant(key) { close(owner) }
    }
  }

  private func agree(_ participant: Participant, _ media: AgreedMedia) {
    participant.media = media
    for (slot, feeds) in participant.feeds
    where feeds.last?.track != nil && !media.send.contains(where: { $0.index == slot }) {
      participant.noteFeed(slot, nil, now: now)
    }
    for track in journal.tracks
    where track.publisher == participant.number && track.endedAt == .never
      && !media.receive.contains(where: { $0.index == track.index })
    {
      track.endedAt = now
    }
    for section in media.send {
      participant.announced.formUnion([section.ssrc] + (section.rtxSSRC.map { [$0] } ?? []))
    }
  }

  private func assign(_ subscriber: Participant, _ slot: UInt16, to track: TrackKey?) {
    let publisher = track.flatMap { byKey[$0.peer] }
    if let publisher, participants[publisher].room != subscriber.room {
      journal.violation(now, "\(subscriber.number) is to get a track of \(publisher), in another room")
    }
    if let publisher, let before = subscriber.feeds[slot]?.last?.publisher, before != publisher,
      participants[before].isPresent, subscriber.client.pending.isEmpty, subscriber.offering.keepsFewSlots
    {
      journal.count(.speakerSwitch)
    }
    let name = track.flatMap { track in publisher.map { TrackName($0, Int(track.index)) } }
    subscriber.noteFeed(slot, name, now: now)
    journal.trace(
      now, "slot \(slot) of \(subscriber.number) gets \(publisher.map { "one of \($0)" } ?? "nothing")")
  }

  private func hold(_ key: TrackKey, _ muted: Bool) {
    guard let number = byKey[key.peer] else { return }
    let name = TrackName(number, Int(key.index))
    guard let track = journal.track(name) else {
      journal.heldEarly[name] = muted ? now : nil
      return
    }
    guard track.isHeld != muted else { return }
    journal.trace(now, "\(track.name) \(muted ? "is held" : "flows again")")
    track.noteHold(now: now)
  }

  /// The room has ended a participant's session.
  private func close(_ participant: Participant) {
    books.codecs.hasChanged = true
    if participant.handle?.isStandalone == true, participant.isPresent, isInRoom(participant) {
      // By itself, as when it may publish no more: no client can offer again.
      participant.presence.leftAt = now
      return retire(participant)
    }
    guard !isInRoom(participant) else { return endMedia(of: participant) }
    journal.trace(now, "the room ends \(participant.number)")
    participant.presence.hasEnded = true
    if participant.isPresent { participant.presence.leftAt = now }
    // There is no socket on which it would hear of it.
    if participant.handle != nil { retire(participant) }
    guard let since = participant.presence.awaySince, participant.presence.mayEnd == ["connectionLost"] else {
      return
    }
    let over = now - since
    guard over < ControlPlane.grace || over > ControlPlane.grace + .milliseconds(600) else {
      return journal.count(.sessionTimedOut)
    }
    // Its media may have been silent for longer.
    if participant.presence.vanishedAt == .never {
      journal.violation(now, "\(participant.number) is given up \(over) after its socket had gone")
    }
  }

  /// Its session goes on, without a section and so without a transport.
  private func endMedia(of participant: Participant) {
    journal.count(.mediaEnded)
    journal.trace(now, "\(participant.number) has no section left")
    agree(participant, AgreedMedia())
    participant.key = nil
    participant.connection.connectedAt = .never
    participant.connection.nominatedAt = .never
    participant.connection.nominated = []
    participant.connection.profile = nil
  }

  // MARK: - Events

  private func note(_ event: PeerEvents) {
    guard let participant = participant(event.peer), participant.key == event.peer else { return }
    let number = participant.number
    if let profile = event.connected {
      participant.connection.connectedAt = now
      participant.connection.profile = profile
      journal.count(.connected)
      journal.trace(now, "\(number) is connected by \(profile.name)")
      if participant.peer.configuration.waitsForHandshake { journal.count(.handshakeAsServer) }
      if let handle = participant.handle { noteConnected(handle) }
    }
    if let reason = event.closed {
      participant.connection.closedAt = now
      journal.trace(now, "the server closed \(number): \(reason)")
      if participant.isPresent {
        journal.violation(now, "the server closed peer \(number), which had not left: \(reason)")
      }
    }
  }
}
