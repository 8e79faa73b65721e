internal import AccessTokens
internal import Model
internal import Rooms
internal import SyntheticPeers

/// What an administrator of the rooms asks for, over REST's operations, and what is noted of it once it is answered.
extension Conference {
  func setAdminMute(of track: String, _ participant: Participant, _ isMuted: Bool) {
    let (name, identity) = (Self.roomName(participant.room), participant.client.token.identity)
    let answer = control.perform { directory in
      (try? await directory.administration(of: name)?.mute(track, of: identity, isMuted)) != nil
    }
    guard answer == true else { return }
    for other in participants where other.room == participant.room {
      if other.ledger.mute(track, byAdmin: isMuted, now: now) { return }
    }
  }

  /// Changes what a participant may do.
  func permit(_ participant: Participant, _ wanted: Allowance) {
    let (name, identity) = (Self.roomName(participant.room), participant.client.token.identity)
    var patch = ParticipantPatch()
    patch.permissions.canPublish = .set(wanted.canPublish)
    patch.permissions.canSubscribe = .set(wanted.canSubscribe)
    patch.permissions.canPublishSources =
      wanted.sources.map { .set(Set($0.compactMap(AccessTokens.TrackSource.init))) } ?? .remove
    let id = control.perform { [patch] directory in
      (try? await directory.administration(of: name)?.change(identity, patch))?.info.id.text
    }
    guard let id = id ?? nil, let owner = books.names[id] else { return }
    journal.count(.permissionsChanged)
    journal.trace(
      now,
      "\(owner) may \(wanted.canPublish ? "publish \(wanted.sources?.sorted().joined(separator: ", ") ?? "all")" : "not publish") and \(wanted.canSubscribe ? "" : "not ")subscribe"
    )
    for number in participants[owner].handle?.siblings ?? [owner] {
      participants[number].ledger.permit(wanted, now: now)
    }
    books.codecs.hasChanged = true
  }

  /// Several come by a token while its identity is being removed: whichever is first, none is in afterwards.
  func removeRacing(_ participant: Participant) {
    guard mayCome, participant.client.hasJoined, participant.isPresent else { return }
    journal.count(.removalRaced)
    journal.trace(now, "\(participant.number) is removed, while others come by its token")
    participant.presence.mayEnd.formUnion(["removed", "duplicateIdentity"])
    let (token, name) = (participant.client.token, Self.roomName(participant.room))
    for number in 0..<6 {
      // Every other token comes in the request, and was good when that came.
      let isEarly = number % 2 == 0
      let client = RoomClient(room: name, token: token)
      let record = SocketRecord(
        control.open(room: name, authorized: isEarly ? token : nil), client: client, participant: nil)
      record.races = true
      record.hasEntered = true
      books.sockets[record.socket.number] = record
      let request = client.connect(record.socket)
      if !isEarly { record.socket.receive(request.text) }
    }
    // At any step of theirs.
    let steps = random.next() % 12
    let isDone = control.perform { directory in
      for _ in 0..<steps { await Task {}.value }
      return (try? await directory.remove(token.identity, from: name)) != nil
    }
    guard isDone == true else { return }
    noteRemoval(of: token.identity, from: name)
    arrive(room: participant.room)
  }
}
