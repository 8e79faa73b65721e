internal import AccessTokens
internal import Model

/// What is asked from outside the room by those who run it.
extension RoomState {
  mutating func handle(_ request: AdministrationRequest) {
    do throws(AdministrationError) {
      switch request {
      case .change(let patch): try change(patch)
      case .changeParticipant(let identity, let patch): try change(identity, patch)
      case .remove(let identity): remove(identity)
      case .admit(let identity, let id): try admit(identity, id)
      case .refuse(let identity, let id): turnAway(try waitingPlace(of: identity, id), .administration)
      case .disconnect(let identity, let stay, let reason):
        if let member = member(of: identity), members[member].stay.end(stay, reason) {
          end(member, reason: reason)
        }
      case .mute(let track, let identity, let muted): try mute(track, of: identity, muted)
      case .send(let message, let destinations): send(message, to: destinations)
      case .record(let scope): try startRecording(scope)
      case .stopRecording(let id): try stopRecording(id)
      case .thumbnail(let track, let identity): try giveThumbnail(track, of: identity)
      }
    } catch { reply(.administrationRefused(error)) }
  }

  private func named(_ identity: String) throws(AdministrationError) -> Int {
    guard let member = member(of: identity) else { throw .unknownParticipant }
    return member
  }

  private mutating func change(_ patch: RoomPatch) throws(AdministrationError) {
    // Its name may be another's by now, whose settings stand in the journal; and one that is over has had its last event.
    #if PLANTED_DEFECTS
      let isOver = isFinished && !PlantedDefect.isOn(.finishedChanges)
    #else
      let isOver = isFinished
    #endif
    guard closed != .roomClosed, !isOver else { throw .unknownRoom }
    var changed = settings
    patch.apply(to: &changed, defaults: terms.defaults)
    try terms.check(changed)
    if !changed.isExactly(settings) {
      settings = changed
      emit(.keepSettings(changed))
      record(.roomUpdated)
      newcomers.history.apply(changed.dataHistory, now: now)
      presenceChanged()
      letInWhoMay()
    }
    reply(.room(snapshot(now: now)))
  }

  /// - Parameter id: nil: by whichever it waits.
  private func waitingPlace(of identity: String, _ id: WaitingID?) throws(AdministrationError) -> Int {
    let index = waiting.firstIndex { session in
      session.newcomer.identity.isExactly(identity) && id.map { $0 == session.id } ?? true
    }
    guard let index else { throw .unknownParticipant }
    return index
  }

  private mutating func admit(_ identity: String, _ id: WaitingID?) throws(AdministrationError) {
    let index = try waitingPlace(of: identity, id)
    // Its answer comes with the place.
    do throws(JoinError) { try letIn(index, .administration) } catch { throw .joining(error) }
  }

  private mutating func change(
    _ identity: String, _ patch: ParticipantPatch
  ) throws(AdministrationError) {
    let member = try named(identity)
    let before = members[member].info
    var info = before
    patch.name.apply(to: &info.name)
    if patch.lowersHand { info.handRaised = nil }
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
    members[member].describe(info, stateBytes: bytes)
    members[member].floor.handRaised = info.handRaised
    if !permit(patch.permissions, to: member), !info.isExactly(before), !members[member].grants.hidden {
      record(.participantUpdated, of: member)
    }
    reply(.participant(snapshot(of: member)))
    // Last: it may be that nothing is left of the participant.
    endPowerless(of: member)
  }

  /// Ends an identity's session, if there is one, also one that waits, and forgets its messages; the journal remembers the removal.
  /// Invitations that it has made hold no more.
  mutating func remove(_ identity: String) {
    #if PLANTED_DEFECTS
      if !PlantedDefect.isOn(.historyOfRemoved) { newcomers.history.forget(identity) }
    #else
      newcomers.history.forget(identity)
    #endif
    endWaiting(of: identity, .removed)
    invitationsMayHaveEnded()
    guard let member = member(of: identity) else { return }
    log("participant removed", of: members[member], ("id", members[member].id.text))
    end(member, reason: .removed)
  }

  /// Sets or lifts an administrator's mute; the publisher's own is another.
  private mutating func mute(
    _ track: String, of identity: String, _ muted: Bool
  ) throws(AdministrationError) {
    let member = try named(identity)
    guard let changed = setMute(of: track, of: member, { $0.mutedByAdmin = muted }) else {
      throw .unknownTrack
    }
    reply(.track(changed))
  }

  /// A message of the server's own.
  private mutating func send(_ message: DataMessage, to destinations: [String]?) {
    let wanted = destinations.flatMap { $0.isEmpty ? nil : Set($0.map(ExactName.init)) }
    if wanted == nil { keep(message, of: nil) }
    for member in members.indices where wanted?.contains(ExactName(members[member].identity)) ?? true {
      notify(member, .data(message))
    }
  }

  // MARK: - Reading

  func snapshot(now: Instant) -> RoomSnapshot {
    let wallTime = WallTime(terms.epoch.ntp(at: now))
    var sums = TransportSums()
    for member in members.indices { sums.add(members[member].transports) }
    return RoomSnapshot(
      info: info, created: created, settings: settings, participants: members.count,
      publishers: sums.publishers, tracks: sums.tracks,
      age: max(0, Double(wallTime.milliseconds - created.milliseconds) / 1_000),
      bitrates: sums.bitrates, waiting: waiting.count, loss: sums.loss, roundTrip: sums.roundTrip,
      speaking: speaking.count)
  }

  /// - Parameter after: only identities behind this one, in the order of their bytes.
  func participants(after: String?, limit: Int) -> [ParticipantSnapshot] {
    members.indices.filter { member in after.map { $0.isBefore(members[member].identity) } ?? true }
      .sorted { members[$0].identity.isBefore(members[$1].identity) }
      .prefix(limit).map(snapshot(of:))
  }

  func participant(_ identity: String) throws(AdministrationError) -> ParticipantSnapshot {
    snapshot(of: try named(identity))
  }

  private func snapshot(of index: Int) -> ParticipantSnapshot {
    let member = members[index]
    return ParticipantSnapshot(
      info: member.info, joined: member.joined, grants: member.grants, quality: member.quality?.value,
      bitrates: member.sums.bitrates, subscriptions: member.transports.flatMap(\.subscriptions))
  }
}

extension Transport {
  fileprivate var subscriptions: [SubscriptionSnapshot] {
    slots.standings.keys.sorted { $0.text < $1.text }.map { track in
      SubscriptionSnapshot(
        track: track, mid: slots.slots.first { $0.track == track }?.mid,
        state: announced[track] ?? (peer == nil ? .waiting(.noSlot) : .active))
    }
  }
}

extension String {
  /// In the order of bytes, which is the same everywhere.
  func isBefore(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
