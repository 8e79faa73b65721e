internal import AccessTokens
internal import Engine
internal import Model

/// What plays where.
extension RoomState {
  /// All that others than this participant publish.
  func tracks(for id: ParticipantID) -> [SlotPolicy.Track] {
    members.filter { $0.id != id && !$0.grants.hidden }.flatMap { owner in
      owner.transports.flatMap { $0.published.map(owner.slotTrack) }
    }
  }

  /// Of these, what a transport is to play.
  private func tracks(_ tracks: [SlotPolicy.Track], of owner: Int, at place: TransportPlace) -> [SlotPolicy
    .Track]
  {
    guard let selection = self[place].standalone?.selection, !selection.isAll else { return tracks }
    let (identity, isOwn) = (members[owner].identity, owner == place.member)
    return tracks.filter { selection.plays($0.id, of: identity, isOwn: isOwn) }
  }

  /// All that a transport may play now.
  func tracks(for transport: Transport, of id: ParticipantID) -> [SlotPolicy.Track] {
    guard let selection = transport.standalone?.selection, !selection.isAll else { return tracks(for: id) }
    return members.filter { !$0.grants.hidden }.flatMap { owner in
      owner.transports.flatMap { $0.published.map(owner.slotTrack) }.filter {
        selection.plays($0.id, of: owner.identity, isOwn: owner.id == id)
      }
    }
  }

  mutating func offerToOthers(_ tracks: [SlotPolicy.Track], of owner: Int) {
    for place in places(showing: owner)
    where self[place].role.subscribes && members[place.member].grants(on: self[place]).canSubscribe {
      let played = self.tracks(tracks, of: owner, at: place)
      change(place) { slots, now in slots.add(played, now: now) }
    }
  }

  /// Says something to a transport's policy, and what comes of it to all whom it concerns.
  mutating func change(_ place: TransportPlace, _ body: (inout SlotPolicy, Instant) -> Void) {
    body(&self[place].slots, now)
    assign(place, announces: true)
    announceStates(place)
  }

  /// Passes changed slots to the media plane, and to their owner unless an answer has them all.
  mutating func assign(_ place: TransportPlace, announces: Bool) {
    guard let key = self[place].peer else { return }
    let changed = self[place].slots.takeChanges()
    // First how the new track is shown: of one that is turned off no packet leaves.
    for (slot, picture) in self[place].slots.takePictures() {
      emit(.post(.prefer(key, slot: slot, picture)))
    }
    for slot in changed {
      let source = slot.track.flatMap { self[place].slots.key(of: $0) }
      emit(.post(.assign(key, slot: slot.index, source)))
    }
    guard announces, !changed.isEmpty else { return }
    notify(place, .slots(changed.map { SlotAssignment(mid: $0.mid, track: $0.track) }))
  }

  /// Says which tracks reach a subscriber and which don't, as far as that changed, and asks for what lacks.
  mutating func announceStates(_ place: TransportPlace) {
    // Before the first answer there is no section to speak of.
    guard self[place].peer != nil else { return }
    var states: [TrackID: StreamState] = [:]
    let standings = self[place].slots.standings
    for (id, standing) in standings {
      switch standing {
      case .waiting: states[id] = .waiting(.noSlot)
      case .codecMissing: states[id] = .paused(.codec)
      case .shown: if let reason = self[place].pause(of: id, stalls) { states[id] = .paused(reason) }
      }
    }
    let before = self[place].announced
    let over = before.keys.filter { states[$0] == nil && standings[$0] != nil }
    let new = states.filter { before[$0.key] != $0.value }
    let changes =
      over.sorted { $0.text < $1.text }.map { (track: $0, state: StreamState.active) }
      + new.sorted { $0.key.text < $1.key.text }.map { (track: $0.key, state: $0.value) }
    if !changes.isEmpty { notify(place, .streams(changes)) }
    self[place].announced = states

    let shortage = self[place].slots.shortage
    let requested = self[place].requested
    let more = SlotCount(
      audio: max(0, shortage.audio - requested.audio), video: max(0, shortage.video - requested.video))
    self[place].requested = shortage
    if !more.isZero { notify(place, .offerWanted(audio: more.audio, video: more.video)) }
  }

  /// Says of tracks whether they come, as far as they are shown and that changed; of nothing else.
  mutating func announceStalls(_ changed: Set<TrackID>, at place: TransportPlace) {
    // In place: what a transport has is large.
    let shown = members[place.member].transports[place.transport].slots.shown(of: changed)
    guard !shown.isEmpty, self[place].peer != nil else { return }
    var changes: [(track: TrackID, state: StreamState)] = []
    for id in shown {
      let state = self[place].pause(of: id, stalls).map { StreamState.paused($0) }
      guard self[place].announced[id] != state else { continue }
      self[place].announced[id] = state
      changes.append((id, state ?? .active))
    }
    guard !changes.isEmpty else { return }
    changes.sort { a, b in
      (a.state == .active) == (b.state == .active) ? a.track.text < b.track.text : a.state == .active
    }
    notify(place, .streams(changes))
  }

  /// Who has no handle for a transport hears nothing of it.
  mutating func notify(_ place: TransportPlace, _ notice: TransportNotice) {
    guard self[place].standalone == nil else { return }
    notify(place.member, .on(self[place].id, notice))
  }
}

extension Member {
  /// What the policy needs to know of a track.
  func slotTrack(_ track: PublishedTrack) -> SlotPolicy.Track {
    SlotPolicy.Track(
      id: track.info.id, key: track.key, kind: track.info.kind, owner: id.text,
      group: group(of: track.info), isScreen: track.info.isScreen, codec: track.codec)
  }
}
