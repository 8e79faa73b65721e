internal import AccessTokens
internal import Engine
internal import Model

/// What a participant may do, changed while it is in.
extension Room {
  func grants(of id: ParticipantID) -> Grants? { member(id)?.grants }

  /// From here on: what is no longer allowed ends, what is allowed now begins.
  func permit(_ grants: Grants, to member: Member) {
    let old = member.grants
    member.grants = grants
    member.info.permissions = grants.permissions
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.hiddenPermissions), grants.hidden {
        record(.participantUpdated, participant: member.info)
      }
    #endif
    if !grants.hidden { record(.participantUpdated, participant: member.info) }
    for transport in member.transports {
      let forbidden = transport.published.filter { !grants.mayPublish($0.info.source, as: $0.info.kind) }
      for track in forbidden { withdraw(track.key, track.info.source, transport) }
      unpublish(forbidden, of: member, transport)
    }
    guard grants.canSubscribe != old.canSubscribe else { return }
    let tracks = members.filter { $0 !== member && !$0.grants.hidden }
      .flatMap { other in other.published.map { slotTrack($0, of: other) } }
    for transport in member.transports {
      change(member, transport) { slots in
        if grants.canSubscribe {
          slots.add(tracks, now: now)
        } else {
          slots.remove(tracks.map(\.id), now: now)
        }
      }
    }
  }
}
