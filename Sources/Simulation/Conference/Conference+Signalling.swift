internal import Crypto
internal import ICE
internal import Model
internal import Signalling
internal import SyntheticPeers

/// Clients of the native door, and the cables between them and the server.
extension Conference {
  /// Time that a message of the control plane takes.
  func signallingDelay() -> Int64 { Int64.random(in: 5_000_000...60_000_000, using: &random) }

  static func roomName(_ room: Int) -> String { "room-\(room)" }

  // MARK: - Coming

  /// A new participant comes to the door, and offers once it is in.
  /// - Parameters:
  ///   - identity: nil: one of its own.
  ///   - allowance: what its token grants.
  func join(
    _ configuration: PeerConfiguration, room: Int, identity: String? = nil,
    allowance: Allowance = Allowance(), up: LinkConditions, down: LinkConditions
  ) -> Participant? {
    do {
      let token = SimulatedToken(
        identity: identity ?? "person-\(configuration.number)", issued: SimulatedToken.seconds(now),
        allowance: allowance)
      let participant = try addFarEnd(configuration, room: room, token: token, up: up, down: down)
      // Who is gone, or about to be, is in for the room as long as its session lasts.
      for other in participants
      where other !== participant && other.room == room && other.client.token.identity == token.identity
        && (other.isPresent || other.key != nil && !other.presence.hasEnded)
      {
        journal.count(.duplicateIdentity)
        other.presence.mayEnd.insert("duplicateIdentity")
      }
      journal.count(.join)
      if participants.contains(where: { $0.room != room && $0.isPresent }) { journal.count(.otherRoom) }
      let habits = [
        configuration.dialect.acceptsRTX ? "" : ", no RTX",
        configuration.announcesSSRCs ? "" : ", SSRCs unannounced",
        configuration.waitsForHandshake ? ", DTLS server" : "",
      ]
      journal.trace(
        now, "\(configuration.number) joins \(Self.roomName(room)) as \(token.identity)\(habits.joined())")
      connect(participant)
      return participant
    } catch {
      journal.violation(now, "peer \(configuration.number) can't be made: \(error)")
      return nil
    }
  }

  /// A far end on a network of its own, which has said nothing yet.
  func addFarEnd(
    _ configuration: PeerConfiguration, room: Int, token: SimulatedToken, up: LinkConditions,
    down: LinkConditions
  ) throws -> Participant {
    let inside = newInsideAddress()
    let outside = newOutsideAddress(owner: configuration.number)
    let link = network.addLink(up: up, down: down)
    network.attach(inside, as: outside, link: link)
    let start = VirtualClock.wallTimeAtZero / 1_000_000_000
    var ice = ControllingAgent.Configuration()
    ice.isAggressive = random.next() % 2 == 0
    let habits = random.next()
    ice.sendsNominationValue = habits & 1 == 0
    ice.nominatesAgain = habits & 6 != 0
    let certificate = try DTLSCertificate(notBefore: start - 86_400, notAfter: start + 86_400 * 30)
    let profiles: [SRTPProfile] =
      [SRTPProfile.preferred, [.aeadAES128GCM], [.aes128CMSHA1_80], [.aeadAES256GCM]][
        Int(random.next() % 4)]
    let peer = SyntheticPeer(
      configuration, address: inside,
      dtls: try DTLSContext(certificate: certificate, profiles: profiles), ice: ice, journal: journal,
      now: now, random: .seeded(state: random.next()))
    let participant = Participant(
      peer: peer, client: RoomClient(room: Self.roomName(room), token: token), room: room, link: link,
      inside: inside, now: now)
    precondition(participants.count == configuration.number)
    participants.append(participant)
    living.append(participant.number)
    peer.judge = { [unowned self, unowned participant] slot, stamp, moment in
      judge(stamp, to: participant, UInt16(slot), moment)
    }
    peer.onSenderReport = { [unowned self, unowned participant] stream, report in
      checkLipSync(participant, stream, report)
    }
    journal.trace(
      now,
      "\(configuration.number) is \(ice.isAggressive ? "aggressive" : "regular")\(ice.nominatesAgain ? "" : ", nominating once")"
    )
    return participant
  }

  /// A packet may come in a slot if the room put its track there, it is of the same room, the subscriber hasn't given
  /// it up, and it is allowed.
  /// - Parameter moment: when the server sent it.
  private func judge(_ stamp: PayloadStamp, to subscriber: Participant, _ slot: UInt16, _ moment: Instant)
    -> String?
  {
    let name = TrackName(Int(stamp.publisher), Int(stamp.track))
    let publisher = participants[name.publisher]
    guard publisher.room == subscriber.room, subscriber.isFed(slot, by: name, at: moment) else {
      return "a packet of \(name.publisher), to whom it is not subscribed, in slot \(slot)"
    }
    if !subscriber.client.unsubscribed.isEmpty, let ssrc = journal.track(name)?.runs.first?.ssrc,
      let track = publisher.ledger.publications[ssrc]?.track,
      let since = subscriber.client.unsubscribed[track], moment > since,
      subscriber.ledger.preferences[track] == false
    {
      return "a packet of \(name.publisher), whose track it gave up, in slot \(slot)"
    }
    return problem(with: stamp, to: subscriber, departed: moment)
  }

  // MARK: - Addresses

  func newInsideAddress() -> SocketAddress {
    defer { addresses.nextHost += 1 }
    return SocketAddress(
      ipv4: 10, 0, UInt8(addresses.nextHost >> 8 & 255), UInt8(addresses.nextHost & 255),
      port: UInt16(40_000 + addresses.nextHost % 20_000)
    )
  }

  /// An outside address that was never used; on a worker of choice if one is given.
  func newOutsideAddress(owner: Int, worker: Int? = nil) -> SocketAddress {
    while true {
      let address = SocketAddress(
        ipv4: 198, 51, 100, UInt8(truncatingIfNeeded: random.next() % 250 + 1),
        port: UInt16(1_024 + random.next() % 60_000))
      guard addresses.owners[address] == nil else { continue }
      let path = NetworkPath(remote: address, local: Self.serverAddress)
      if let worker, server.worker(of: path) != worker { continue }
      addresses.owners[address] = owner
      return address
    }
  }

  // MARK: - Sockets

  /// A WebSocket for a participant, the first or another one.
  func connect(_ participant: Participant) {
    open(
      SocketRecord(
        control.open(room: participant.client.room), client: participant.client, participant: participant))
  }

  /// A client that isn't to be let in.
  func knock(room: Int, token: SimulatedToken, refusal: String) {
    let name = Self.roomName(room)
    let client = RoomClient(room: name, token: token)
    open(SocketRecord(control.open(room: name), client: client, participant: nil, refusal: refusal))
  }

  private func open(_ record: SocketRecord) {
    books.sockets[record.socket.number] = record
    say(record.client.connect(record.socket), on: record)
  }

  /// Asks for something, now or once there is a socket that serves.
  func ask(
    _ participant: Participant, _ kind: RoomClient.Request.Kind,
    _ content: (_ id: Int) -> ClientMessage.Content
  ) {
    let request = participant.client.ask(kind, content)
    guard participant.client.isOpen, let record = record(of: participant) else { return }
    say(request, on: record)
  }

  func record(of participant: Participant) -> SocketRecord? {
    participant.client.socket.flatMap { books.sockets[$0.number] }
  }

  func say(_ request: RoomClient.Request, on record: SocketRecord) {
    guard !record.isBroken else { return }
    let delay = signallingDelay()
    record.upUntil = max(now.advanced(byNanoseconds: delay), record.upUntil.advanced(byNanoseconds: 1))
    books.messagesInFlight += 1
    schedule.add(at: record.upUntil) { [unowned self] in
      books.messagesInFlight -= 1
      guard !record.hasHungUp, !record.isBroken || !record.losesWhatWasSent else { return }
      record.hasEntered = true
      if let participant = record.participant { noteHeard(request, by: participant) }
      record.socket.receive(request.text)
    }
  }

  /// What the server has said on all sockets goes on its way.
  func takeMessages() {
    let entries = control.outbox.take()
    // All of a moment's words first, since what is said to one may be about what another hears.
    for entry in entries {
      if case .text(let text) = entry.content, let record = books.sockets[entry.socket] {
        noteSaid(text, record)
      }
    }
    for entry in entries {
      guard let record = books.sockets[entry.socket] else { continue }
      switch entry.content {
      case .text(let text):
        digest.add(text, socket: entry.socket, now: now)
        judge(text, to: record)
        if RoomClient.isSample(text) {
          noteStream(text, to: record)
          continue
        }
      case .close(let code): record.closeCode = code
      }
      guard !record.isBroken else { continue }
      let delay = signallingDelay()
      record.downUntil = max(
        now.advanced(byNanoseconds: delay), record.downUntil.advanced(byNanoseconds: 1))
      books.messagesInFlight += 1
      schedule.add(at: record.downUntil) { [unowned self] in
        books.messagesInFlight -= 1
        guard !record.isBroken else { return }
        switch entry.content {
        case .text(let text): hear(text, record)
        case .close(let code): hearClose(code, record)
        }
      }
    }
  }

  /// Seen at the server's door, whether it arrives or not.
  private func noteSaid(_ text: String, _ record: SocketRecord) {
    guard let participant = record.participant else { return }
    if text.hasSuffix(#""type":"closed"}"#) { record.closedMessages += 1 }
    if text.hasSuffix(#""type":"publish"}"#),
      case .publish(let message)? = try? ServerMessage(json: text).content
    {
      notePublish(message, to: participant)
      if !record.isBroken { noteCodecs(message) }
    }
    if text.hasSuffix(#""type":"joined"}"#) || text.hasSuffix(#""type":"resumed"}"#), !record.isBroken {
      noteServed(participant)
    }
    if text.hasSuffix(#""type":"resumed"}"#) {
      if let since = participant.presence.awaySince, now - since > ControlPlane.grace + .milliseconds(600) {
        journal.violation(now, "\(participant.number) comes back \(now - since) after its socket had gone")
      }
      participant.presence.awaySince = nil
      if text.contains(#""answer":{"#), case .resumed(let state)? = try? ServerMessage(json: text).content,
        let answer = state.answer, let id = answer.id?.number
      {
        noteAnswer(id, answer.answer, to: participant)
      }
      return
    }
    let isNoted = [
      #""type":"joined"}"#, #""type":"answer"}"#, #""type":"ok"}"#, #""type":"error"}"#, #""type":"token"}"#,
    ]
    .contains { text.hasSuffix($0) }
    guard isNoted, let message = try? ServerMessage(json: text) else { return }
    let id = message.id?.number
    switch message.content {
    case .joined(let state): books.names[state.participant.id] = participant.number
    case .answer(let answer): if let id { noteAnswer(id, answer, to: participant) }
    case .ok: if let id { noteGranted(id, to: participant) }
    case .token(let token):
      journal.count(.tokenRenewed)
      if SimulatedToken(token)?.allowance != participant.ledger.allowance {
        journal.violation(now, "\(participant.number) is given a token that allows \(token)")
      }
    default: if let id { participant.ledger.noteRefusal(id) }
    }
  }

  private func hear(_ text: String, _ record: SocketRecord) {
    let who = record.participant.map { "client of \($0.number)" } ?? "somebody at the door"
    let actions = record.client.receive(text, now: now) { journal.violation(now, "the \(who) \($0)") }
    for action in actions {
      if let participant = record.participant {
        act(action, participant, record)
      } else if record.races {
        if case .ended(let reason) = action,
          !["token-removed", "removed", "duplicateIdentity"].contains(reason)
        {
          journal.violation(now, "\(who), which came while it was being removed, hears \(reason)")
        }
      } else if case .ended(let reason) = action {
        if reason != record.refusal {
          journal.violation(now, "\(who) hears \(reason) instead of \(record.refusal ?? "-")")
        }
        journal.count(.joinRefused)
      } else {
        journal.violation(now, "\(who) is let in instead of hearing \(record.refusal ?? "-")")
      }
    }
  }

  private func hearClose(_ code: UInt16, _ record: SocketRecord) {
    if record.client.socket?.number == record.socket.number {
      record.client.disconnect()
      if record.client.end == nil {
        journal.violation(
          now, "the socket of \(record.client.token.identity) is closed by \(code), without a word why")
        if let participant = record.participant {
          if participant.isPresent { participant.presence.leftAt = now }
          retire(participant)
        }
      }
    }
    after(signallingDelay()) { [unowned self] in hangUp(record, inGoodOrder: true) }
  }

  /// The server hears that a socket has gone.
  func hangUp(_ record: SocketRecord, inGoodOrder: Bool = false) {
    guard !record.hasHungUp else { return }
    record.hasHungUp = true
    record.socket.hangUp(inGoodOrder: inGoodOrder)
    guard let participant = record.participant, participant.client.end == nil else { return }
    let hasNewer = books.sockets.values.contains {
      $0.participant === participant && $0.hasEntered && $0.socket.number > record.socket.number
    }
    if !hasNewer { participant.presence.awaySince = now }
  }
}
