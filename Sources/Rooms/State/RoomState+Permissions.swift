internal import AccessTokens
internal import Model

/// What a participant may do, changed while it is in.
extension RoomState {
  /// From here on: what is no longer allowed ends, what is allowed now begins.
  /// - Returns: whether anything has changed.
  mutating func permit(_ patch: PermissionsPatch, to member: Int) -> Bool {
    var changed = members[member].grants
    patch.apply(to: &changed)
    var session = members[member].sessionGrants
    if let grants = session {
      var grants = grants
      patch.apply(to: &grants)
      session = grants
    }
    guard changed != members[member].grants || session != members[member].sessionGrants else { return false }
    change(of: member) {
      $0.grants = changed
      $0.sessionGrants = session
    }
    return true
  }

  /// Changes what a member may do, and has its transports follow.
  mutating func change(of member: Int, _ body: (inout Member) -> Void) {
    let places = places(of: member)
    let before = places.map { members[member].grants(on: self[$0]).canSubscribe }
    let wasVisible = !members[member].grants.hidden
    body(&members[member])
    let isVisible = !members[member].grants.hidden
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.hiddenPermissions), !isVisible { record(.participantUpdated, of: member) }
    #endif
    if isVisible {
      if wasVisible { record(.participantUpdated, of: member) } else { record(joined: members[member].info) }
    }
    for place in places {
      let grants = members[member].grants(on: self[place])
      let isForbidden = { (track: PublishedTrack) in
        !grants.mayPublish(track.info.source, as: track.info.kind)
      }
      for track in self[place].published where isForbidden(track) {
        withdraw(track.key, track.info.source, at: place)
      }
      unpublish(place, where: isForbidden)
    }
    for (place, could) in zip(places, before) where self[place].role.subscribes {
      let can = members[member].grants(on: self[place]).canSubscribe
      guard can != could else { continue }
      let tracks = tracks(for: self[place], of: members[member].id)
      change(place) { slots, now in
        if can { slots.add(tracks, now: now) } else { slots.remove(tracks.map(\.id), now: now) }
      }
    }
  }

  /// Ends transports without a socket that may do nothing of what they are there for: no client can learn of it otherwise.
  mutating func endPowerless(of member: Int) {
    let id = members[member].id
    for transport in members[member].transports.reversed() where transport.standalone != nil {
      let isPowerless =
        transport.role.publishes
        ? transport.published.isEmpty : !members[member].grants(on: transport).canSubscribe
      guard isPowerless, let place = place(of: transport.id, of: member) else { continue }
      end(place, reason: .removed)
      guard members.indices.contains(member), members[member].id == id else { return }
    }
  }
}
