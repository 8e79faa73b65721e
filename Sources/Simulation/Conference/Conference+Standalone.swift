internal import AccessTokens
internal import Model
internal import Rooms
internal import SyntheticPeers

/// A participant by WHIP and WHEP: its media goes up by one offer, and comes down by another.
extension Conference {
  func arriveStandalone(_ up: Participant, _ down: Participant) throws {
    journal.count(.join)
    journal.trace(
      now, "\(up.number) publishes and \(down.number) plays in \(up.client.room) by an offer alone")
    let offer = try up.peer.makeOffer(receivers: 0)
    up.ledger.note(PermissionLedger.Offer(sections: up.peer.descriptions.offered, stopped: []), id: 1)
    let published = try open(up, .publishes, offer)
    books.names[published.participant.text] = up.number
    try takeAnswer(published.sdp, published.tracks, up)
    let played = try open(down, .subscribes, try down.peer.makeOffer(receivers: plan.neighbours))
    if played.participant != published.participant {
      journal.violation(now, "\(down.number) is another participant than \(up.number)")
    }
    try down.peer.accept(played.sdp, now: now)
    flush(down)
    for farEnd in [up, down] { farEnd.handle?.siblings = [up.number, down.number] }
  }

  private func open(
    _ participant: Participant, _ role: TransportRole, _ sdp: String
  ) throws -> StandaloneAnswer {
    let (token, room) = (participant.client.token, participant.client.room)
    let grants = token.access(room: room).grants
    let said = control.perform { directory in
      try? await directory.open(
        StandaloneOffer(role: role, sdp: sdp), room: room, identity: token.identity, grants: grants)
    }
    guard let said = said ?? nil else { throw Trouble(description: "its offer is not answered") }
    participant.handle = TransportHandle(way: .standalone(said, role))
    return said
  }
}
