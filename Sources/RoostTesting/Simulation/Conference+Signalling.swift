internal import Crypto
internal import Engine
internal import ICE
internal import Model
internal import Negotiation
internal import Peer
internal import Wire

extension Conference {
  /// Time that a message of the control plane takes.
  private func signallingDelay() -> Int64 { Int64.random(in: 5_000_000...60_000_000, using: &random) }

  // MARK: Coming

  /// A new participant offers, is answered, and is subscribed to everybody, as everybody is to it.
  @discardableResult
  func join(_ configuration: SyntheticPeer.Configuration, up: LinkConditions, down: LinkConditions)
    -> Participant?
  {
    let inside = newInsideAddress()
    let outside = newOutsideAddress(owner: configuration.number)
    let link = network.addLink(up: up, down: down)
    network.attach(inside, as: outside, link: link)
    let start = VirtualClock.wallTimeAtZero / 1_000_000_000
    do {
      var ice = ControllingAgent.Configuration()
      ice.isAggressive = random.next() % 2 == 0
      let habits = random.next()
      ice.sendsNominationValue = habits & 1 == 0
      ice.nominatesAnew = habits & 6 != 0
      let certificate = try DTLSCertificate(notBefore: start - 86_400, notAfter: start + 86_400 * 30)
      let profiles: [SRTPProfile] =
        [SRTPProfile.preferred, [.aeadAES128GCM], [.aes128CMSHA1_80], [.aeadAES256GCM]][
          Int(random.next() % 4)]
      let peer = SyntheticPeer(
        configuration, address: inside,
        dtls: try DTLSContext(certificate: certificate, profiles: profiles), ice: ice, journal: journal,
        now: now, random: .seeded(state: random.next()))
      let key = PeerKey(home: Int(random.next() % UInt64(options.workers)), serial: nextSerial)
      nextSerial += 1
      let participant = Participant(peer: peer, key: key, link: link, inside: inside, now: now)
      precondition(participants.count == configuration.number)
      participants.append(participant)
      living.append(participant.number)
      byKey[key] = participant.number
      peer.mayReceive = { [unowned participant] slot, publisher, moment in
        participant.isFed(UInt16(slot), by: publisher, at: moment)
      }
      peer.onSenderReport = { [unowned self, unowned participant] stream, report in
        checkLipSync(participant, stream, report)
      }
      journal.count(.join)
      journal.trace(
        now,
        "\(configuration.number) joins, home \(key.home)\(ice.isAggressive ? ", aggressive" : "")\(ice.nominatesAnew ? "" : ", nominating once")\(configuration.dialect.acceptsRTX ? "" : ", no RTX")\(configuration.announcesSSRCs ? "" : ", SSRCs unannounced")\(configuration.waitsForHandshake ? ", DTLS server" : "")"
      )
      negotiate(participant)
      return participant
    } catch {
      journal.violation(now, "peer \(configuration.number) can't be made: \(error)")
      return nil
    }
  }

  private func newInsideAddress() -> SocketAddress {
    defer { nextHost += 1 }
    return SocketAddress(
      ipv4: 10, 0, UInt8(nextHost >> 8 & 255), UInt8(nextHost & 255), port: UInt16(40_000 + nextHost % 20_000)
    )
  }

  /// An outside address that was never used; on a worker of choice if one is given.
  func newOutsideAddress(owner: Int, worker: Int? = nil) -> SocketAddress {
    while true {
      let address = SocketAddress(
        ipv4: 198, 51, 100, UInt8(truncatingIfNeeded: random.next() % 250 + 1),
        port: UInt16(1_024 + random.next() % 60_000))
      guard owners[address] == nil else { continue }
      let path = NetworkPath(remote: address, local: Self.serverAddress)
      if let worker, server.worker(of: path) != worker { continue }
      owners[address] = owner
      return address
    }
  }

  func newInsideAddress(for participant: Participant) -> SocketAddress { newInsideAddress() }

  // MARK: Descriptions

  /// Offer and answer, each as text and each on its way for a while.
  func negotiate(_ participant: Participant, restartsICE: Bool = false, receivers: Int? = nil) {
    guard !participant.isNegotiating else { return }
    participant.isNegotiating = true
    do {
      let offer = try participant.peer.makeOffer(restartsICE: restartsICE, receivers: receivers)
      after(signallingDelay()) { [unowned self] in answer(participant, offer) }
    } catch {
      journal.violation(now, "peer \(participant.number) can't offer: \(error)")
    }
  }

  private func answer(_ participant: Participant, _ text: String) {
    guard participant.isPresent else { return }
    let isNew = participant.negotiator.remote == nil
    let local = LocalTransport(
      credentials: .generate(homeWorker: participant.key.home, random: &random),
      fingerprint: serverContext.certificate.fingerprint(.sha256), candidates: [Self.serverAddress])
    do {
      let offer = try SessionDescription(parsing: text)
      let answer = try participant.negotiator.answer(to: offer, local: local, random: &random)
      guard let transport = answer.agreement.transport else {
        return journal.violation(now, "the answer to \(participant.number) has no transport")
      }
      participant.media = answer.agreement.media
      for section in participant.media.send {
        participant.announced.formUnion([section.ssrc] + (section.rtxSSRC.map { [$0] } ?? []))
      }
      if isNew {
        server.bridge.post(
          .add(
            PeerSetup(
              key: participant.key, local: transport.localCredentials, remote: transport.remote,
              media: participant.media, verification: .always,
              reportSSRC: UInt32(truncatingIfNeeded: random.next()) | 1, createdAt: now)))
      } else {
        server.bridge.post(.apply(participant.key, participant.media))
        if transport.restartsICE {
          server.bridge.post(
            .restartICE(
              participant.key, local: transport.localCredentials, remote: transport.remote.credentials))
        }
      }
      openPairs(participant)
      if isNew { subscribeAll(participant) } else { fillPairs(participant) }
      let reply = answer.sdp
      after(signallingDelay()) { [unowned self] in accept(participant, reply) }
    } catch {
      journal.violation(now, "the offer of \(participant.number) can't be answered: \(error)")
    }
  }

  private func accept(_ participant: Participant, _ text: String) {
    participant.isNegotiating = false
    guard participant.isPresent else { return }
    do {
      try participant.peer.accept(text, now: now)
    } catch {
      journal.violation(now, "peer \(participant.number) can't take the answer: \(error)")
    }
    flush(participant)
  }

  // MARK: Subscriptions

  /// Slots come in pairs, told by their stream.
  private func openPairs(_ participant: Participant) {
    for section in participant.media.send {
      let isKnown = participant.pairs.contains { $0.audio == section.index || $0.video == section.index }
      guard !isKnown else { continue }
      let partner = participant.pairs.firstIndex { pair in
        let known = section.kind == .audio ? pair.video : pair.audio
        let free = section.kind == .audio ? pair.audio == nil : pair.video == nil
        guard free, let known else { return false }
        return participant.media.send.first { $0.index == known }?.streamID == section.streamID
      }
      let place = partner ?? participant.pairs.count
      if partner == nil { participant.pairs.append(Participant.Pair()) }
      if section.kind == .audio {
        participant.pairs[place].audio = section.index
      } else {
        participant.pairs[place].video = section.index
      }
    }
  }

  private func subscribeAll(_ newcomer: Participant) {
    fillPairs(newcomer)
    for other in participants where other !== newcomer && other.isPresent && !other.pairs.isEmpty {
      if let free = other.pairs.firstIndex(where: { $0.publisher == nil }) {
        assign(other, pair: free, to: newcomer.number)
      }
    }
  }

  /// Free pairs get whoever isn't heard yet.
  func fillPairs(_ participant: Participant) {
    for other in participants
    where other !== participant && other.isPresent && !other.media.receive.isEmpty {
      guard !participant.pairs.contains(where: { $0.publisher == other.number }),
        let free = participant.pairs.firstIndex(where: { $0.publisher == nil })
      else { continue }
      assign(participant, pair: free, to: other.number)
    }
  }

  /// Feeds a pair of slots from another participant, or from nobody.
  func assign(_ subscriber: Participant, pair index: Int, to publisher: Int?) {
    subscriber.pairs[index].publisher = publisher
    let source = publisher.map { participants[$0] }
    for (slot, kind) in [
      (subscriber.pairs[index].audio, MediaKind.audio), (subscriber.pairs[index].video, .video),
    ] {
      guard let slot else { continue }
      let track = source?.track(kind)
      server.bridge.post(.assign(subscriber.key, slot: slot, track))
      subscriber.noteFeed(slot, track == nil ? nil : publisher, now: now)
      journal.trace(
        now, "slot \(slot) of \(subscriber.number) gets \(publisher.map { "\(kind) of \($0)" } ?? "nothing")")
    }
  }

  /// The publisher is gone: whoever had it has a free pair.
  func endFeeds(of publisher: Int) {
    for subscriber in participants {
      for index in subscriber.pairs.indices where subscriber.pairs[index].publisher == publisher {
        subscriber.pairs[index].publisher = nil
        for slot in [subscriber.pairs[index].audio, subscriber.pairs[index].video] {
          if let slot { subscriber.noteFeed(slot, nil, now: now) }
        }
      }
    }
  }

  // MARK: Going

  func leave(_ participant: Participant) {
    guard participant.isPresent else { return }
    journal.count(.leave)
    journal.trace(now, "\(participant.number) leaves")
    participant.leftAt = now
    server.bridge.post(.close(participant.key))
    participant.peer.close()
    retire(participant)
  }

  /// It is gone without a word; the server finds out by itself.
  func vanish(_ participant: Participant) {
    guard participant.isPresent else { return }
    journal.count(.vanish)
    journal.trace(now, "\(participant.number) vanishes")
    participant.leftAt = now
    participant.peer.close()
    retire(participant)
  }

  private func retire(_ participant: Participant) {
    living.removeAll { $0 == participant.number }
    network.detach(participant.inside)
  }
}
