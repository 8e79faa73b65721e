internal import AccessTokens
internal import Engine
internal import Logging
internal import Model

/// What is asked from outside the room by those who run it.
extension Room {
  var snapshot: RoomSnapshot {
    RoomSnapshot(
      info: info, created: created, settings: settings, participants: members.count,
      publishers: members.count { !$0.info.tracks.isEmpty },
      tracks: members.reduce(0) { $0 + $1.info.tracks.count },
      age: max(0, Double(media.wallTime.milliseconds - created.milliseconds) / 1_000),
      bitrates: members.map(\.bitrates).reduce(Bitrates(), +))
  }

  /// - Parameter after: only identities behind this one, in the order of their bytes.
  func participants(after: String?, limit: Int) -> [ParticipantSnapshot] {
    members.filter { member in after.map { $0.isBefore(member.info.identity) } ?? true }
      .sorted { $0.info.identity.isBefore($1.info.identity) }
      .prefix(limit).map(snapshot(of:))
  }

  func participant(_ identity: String) throws(AdministrationError) -> ParticipantSnapshot {
    snapshot(of: try named(identity))
  }

  private func named(_ identity: String) throws(AdministrationError) -> Member {
    guard let member = members.first(where: { $0.info.identity == identity }) else {
      throw .unknownParticipant
    }
    return member
  }

  private func snapshot(of member: Member) -> ParticipantSnapshot {
    ParticipantSnapshot(
      info: member.info, joined: member.joined, grants: member.grants, quality: member.quality?.value,
      bitrates: member.bitrates,
      subscriptions: member.transports.flatMap(subscriptions(on:)))
  }

  private func subscriptions(on transport: Transport) -> [SubscriptionSnapshot] {
    transport.slots.standings.keys.sorted { $0.text < $1.text }.map { track in
      SubscriptionSnapshot(
        track: track, mid: transport.slots.slots.first { $0.track == track }?.mid,
        state: transport.told[track] ?? (transport.peer == nil ? .waiting(.noSlot) : .active))
    }
  }

  // MARK: - Changes

  func change(_ patch: RoomPatch) throws(AdministrationError) -> RoomSnapshot {
    var changed = settings
    patch.apply(to: &changed, defaults: directory.defaults)
    guard (changed.metadata?.utf8.count ?? 0) <= ParticipantChange.metadataLimit else {
      throw .tooLarge("metadata")
    }
    try directory.check(changed)
    if changed != settings {
      settings = changed
      directory.note(changed, of: info.name)
      record(.roomUpdated)
    }
    return snapshot
  }

  func change(_ identity: String, _ patch: ParticipantPatch) throws(AdministrationError)
    -> ParticipantSnapshot
  {
    let member = try named(identity)
    var info = member.info
    patch.name.apply(to: &info.name)
    patch.metadata.apply(to: &info.metadata)
    switch patch.attributes {
    case .keep: break
    case .remove: info.attributes = [:]
    case .set(let changes):
      for (key, change) in changes {
        change.apply(to: &info.attributes[key])
        // As everywhere an empty value is none.
        if info.attributes[key]?.isEmpty == true { info.attributes[key] = nil }
      }
    }
    let bytes: Int
    do throws(StateExcess) { bytes = try review(info, of: member) } catch { throw AdministrationError(error) }
    var grants = member.grants
    patch.permissions.apply(to: &grants)

    let isChanged = info != member.info
    member.describe(info, bytes)
    if grants != member.grants {
      permit(grants, to: member)
    } else if isChanged, !grants.hidden {
      record(.participantUpdated, participant: info)
    }
    return snapshot(of: member)
  }

  /// Ends an identity's session, if there is one; the directory remembers the removal.
  func remove(_ identity: String) {
    guard let member = members.first(where: { $0.info.identity == identity }) else { return }
    log.info("participant removed", ["room": info.name, "identity": identity, "id": member.id.text])
    end(member, reason: .removed)
  }

  /// Sets or lifts an administrator's mute; the publisher's own is another.
  func mute(_ track: String, of identity: String, _ muted: Bool) throws(AdministrationError) -> TrackInfo {
    let member = try named(identity)
    guard let changed = setMute(of: track, of: member, { $0.mutedByAdmin = muted }) else {
      throw .unknownTrack
    }
    return changed
  }

  /// Changes who has muted a track. Everybody learns whether it is muted and whether an administrator's mute
  /// stands: `track.muted` comes again where the second alone changes, so that its publisher learns when it may unmute.
  /// - Returns: the track; nil: the member has no such track.
  func setMute(
    of track: String, of member: Member, _ change: (inout TrackInfo) -> Void
  ) -> TrackInfo? {
    for transport in member.transports {
      guard let position = transport.published.firstIndex(where: { $0.info.id.text == track }) else {
        continue
      }
      let before = transport.published[position].info
      change(&transport.published[position].info)
      let changed = transport.published[position].info
      for index in member.info.tracks.indices where member.info.tracks[index].id == changed.id {
        member.info.tracks[index] = changed
      }
      if changed.muted != before.muted {
        media.post(.mute(transport.published[position].key, changed.muted))
      } else if changed.mutedByAdmin == before.mutedByAdmin {
        return changed
      }
      record(changed.muted ? .trackMuted : .trackUnmuted, participant: member.info, track: changed)
      return changed
    }
    return nil
  }

  /// A message of the server's own.
  func send(_ message: DataMessage, to destinations: [String]?) {
    let wanted = destinations.flatMap { $0.isEmpty ? nil : Set($0) }
    for member in members where wanted?.contains(member.info.identity) ?? true {
      guard message.reliable || !member.session.isSlow else { continue }
      member.session.notify(.data(message))
    }
  }
}

extension String {
  /// In the order of bytes, which is the same everywhere.
  func isBefore(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
