internal import AccessTokens
internal import Engine
internal import Model

extension Room {
  /// What the policy needs to know of a track.
  func slotTrack(_ track: PublishedTrack, of owner: Member) -> SlotPolicy.Track {
    SlotPolicy.Track(
      id: track.info.id, key: track.key, kind: track.info.kind, owner: owner.id.text,
      group: owner.group(of: track.info), isScreen: track.info.isScreen, codec: track.codec)
  }

  func offerToOthers(_ tracks: [SlotPolicy.Track], of owner: Member) {
    for other in members where other !== owner && other.grants.canSubscribe {
      for transport in other.transports { change(other, transport) { $0.add(tracks, now: now) } }
    }
  }

  /// Tells a transport's policy something, and everybody whom it concerns what comes of it.
  func change(_ member: Member, _ transport: Transport, _ body: (inout SlotPolicy) -> Void) {
    body(&transport.slots)
    assign(member, transport, announces: true)
    tellStates(member, transport)
  }

  /// Passes changed slots to the media plane, and to their owner unless an answer has them all.
  func assign(_ member: Member, _ transport: Transport, announces: Bool) {
    guard let key = transport.peer else { return }
    let changed = transport.slots.takeChanges()
    guard !changed.isEmpty else { return }
    for slot in changed {
      media.post(.assign(key, slot: slot.index, slot.track.flatMap { transport.slots.key(of: $0) }))
    }
    guard announces else { return }
    member.session.notify(.slots(changed.map { SlotAssignment(mid: $0.mid, track: $0.track) }))
  }

  /// Says which tracks reach a subscriber and which don't, as far as that changed, and asks for what lacks.
  func tellStates(_ member: Member, _ transport: Transport) {
    // Before the first answer there is no section to speak of.
    guard transport.peer != nil else { return }
    var states: [TrackID: StreamState] = [:]
    let standings = transport.slots.standings
    for (id, standing) in standings {
      switch standing {
      case .waiting: states[id] = .waiting(.noSlot)
      case .codecMissing: states[id] = .paused(.codec)
      case .shown: if stalled.contains(id) { states[id] = .paused(.noMedia) }
      }
    }
    let over = transport.told.keys.filter { states[$0] == nil && standings[$0] != nil }
    let new = states.filter { transport.told[$0.key] != $0.value }
    let changes =
      over.sorted { $0.text < $1.text }.map { (track: $0, state: StreamState.active) }
      + new.sorted { $0.key.text < $1.key.text }.map { (track: $0.key, state: $0.value) }
    if !changes.isEmpty { member.session.notify(.streams(changes)) }
    transport.told = states

    let shortage = transport.slots.shortage
    let more = (
      audio: max(0, shortage.audio - transport.asked.audio),
      video: max(0, shortage.video - transport.asked.video)
    )
    transport.asked = shortage
    if more.audio + more.video > 0 {
      member.session.notify(.offerWanted(audio: more.audio, video: more.video))
    }
  }
}
