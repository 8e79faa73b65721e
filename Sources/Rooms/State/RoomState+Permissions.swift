internal import AccessTokens
internal import Model

/// What a participant may do, changed while it is in.
extension RoomState {
  /// From here on: what is no longer allowed ends, what is allowed now begins.
  mutating func permit(_ grants: Grants, to member: Int) {
    let old = members[member].grants
    members[member].grants = grants
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.hiddenPermissions), grants.hidden { record(.participantUpdated, of: member) }
    #endif
    if !grants.hidden { record(.participantUpdated, of: member) }
    for place in places(of: member) {
      let isForbidden = { (track: PublishedTrack) in
        !grants.mayPublish(track.info.source, as: track.info.kind)
      }
      for track in self[place].published where isForbidden(track) {
        withdraw(track.key, track.info.source, at: place)
      }
      unpublish(place, where: isForbidden)
    }
    guard grants.canSubscribe != old.canSubscribe else { return }
    let tracks = tracks(for: members[member].id)
    for place in places(of: member) where self[place].role.subscribes {
      change(place) { slots, now in
        if grants.canSubscribe {
          slots.add(tracks, now: now)
        } else {
          slots.remove(tracks.map(\.id), now: now)
        }
      }
    }
  }
}
