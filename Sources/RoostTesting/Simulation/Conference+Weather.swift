internal import Engine
internal import Model

extension Conference {
  /// One of the things that befall a conference, to somebody.
  func somethingHappens() {
    guard let participant = pick() else { return }
    switch random.next() % 24 {
    case 0: rebind(participant, changingWorker: false)
    case 1: rebind(participant, changingWorker: true)
    case 2: changeInterface(participant)
    case 3: cut(participant)
    case 4, 5: restartICE(participant)
    case 6, 7: restartSource(participant)
    case 8: skipNumbers(participant)
    case 9, 10: replace(participant)
    case 11: switchSource(participant)
    case 12: showSpeaker(participant)
    case 13: leaveAndBack(participant)
    case 14: leaveForAWhile(participant)
    case 15: renegotiate(participant)
    case 16: exchange(participant)
    case 17: spoof(participant)
    case 18: hold(participant)
    case 19, 20: changeCodec(participant)
    case 21: network.setConditions(participant.link, up: conditions(), down: conditions())
    default: requestPicture(participant)
    }
  }

  // MARK: Addresses

  /// A NAT forgets: the peer does not know, and its packets come from elsewhere.
  func rebind(_ participant: Participant, changingWorker: Bool) {
    let worker =
      changingWorker && options.workers > 1
      ? participant.worker.map { ($0 + 1) % options.workers } : nil
    let outside = newOutsideAddress(owner: participant.number, worker: worker)
    network.rebind(participant.inside, to: outside)
    journal.trace(now, "\(participant.number) is seen as \(outside)")
    journal.count(.addressChange)
    if !participant.peer.nominatesAnew { journal.count(.unnominatedChange) }
    // Who nominates once is found by its next check: after 6 s at most, 12 if that is lost, 15 if the next is too.
    participant.disturb(from: now, for: participant.peer.nominatesAnew ? 4_000_000_000 : 16_000_000_000)
  }

  /// From one network to another, and the peer knows.
  private func changeInterface(_ participant: Participant) {
    journal.count(.interfaceChange)
    journal.trace(now, "\(participant.number) changes its network")
    let inside = newInsideAddress(for: participant)
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
    guard !participant.isNegotiating else { return }
    journal.count(.iceRestart)
    journal.trace(now, "\(participant.number) restarts ICE")
    negotiate(participant, restartsICE: true)
  }

  // MARK: Sources

  private func restartSource(_ participant: Participant) {
    participant.peer.restartSource(
      changingSSRC: !participant.peer.configuration.announcesSSRCs && one(in: 2), now: now)
  }

  /// The control plane holds one of its tracks for a while.
  private func hold(_ participant: Participant) {
    let kind: MediaKind = one(in: 2) ? .audio : .video
    guard let key = participant.track(kind),
      let track = journal.tracks.first(where: {
        $0.publisher == participant.number && $0.index == Int(key.index)
      }), !track.isHeld
    else { return }
    journal.count(.trackHeld)
    journal.trace(now, "\(track.name) is held")
    server.bridge.post(.mute(key, true))
    track.noteHold(now: now)
    after(Int64.random(in: 0...1_500_000_000, using: &random)) { [unowned self] in
      journal.trace(now, "\(track.name) flows again")
      server.bridge.post(.mute(key, false))
      track.noteHold(now: now)
    }
  }

  private func changeCodec(_ participant: Participant) { participant.peer.changeCodec(now: now) }

  private func skipNumbers(_ participant: Participant) {
    journal.count(.numbersSkipped)
    participant.peer.skipNumbers(Int.random(in: 1...2_500, using: &random), now: now)
  }

  // MARK: Peers

  private func replace(_ participant: Participant) {
    guard server.rebuild(participant.key, now: now) else { return }
    journal.count(.replacement)
    journal.trace(now, "\(participant.number) is replaced")
    participant.replacedAt.append(now)
  }

  func replaceAll() { for number in living { replace(participants[number]) } }

  private func renegotiate(_ participant: Participant) {
    guard !participant.isNegotiating else { return }
    journal.count(.renegotiation)
    journal.trace(now, "\(participant.number) renegotiates")
    negotiate(participant, receivers: max(options.peers - 1, participant.pairs.count))
  }

  /// One goes, another comes.
  private func exchange(_ participant: Participant) {
    guard participants.count < options.peers * 2 else { return }
    if one(in: 4) { vanish(participant) } else { leave(participant) }
    arrive()
  }

  // MARK: Subscriptions

  private func pickPair(_ participant: Participant) -> Int? {
    let used = participant.pairs.indices.filter { participant.pairs[$0].publisher != nil }
    return used.isEmpty ? nil : used[Int(random.next() % UInt64(used.count))]
  }

  /// Two pairs exchange their publishers.
  private func switchSource(_ participant: Participant) {
    guard let first = pickPair(participant), let second = pickPair(participant), first != second else {
      return
    }
    journal.count(.sourceSwitch)
    let publishers = (participant.pairs[first].publisher, participant.pairs[second].publisher)
    assign(participant, pair: first, to: publishers.1)
    assign(participant, pair: second, to: publishers.0)
  }

  /// The first pair gets whoever is the loudest, as the media plane hears it.
  private func showSpeaker(_ participant: Participant) {
    let voices = server.bridge.levels().filter {
      $0.value.attenuation != nil && $0.key.peer != participant.key
    }
    let loudest = voices.min { a, b in
      (a.value.attenuation ?? 127, a.key.peer.rawValue) < (b.value.attenuation ?? 127, b.key.peer.rawValue)
    }
    guard let number = loudest.flatMap({ byKey[$0.key.peer] }), participants[number].isPresent,
      let first = participant.pairs.first, first.publisher != number
    else { return }
    journal.count(.speakerSwitch)
    let other = participant.pairs.firstIndex { $0.publisher == number }
    assign(participant, pair: 0, to: number)
    if let other { assign(participant, pair: other, to: first.publisher) }
  }

  /// Unsubscribed and subscribed again, before anybody could notice.
  private func leaveAndBack(_ participant: Participant) {
    guard let pair = pickPair(participant), let publisher = participant.pairs[pair].publisher else { return }
    journal.count(.unsubscription)
    assign(participant, pair: pair, to: nil)
    assign(participant, pair: pair, to: publisher)
  }

  private func leaveForAWhile(_ participant: Participant) {
    guard let pair = pickPair(participant), let publisher = participant.pairs[pair].publisher else { return }
    journal.count(.unsubscription)
    assign(participant, pair: pair, to: nil)
    after(Int64.random(in: 0...1_500_000_000, using: &random)) { [unowned self] in
      guard participant.isPresent, participant.pairs[pair].publisher == nil,
        participants[publisher].isPresent,
        !participant.pairs.contains(where: { $0.publisher == publisher })
      else { return }
      assign(participant, pair: pair, to: publisher)
    }
  }

  private func requestPicture(_ participant: Participant) {
    participant.peer.requestPictures()
    participant.peer.poll(now: now)
    flush(participant)
  }

  // MARK: Strangers

  /// A check that somebody overheard comes once more, from the address of a victim that never answers.
  private func spoof(_ participant: Participant) {
    guard let check = lastChecks.last(where: { owners[$0.path.remote] == participant.number }) else { return }
    journal.count(.spoofedCheck)
    let victim = newOutsideAddress(owner: participant.number)
    network.send(
      check.bytes, path: NetworkPath(remote: Self.serverAddress, local: victim), now: now)
  }
}
