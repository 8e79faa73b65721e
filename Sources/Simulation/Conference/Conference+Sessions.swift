internal import AccessTokens
internal import Model
internal import Rooms
internal import Signalling
internal import SyntheticPeers

/// How sessions are cut off, taken up again, and ended.
extension Conference {
  // MARK: - Going

  func leave(_ participant: Participant) {
    guard participant.isPresent, participant.client.end == nil else { return }
    if let handle = participant.handle { return closeTransport(of: participant, handle) }
    guard participant.client.isOpen else { return vanish(participant) }
    journal.count(.leave)
    journal.trace(now, "\(participant.number) leaves")
    participant.presence.mayEnd.insert("left")
    participant.presence.leftAt = now
    ask(participant, .leave) { _ in .leave }
    retire(participant)
  }

  /// It is gone without a word; the server finds out by itself, by the socket or by the silence.
  func vanish(_ participant: Participant) {
    guard participant.isPresent, participant.client.end == nil else { return }
    journal.count(.vanish)
    journal.trace(now, "\(participant.number) vanishes")
    participant.presence.mayEnd.insert("connectionLost")
    participant.presence.vanishedAt = now
    participant.presence.leftAt = now
    retire(participant)
    breakSocket(
      participant, hearsAfter: one(in: 2) ? Int64.random(in: 0...3_000_000_000, using: &random) : nil)
  }

  /// Its far end falls silent for good.
  func retire(_ participant: Participant) {
    participant.peer.close()
    living.removeAll { $0 == participant.number }
    network.detach(participant.inside)
  }

  // MARK: - Signalling cut and resumed

  /// - Parameter hearsAfter: when the server hears of it; nil: never.
  private func breakSocket(_ participant: Participant, hearsAfter: Int64?) {
    guard let record = record(of: participant) else { return }
    record.isBroken = true
    record.losesWhatWasSent = one(in: 2)
    participant.client.disconnect()
    guard let hearsAfter else { return }
    after(hearsAfter) { [unowned self] in hangUp(record) }
  }

  /// The socket breaks at a moment when anything may be on its way, and the client comes back by another one; which may
  /// break as well, before anything was heard on it.
  func cutSignalling(_ participant: Participant, isLong: Bool = false) {
    guard participant.client.isOpen, participant.client.end == nil, participant.isPresent,
      !participant.presence.isAway
    else { return }
    journal.count(.signallingCut)
    journal.trace(now, "the socket of \(participant.number) breaks")
    participant.presence.isAway = true
    if !participant.client.pending.isEmpty { journal.count(.requestInFlight) }
    if isLong {
      participant.presence.mayEnd.insert("connectionLost")
      breakSocket(participant, hearsAfter: 0)
      let away = ControlPlane.grace.wholeNanoseconds + 1_000_000_000
      after(away) { [unowned self] in comeBack(participant) }
      return
    }
    // It may come back before the server knows that it had gone.
    breakSocket(participant, hearsAfter: Int64.random(in: 0...2_000_000_000, using: &random))
    let isTwice = one(in: 3)
    after(Int64.random(in: 10_000_000...1_500_000_000, using: &random)) { [unowned self] in
      comeBack(participant)
      guard isTwice else { return }
      after(Int64.random(in: 0...150_000_000, using: &random)) { [unowned self] in
        guard participant.client.end == nil, participant.client.socket != nil else { return }
        journal.count(.signallingCutTwice)
        journal.trace(now, "the new socket of \(participant.number) breaks")
        participant.presence.isAway = true
        // Within the time for which the door waits for the end of a socket.
        breakSocket(participant, hearsAfter: Int64.random(in: 0...600_000_000, using: &random))
        after(Int64.random(in: 10_000_000...400_000_000, using: &random)) { [unowned self] in
          comeBack(participant)
        }
      }
    }
  }

  private func comeBack(_ participant: Participant) {
    guard participant.client.end == nil, participant.client.socket == nil,
      participant.presence.vanishedAt == .never
    else { return }
    if let last = lastRecord(of: participant), !last.hasHungUp { journal.count(.socketReplaced) }
    journal.trace(now, "\(participant.number) comes back")
    connect(participant)
  }

  private func lastRecord(of participant: Participant) -> SocketRecord? {
    books.sockets.values.filter { $0.participant === participant }.max { $0.socket.number < $1.socket.number }
  }

  // MARK: - Ended by others

  /// A participant comes under the identity of one that is in.
  func replaceIdentity(_ participant: Participant) {
    guard mayCome, participant.client.hasJoined else { return }
    arrive(room: participant.room, identity: participant.client.token.identity)
  }

  /// An administrator removes a participant, which comes again with the same token, in vain.
  func remove(_ participant: Participant) {
    guard mayCome, participant.client.hasJoined else { return }
    journal.count(.removed)
    journal.trace(now, "\(participant.number) is removed")
    participant.presence.mayEnd.insert("removed")
    let (room, token) = (participant.room, participant.client.token)
    let name = Self.roomName(room)
    let isDone = control.perform { directory in
      (try? await directory.remove(token.identity, from: name)) != nil
    }
    guard isDone == true else { return }
    noteRemoval(of: token.identity, from: name)
    after(signallingDelay() + 500_000_000) { [unowned self] in
      knock(room: room, token: token, refusal: "token-removed")
    }
    arrive(room: room)
  }

  /// It has been answered: no token of until now opens that room.
  func noteRemoval(of identity: String, from room: String) {
    books.removals[RemovedIdentity(room: room, identity: identity)] = (now, SimulatedToken.seconds(now))
  }

  /// Others may take the places of those who go, not without end.
  var mayCome: Bool { !isEnding && participants.count < plan.peers * 2 }

  // MARK: - The end

  /// Waits until nothing of the control plane is on its way, and compares what everybody believes.
  func settle() {
    for _ in 0..<40 {
      run(until: now + .milliseconds(250))
      let isSettled = participants.allSatisfy { participant in
        participant.client.end != nil || !participant.isPresent || participant.handle != nil
          || (participant.client.isOpen && participant.client.pending.isEmpty)
      }
      if isSettled, books.messagesInFlight == 0, comparePictures() { return }
    }
    journal.violation(now, "clients and rooms do not become quiet")
  }

  /// Ends everything, in the way that the plan has.
  func end() {
    isEnding = true
    switch plan.ending {
    case .leaving: for number in living { leave(participants[number]) }
    case .drain: drain()
    case .roomsClosed: closeRooms()
    }
    runServer()
    run(until: now + .seconds(3))
    // A participant that vanished is given up when consent ends, or when media has been silent for too long.
    for _ in 0..<16 where control.directory.remainders.sessions + control.directory.remainders.peers > 0 {
      run(until: now + .milliseconds(2_500))
    }
    // Rooms wait a while for participants to come, and look once more at those that are away.
    run(until: now + .seconds(Int64(ControlPlane.departureTimeout)) + .seconds(11))
  }

  private func closeRooms() {
    for participant in participants { participant.presence.mayEnd.insert("roomClosed") }
    for room in 0..<plan.rooms {
      let name = Self.roomName(room)
      journal.count(.roomClosed)
      _ = control.perform { directory in try? await directory.close(room: name) }
    }
  }

  /// As the process does when it is to stop: none new, a time to leave, and then all go.
  private func drain() {
    journal.count(.drain)
    journal.trace(now, "the server drains")
    for participant in participants { participant.presence.mayEnd.insert("serverShutdown") }
    _ = control.perform { directory in await directory.drain(for: .seconds(2)) }
    knock(
      room: 0, token: SimulatedToken(identity: "latecomer", issued: SimulatedToken.seconds(now)),
      refusal: "unavailable")
    for number in living.prefix(living.count / 2) {
      after(Int64.random(in: 0...1_500_000_000, using: &random)) { [unowned self] in
        leave(participants[number])
      }
    }
    // Who is in may come back meanwhile, and hears that the server stops.
    let cut = living.last.map { participants[$0] }
    if let cut { cutSignalling(cut) }
    run(until: now + .seconds(2))
    for participant in participants
    where participant.client.isOpen && !participant.client.isDraining && participant !== cut {
      journal.violation(now, "\(participant.number) did not hear that the server stops")
    }
    if !control.directory.isDraining { journal.violation(now, "the server does not drain") }
    let left = control.directory.remainders.sessions
    if left > 0 { journal.count(.drainDeadline) }
    _ = control.perform { directory in
      await directory.close()
      await directory.waitUntilEmpty()
    }
    runServer()
    if control.directory.counts.participants != 0 {
      journal.violation(now, "somebody is in after the server has closed its rooms")
    }
  }
}
