internal import Model
internal import Signalling
internal import SyntheticPeers
internal import Wire

/// Whether each packet and each message was allowed to whom it came, by the word of tokens, of those who administer, and
/// of who asked for what.
extension Conference {
  // MARK: - Packets

  /// - Parameter departed: when the server sent the packet.
  /// - Returns: why it may not come to the subscriber.
  func problem(with stamp: PayloadStamp, to subscriber: Participant, departed: Instant) -> String? {
    let name = TrackName(Int(stamp.publisher), Int(stamp.track))
    guard let track = journal.track(name),
      Int(stamp.packet) < track.packets.count, let ssrc = track.runs.first?.ssrc
    else { return nil }
    let ledger = participants[name.publisher].ledger
    guard !ledger.isUnsettled else { return nil }
    guard let record = ledger.publications[ssrc] else {
      return "a packet of \(track.name), which may not be published"
    }
    let packet = track.packets[Int(stamp.packet)]
    guard let problem = record.problem(reached: [packet.reachedAt, packet.reachedLast], departed: departed)
    else {
      journal.count(.packetAllowed)
      return nil
    }
    return
      "packet \(stamp.packet) of \(track.name) (\(record.source)), \(problem); it reached the server at \(packet.reachedAt.milliseconds) ms and left at \(departed.milliseconds) ms"
  }

  /// Seen as it leaves, so that nothing excuses what is too late.
  func problem(withStream ssrc: UInt32, to subscriber: Participant) -> String? {
    if let since = subscriber.ledger.stopped[ssrc], since < now {
      return
        "media leaves for \(subscriber.number) in a section that it stopped \((now - since).wholeNanoseconds / 1_000_000) ms ago"
    }
    return subscriber.ledger.maySubscribe(at: now)
      ? nil : "media leaves for \(subscriber.number), which may not subscribe"
  }

  // MARK: - Requests

  /// A request has come to the server.
  func noteHeard(_ request: RoomClient.Request, by participant: Participant) {
    switch request.kind {
    case .offer:
      guard let sections = participant.offering.offers[request.id] else { return }
      let mids = Set(sections.filter(\.isStopped).map(\.mid))
      let slots = participant.media.send.filter { mids.contains($0.mid) }
      participant.ledger.note(
        PermissionLedger.Offer(
          sections: sections, stopped: Set(slots.flatMap { [$0.ssrc] + ($0.rtxSSRC.map { [$0] } ?? []) })),
        id: request.id)
    case .view(let tracks): noteView(tracks, by: participant)
    case .mute(let track, false): participant.ledger.noteUnmute(track, id: request.id, now: now)
    default: break
    }
    participant.offering.heard[request.id] = request.kind
  }

  /// A request has been granted.
  func noteGranted(_ id: Int, to participant: Participant) {
    switch participant.offering.heard[id] {
    case .mute(let track, true)?: participant.ledger.noteMute(track, id: id, now: now)
    case .subscribe(let track)?: participant.ledger.notePreference(track, true, id: id)
    case .unsubscribe(let track)?: participant.ledger.notePreference(track, false, id: id)
    default: break
    }
  }

  func noteAnswer(
    _ id: Int, _ answer: ServerMessage.Answer, to participant: Participant
  ) {
    let (tracks, declined) = (answer.tracks, answer.declined)
    for own in tracks where books.names[own.track] == nil {
      books.names[own.track] = participant.number
      books.trackOrder[own.track] = books.trackOrder.count
    }
    let problems = participant.ledger.noteAnswer(
      id, tracks: Dictionary(tracks.map { ($0.mid, $0.track) }, uniquingKeysWith: { first, _ in first }),
      declined: Set(declined.filter { $0.code != "not-allowed" }.map(\.mid)), now: now)
    if declined.contains(where: { $0.code == "not-allowed" }) { journal.count(.publicationDeclined) }
    for problem in problems { journal.violation(now, "\(participant.number) is answered: \(problem)") }
    noteCodecs(id, answer, to: participant)
  }

  // MARK: - Messages

  /// What is said tells of no other room, nor of hidden participants, nor anything at all to one that was removed.
  func judge(_ text: String, to record: SocketRecord) {
    let reader = record.client
    if let removed = books.removals[RemovedIdentity(room: reader.room, identity: reader.token.identity)],
      reader.token.issued <= removed.second, removed.at < now,
      !text.hasSuffix(#""type":"error"}"#), !text.hasSuffix(#""type":"closed"}"#)
    {
      journal.violation(
        now, "\(reader.token.identity), which was removed, is still served: \(text.suffix(60))")
    }
    guard let participant = record.participant else { return }
    if text.hasSuffix(#""type":"slots"}"#), text.contains(#""track":"TR_"#),
      !participant.ledger.maySubscribe(at: now)
    {
      journal.violation(now, "\(participant.number) may not subscribe and hears of tracks in its slots")
    }
    for name in Self.names(in: text) {
      guard let owner = books.names[name], owner != participant.number else { continue }
      if participants[owner].room != participant.room {
        journal.violation(now, "\(participant.number) hears of \(name), in another room")
      } else if participants[owner].ledger.allowance.isHidden {
        journal.violation(now, "\(participant.number) hears of \(name), which is hidden")
      }
    }
    journal.count(.messageAllowed)
  }

  /// Ids of participants and tracks in a message.
  private static func names(in text: String) -> [String] {
    var text = text
    return text.withUTF8 { bytes in
      var names: [String] = []
      var place = 0
      while place + 4 < bytes.count {
        defer { place += 1 }
        guard bytes[place] == UInt8(ascii: "\""), bytes[place + 3] == UInt8(ascii: "_"),
          bytes[place + 1] == UInt8(ascii: "P") && bytes[place + 2] == UInt8(ascii: "A")
            || bytes[place + 1] == UInt8(ascii: "T") && bytes[place + 2] == UInt8(ascii: "R"),
          let end = bytes[(place + 1)...].firstIndex(of: UInt8(ascii: "\""))
        else { continue }
        names.append(String(decoding: bytes[(place + 1)..<end], as: UTF8.self))
        place = end
      }
      return names
    }
  }
}

/// Who may not come back to a room with a token of before.
struct RemovedIdentity: Hashable {
  var room: String
  var identity: String
}
