internal import Engine
internal import Model
internal import Rooms
internal import Signalling
internal import SyntheticPeers

extension Conference {
  /// One of the things that befall a conference, to one participant.
  func somethingHappens() {
    guard let participant = pick() else { return }
    switch random.next() % 29 {
    case 0: rebind(participant, changingWorker: false)
    case 1: rebind(participant, changingWorker: true)
    case 2: changeInterface(participant)
    case 3: cut(participant)
    case 4, 5: restartICE(participant)
    case 6, 7: restartSource(participant)
    case 8: skipNumbers(participant)
    case 9, 10: replace(participant)
    case 11: switchSource(participant)
    case 12: cutInFlight(participant)
    case 13: leaveAndBack(participant)
    case 14: leaveForAWhile(participant)
    case 15: renegotiate(participant)
    case 16: exchange(participant)
    case 17: spoof(participant)
    case 18: hold(participant)
    case 19, 20: changeCodec(participant)
    case 21, 22: mute(participant)
    case 23: one(in: 2) ? cutInFlight(participant) : cutSignalling(participant)
    case 24: exchange(participant)
    case 25: network.setConditions(participant.link, up: conditions(), down: conditions())
    default: requestPicture(participant)
    }
  }

  // MARK: Addresses

  /// A NAT forgets: the peer does not know, and its packets come from elsewhere.
  func rebind(_ participant: Participant, changingWorker: Bool) {
    let worker =
      changingWorker && plan.workers > 1
      ? participant.connection.worker.map { ($0 + 1) % plan.workers } : nil
    let outside = newOutsideAddress(owner: participant.number, worker: worker)
    network.rebind(participant.inside, to: outside)
    journal.trace(now, "\(participant.number) is seen as \(outside)")
    journal.count(.addressChange)
    if !participant.peer.nominatesAgain { journal.count(.unnominatedChange) }
    // Who nominates once is found by its next check: after 6 s at most, 12 if that is lost, 15 if the next is too.
    participant.disturb(from: now, for: participant.peer.nominatesAgain ? 4_000_000_000 : 16_000_000_000)
  }

  /// From one network to another, and the peer knows.
  private func changeInterface(_ participant: Participant) {
    journal.count(.interfaceChange)
    journal.trace(now, "\(participant.number) changes its network")
    let inside = newInsideAddress()
    network.detach(participant.inside)
    network.attach(
      inside, as: newOutsideAddress(owner: participant.number), link: participant.link)
    participant.inside = inside
    participant.peer.move(to: inside)
    participant.disturb(from: now, for: 4_000_000_000)
    flush(participant)
  }

  private func cut(_ participant: Participant) {
    journal.count(.outage)
    let span = Int64.random(in: 100_000_000...1_500_000_000, using: &random)
    journal.trace(now, "\(participant.number) is cut off for \(span / 1_000_000) ms")
    network.setCut(participant.link, true)
    participant.disturb(from: now, for: span + 4_000_000_000)
    after(span) { [unowned self] in network.setCut(participant.link, false) }
  }

  private func restartICE(_ participant: Participant) {
    guard !participant.offering.isNegotiating else { return }
    journal.count(.iceRestart)
    journal.trace(now, "\(participant.number) restarts ICE")
    negotiate(participant, restartsICE: true)
  }

  // MARK: Sources

  private func restartSource(_ participant: Participant) {
    participant.peer.restartSource(
      changingSSRC: !participant.peer.configuration.announcesSSRCs && one(in: 2), now: now)
  }

  /// One of its tracks, once it publishes.
  private func pickTrack(_ participant: Participant) -> String? {
    let kind: MediaKind = one(in: 2) ? .audio : .video
    guard journal.tracks.contains(where: { $0.publisher == participant.number && $0.kind == kind }) else {
      return nil
    }
    return participant.track(kind)
  }

  /// An administrator mutes one of its tracks for a while.
  private func hold(_ participant: Participant) {
    guard let track = pickTrack(participant) else { return }
    journal.count(.trackMuted)
    setAdminMute(of: track, participant, true)
    after(Int64.random(in: 0...1_500_000_000, using: &random)) { [unowned self] in
      setAdminMute(of: track, participant, false)
    }
  }

  /// It holds one of its own tracks for a while.
  private func mute(_ participant: Participant) {
    guard participant.client.isOpen, let track = pickTrack(participant) else { return }
    journal.count(.muted)
    ask(participant, .mute(track, true)) { _ in .mute(.init(track: track, muted: true)) }
    after(Int64.random(in: 0...1_500_000_000, using: &random)) { [unowned self] in
      guard participant.client.end == nil, participant.isPresent else { return }
      ask(participant, .mute(track, false)) { _ in .mute(.init(track: track, muted: false)) }
    }
  }

  private func changeCodec(_ participant: Participant) { participant.peer.changeCodec(now: now) }

  private func skipNumbers(_ participant: Participant) {
    journal.count(.numbersSkipped)
    participant.peer.skipNumbers(Int.random(in: 1...2_500, using: &random), now: now)
  }

  // MARK: Peers

  /// The rooms too: where no message is on its way, what each has by its own bytes is all that there is of it.
  private func replaceRooms() {
    guard !control.isBusy else { return }
    let problem = control.perform { directory -> String? in
      do throws(StateError) {
        try await directory.rebuildRooms()
        return nil
      } catch { return "\(error)" }
    }
    if let problem = problem ?? "it has no end" {
      return journal.violation(now, "a room does not go on from its bytes: \(problem)")
    }
    journal.count(.roomReplacement)
  }

  private func replace(_ participant: Participant) {
    replaceRooms()
    guard let key = participant.key, server.rebuild(key, now: now) else { return }
    journal.count(.replacement)
    journal.trace(now, "\(participant.number) is replaced")
    participant.replacedAt.append(now)
  }

  func replaceAll() { for number in living { replace(participants[number]) } }

  /// Every worker goes on as one that was rebuilt from its state.
  func replaceWorkers() {
    let count = server.rebuildWorkers(now: now)
    journal.count(.workerReplacement, count)
    journal.trace(now, "\(count) workers are replaced")
    guard count > 0 else { return }
    for number in living where participants[number].key != nil { participants[number].replacedAt.append(now) }
  }

  private func renegotiate(_ participant: Participant) {
    guard !participant.offering.isNegotiating, participant.client.isOpen else { return }
    journal.count(.renegotiation)
    journal.trace(now, "\(participant.number) renegotiates")
    negotiate(participant)
  }

  /// One goes, another comes.
  private func exchange(_ participant: Participant) {
    guard mayCome else { return }
    if one(in: 4) { vanish(participant) } else { leave(participant) }
    arrive(room: participant.room)
  }

  /// Its socket breaks while it waits for an answer: on the way there, at the server, or on the way back.
  private func cutInFlight(_ participant: Participant) {
    switch random.next() % 3 {
    case 0: renegotiate(participant)
    case 1: mute(participant)
    default: leaveAndBack(participant)
    }
    after(Int64.random(in: 0...100_000_000, using: &random)) { [unowned self] in cutSignalling(participant) }
  }

  // MARK: Subscriptions

  /// A slot that shows something, and what.
  private func pickSlot(_ participant: Participant) -> (mid: String, track: String)? {
    guard participant.client.isOpen else { return nil }
    let slots = participant.client.picture.slots.sorted { $0.key < $1.key }
    guard !slots.isEmpty else { return nil }
    let slot = slots[Int(random.next() % UInt64(slots.count))]
    return (slot.key, slot.value)
  }

  /// It wants something in another slot than where it is.
  private func switchSource(_ participant: Participant) {
    guard let first = pickSlot(participant), let second = pickSlot(participant), first.mid != second.mid,
      kind(of: first.mid, participant) == kind(of: second.mid, participant)
    else { return }
    journal.count(.sourceSwitch)
    subscribe(participant, first.track, mid: second.mid)
    subscribe(participant, second.track, mid: first.mid)
  }

  private func kind(of mid: String, _ participant: Participant) -> MediaKind? {
    participant.media.send.first { $0.mid == mid }?.kind
  }

  private func subscribe(_ participant: Participant, _ track: String, mid: String? = nil) {
    ask(participant, .subscribe(track)) { _ in .subscribe(.init(track: track, mid: mid)) }
  }

  private func unsubscribe(_ participant: Participant, _ track: String) {
    journal.count(.unsubscription)
    ask(participant, .unsubscribe(track)) { _ in .unsubscribe(.init(track: track)) }
  }

  /// Unsubscribed and subscribed again, before anybody could notice.
  private func leaveAndBack(_ participant: Participant) {
    guard let slot = pickSlot(participant) else { return }
    unsubscribe(participant, slot.track)
    subscribe(participant, slot.track)
  }

  private func leaveForAWhile(_ participant: Participant) {
    guard let slot = pickSlot(participant) else { return }
    unsubscribe(participant, slot.track)
    after(Int64.random(in: 0...1_500_000_000, using: &random)) { [unowned self] in
      guard participant.isPresent, participant.client.end == nil else { return }
      subscribe(participant, slot.track)
    }
  }

  private func requestPicture(_ participant: Participant) {
    participant.peer.requestPictures()
    participant.peer.poll(now: now)
    flush(participant)
  }

  // MARK: Strangers

  /// A check that was overheard comes once more, from the address of a victim that never answers.
  private func spoof(_ participant: Participant) {
    guard
      let check = addresses.lastChecks.last(where: { addresses.owners[$0.path.remote] == participant.number })
    else { return }
    journal.count(.spoofedCheck)
    let victim = newOutsideAddress(owner: participant.number)
    network.send(
      check.bytes, path: NetworkPath(remote: Self.serverAddress, local: victim), now: now)
  }
}
