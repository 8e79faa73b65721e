internal import AccessTokens
internal import Model
internal import Rooms
internal import SyntheticPeers

/// A participant as front doors for publishing and playing have them: without a socket, its media goes up on one transport, by an
/// offer of its own, and comes down on another, by the server's. Each transport is a far end for itself, on a network of its own.
extension Conference {
  func arriveWithoutSocket(room: Int) {
    guard !isEnding, participants.count + 2 <= plan.peers * 2 else { return }
    do {
      let (up, down) = try addFarEnds(room: room)
      if plan.hasStandalone { return try arriveStandalone(up, down) }
      let (grants, name) = (up.client.token.access(room: up.client.room).grants, up.client.room)
      let identity = up.client.token.identity
      let session = control.perform { directory in
        try? await directory.join(
          room: name, identity: identity, name: nil, grants: grants, opening: nil, isAttended: false)
      }
      guard let session = session ?? nil else { throw Trouble(description: "it is not let in") }
      journal.count(.join)
      journal.trace(now, "\(up.number) and \(down.number) join \(name) as \(identity), without a socket")
      books.names[session.id.text] = up.number
      up.handle = try open(.publishes, session)
      down.handle = try open(.subscribes, session)
      for farEnd in [up, down] { farEnd.handle?.siblings = [up.number, down.number] }
      try publish(up)
      try play(down)
    } catch {
      journal.violation(now, "a participant without a socket can't begin: \(error)")
    }
  }

  struct Trouble: Error, CustomStringConvertible { let description: String }

  private func addFarEnds(room: Int) throws -> (up: Participant, down: Participant) {
    var configuration = PeerConfiguration(number: participants.count)
    configuration.talksInTurns = true
    let token = SimulatedToken(
      identity: "door-\(configuration.number)", issued: SimulatedToken.seconds(now))
    let up = try addFarEnd(configuration, room: room, token: token, up: conditions(), down: conditions())
    configuration = PeerConfiguration(number: participants.count)
    configuration.publishesAudio = false
    configuration.publishesVideo = false
    return (up, try addFarEnd(configuration, room: room, token: token, up: conditions(), down: conditions()))
  }

  /// - Throws: it was refused, or waits for something.
  func answer<Value: Sendable>(
    _ what: String, _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let result = control.perform { _ -> Result<Value, any Error> in
      do { return .success(try await body()) } catch { return .failure(error) }
    }
    guard let result else { throw Trouble(description: "\(what) is not answered") }
    return try result.get()
  }

  private func open(_ role: TransportRole, _ session: ParticipantSession) throws -> TransportHandle {
    TransportHandle(
      way: .session(session, try answer("a transport") { try await session.openTransport(role) }))
  }

  private func publish(_ participant: Participant) throws {
    guard let transport = participant.handle?.transport else { return }
    let offer = try participant.peer.makeOffer(receivers: 0)
    participant.ledger.note(
      PermissionLedger.Offer(sections: participant.peer.descriptions.offered, stopped: []), id: 1)
    let said = try answer("its offer") { try await transport.offer(offer, tracks: []) }
    try takeAnswer(said.sdp, said.tracks, participant)
  }

  func takeAnswer(
    _ sdp: String, _ tracks: [(mid: String, track: TrackID)], _ participant: Participant
  ) throws {
    for own in tracks {
      books.names[own.track.text] = participant.number
      books.trackOrder[own.track.text] = books.trackOrder.count
    }
    let problems = participant.ledger.noteAnswer(
      1, tracks: Dictionary(tracks.map { ($0.mid, $0.track.text) }, uniquingKeysWith: { first, _ in first }),
      declined: [], now: now)
    for problem in problems { journal.violation(now, "\(participant.number) is answered: \(problem)") }
    try participant.peer.accept(sdp, now: now)
    flush(participant)
  }

  private func play(_ participant: Participant) throws {
    guard let transport = participant.handle?.transport else { return }
    let slots = plan.neighbours
    let offer = try answer("for an offer") { try await transport.makeOffer(audio: slots, video: slots) }
    let text = try participant.peer.answer(offer, now: now)
    let taken = try answer("its answer") { try await transport.accept(text) }
    journal.count(.serverOffer)
    if taken.slots.count != 2 * slots {
      journal.violation(now, "\(participant.number) has \(taken.slots.count) slots instead of \(2 * slots)")
    }
    flush(participant)
  }

  /// It closes its transport; the session goes with the last of them.
  func closeTransport(of participant: Participant, _ handle: TransportHandle) {
    journal.count(.leave)
    journal.trace(now, "\(participant.number) closes its transport")
    participant.presence.leftAt = now
    retire(participant)
    let (name, identity) = (participant.client.room, participant.client.token.identity)
    _ = control.perform { directory in
      switch handle.way {
      case .session(_, let transport): await transport.close()
      case .standalone(let answer, let role):
        try? await directory.close(answer.id, role, in: name, of: identity)
      }
    }
  }

  /// A far end has the keys, and maybe as the last of its session.
  func noteConnected(_ handle: TransportHandle) {
    if handle.siblings.allSatisfy({ participants[$0].connection.connectedAt != .never }) {
      journal.count(.separateTransports)
    }
  }
}
