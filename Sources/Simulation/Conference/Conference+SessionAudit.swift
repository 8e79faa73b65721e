internal import AccessTokens
internal import Gateway
internal import Model
internal import Rooms
internal import SyntheticPeers

/// What each client believes, and how each session ended, held against what the rooms say.
extension Conference {
  private func people(in room: Int) -> [ParticipantSnapshot]? {
    let name = Self.roomName(room)
    let all = control.perform { directory -> [ParticipantSnapshot] in
      await directory.administration(of: name)?.participants(after: nil, limit: 1_000) ?? []
    }
    if all == nil { journal.violation(now, "the room \(name) does not answer") }
    return all
  }

  func isInRoom(_ participant: Participant) -> Bool {
    people(in: participant.room)?.contains { $0.info.id.text == participant.client.participantID } ?? false
  }

  /// At a moment when nothing is on its way: everybody who has a socket sees the room as it is.
  /// - Returns: false: the moment isn't one.
  @discardableResult
  func comparePictures() -> Bool {
    guard books.messagesInFlight == 0, !control.isBusy else { return false }
    for room in 0..<plan.rooms {
      let here = participants.filter {
        $0.room == room && $0.client.isOpen && $0.client.end == nil && $0.client.pending.isEmpty
      }
      guard !here.isEmpty, let all = people(in: room) else { continue }
      for participant in here {
        let truth = RoomPicture(all, as: participant.client.participantID ?? "")
        journal.count(.pictureCompared)
        let me = all.first { $0.info.id.text == participant.client.participantID }
        if me?.subscriptions.contains(where: { $0.state == .paused(.codec) }) == true {
          journal.count(.codecMissing)
        }
        guard participant.client.picture != truth else {
          auditFairness(of: participant)
          continue
        }
        journal.violation(
          now,
          "\(participant.number) sees its room wrongly: \(participant.client.picture.difference(from: truth))"
        )
      }
    }
    return true
  }

  // MARK: - Ends

  func auditSessions() {
    auditFarewells()
    auditHistory()
    let left = control.directory.remainders
    for (name, count) in [
      ("rooms", left.rooms), ("sessions", left.sessions), ("peers", left.peers), ("alarms", left.alarms),
      ("places", control.media.reserved), ("resume tokens", control.tokens.count),
    ] where count != 0 {
      journal.violation(now, "the rooms have \(count) \(name) left")
    }
  }

  /// `closed` was said once on the socket that served at the end, if there was one.
  private func auditFarewells() {
    for record in books.sockets.values where record.races && record.client.end == nil && !record.isBroken {
      journal.violation(now, "\(record.client.token.identity) is in after it was removed")
    }
    for participant in participants where participant.client.hasJoined {
      let records = books.sockets.values.filter { $0.participant === participant }
        .sorted { $0.socket.number < $1.socket.number }
      let said = records.reduce(0) { $0 + $1.closedMessages }
      if said > 1 {
        journal.violation(now, "\(participant.number) heard \(said) times that its session is over")
      }
      guard let last = records.last(where: \.hasEntered) else { continue }
      // Without a close of the server's its socket had gone before, or was refused.
      let isFarewell = last.closeCode.map { $0 != 4006 && $0 != 4007 } ?? !last.hasHungUp
      if isFarewell, last.closedMessages == 0 {
        journal.violation(now, "the session of \(participant.number) ended without a word on its socket")
      }
      if last.closedMessages > 0 { journal.count(.farewell) }
    }
  }

  /// The log of all rooms: without gaps, and everybody who came went once, for a reason that there was.
  private func auditHistory() {
    var cursor: String?
    var lastEvents: [RoomID: Int] = [:]
    var ends: [String: [String]] = [:]
    var joined: [String: Int] = [:]
    while true {
      guard let page = try? control.directory.events.events(after: cursor) else {
        return journal.violation(now, "the log of events can't be read")
      }
      for (_, event) in page.events {
        let last = lastEvents[event.room.id] ?? 0
        if event.id != last + 1 {
          journal.violation(now, "event \(event.id) follows \(last) in the log of \(event.room.name)")
        }
        lastEvents[event.room.id] = event.id
        guard let id = event.participant?.id.text else { continue }
        if event.kind == .participantJoined { joined[id, default: 0] += 1 }
        if event.kind == .participantLeft {
          ends[id, default: []].append(event.reason?.rawValue ?? "nothing")
        }
        if event.kind == .participantReconnecting { journal.count(.mediaSilent) }
      }
      cursor = page.cursor
      if page.isLast { break }
    }
    for participant in participants where !participant.ledger.allowance.isHidden {
      guard let id = participant.client.participantID else { continue }
      let ends = ends[id] ?? []
      guard joined[id] == 1, ends.count == 1, participant.presence.mayEnd.contains(ends[0]) else {
        journal.violation(
          now,
          "\(participant.number) came \(joined[id] ?? 0) times and went by \(ends), where \(participant.presence.mayEnd.sorted()) would do"
        )
        continue
      }
      // Who had a socket to the end heard the same.
      if let heard = participant.client.end, heard != "session-gone", heard != ends[0] {
        journal.violation(now, "\(participant.number) hears \(heard), and the room says \(ends[0])")
      }
    }
  }
}
