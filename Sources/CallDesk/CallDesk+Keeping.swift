internal import Calls
internal import Storage

/// How what was decided is written down, and what follows from it.
extension CallDesk {
  /// Calls of a book, with what isn't of their states.
  typealias Known = [CallUUID: CallRecords.Row]

  /// Writes down what has changed in a book, and what people hear of it.
  /// - Parameters:
  ///   - known: the calls that the book was made of.
  ///   - begun: what a call that has begun is written down with.
  func keep(
    _ book: CallBook, of known: Known, begun: CallRecords.Row? = nil, request: [UInt8] = [], at now: CallTime,
    _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try keep(book.changes, of: known, begun: begun, request: request, at: now, &aftermath, transaction)
  }

  func keep(
    _ changes: [CallBook.Change], of known: Known, begun: CallRecords.Row? = nil, request: [UInt8] = [],
    at now: CallTime, _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    for change in changes {
      guard var row = known[change.after.id] ?? begun else { continue }
      row.state = change.after
      try CallRecords.write(row, request: change.before == nil ? request : [], at: now, transaction)
      try CallRecords.writePeople(of: change, transaction)
      try say(change, of: row, at: now, &aftermath, transaction)
      try endUnheard(change, at: now, transaction)
      try leaveSessions(change, at: now, &aftermath, transaction)
      notePresence(change)
    }
  }

  /// Of a direct call: who has come into it may be reading events already. It is looked at behind this transaction.
  private func notePresence(_ change: CallBook.Change) {
    guard change.after.path == .direct else { return }
    for person in change.after.people {
      guard let session = person.session, change.before?[person.id]?.session?.id != session.id else {
        continue
      }
      readersChanged(of: person.id)
    }
  }

  private func say(
    _ change: CallBook.Change, of row: CallRecords.Row, at now: CallTime, _ aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let call = change.after
    if change.before == nil {
      try note(Aftermath.Step(kind: .started, call: call, room: row.room), at: now, &aftermath, transaction)
    }
    if call.connectedAt != nil, change.before?.connectedAt == nil {
      try note(Aftermath.Step(kind: .answered, call: call, room: row.room), at: now, &aftermath, transaction)
    }
    // Those who are rung hear of the call by that.
    var rung: Set<PersonID> = []
    for effect in change.effects {
      switch effect {
      case .ring(let person, let ring):
        guard !ring.isSilent else {
          try keepUnheard(ring, of: person, in: call.id, at: now, transaction)
          continue
        }
        rung.insert(person)
        unheard.pushes.begin(ring.id, at: now.wall)
        let waking = try waking(person, ring, of: row, at: now, transaction)
        let body = RingingBody(
          ringId: ring.id, callerId: ring.from, expiresAt: waking.expiresAt, busy: ring.isBusy)
        try tell(person, .ringing, of: call, body, at: now, &aftermath, transaction)
        aftermath.rings.append(waking)
      case .ringEnded(let person, let ring, let end, let device):
        let body = RingEndedBody(ringId: ring, reason: end.rawValue, device: device)
        try tell(person, .ringEnded, of: call, body, at: now, &aftermath, transaction)
        aftermath.ringsEnded.append(
          Aftermath.RingEnded(person: person, ring: ring, reason: end, call: call.id, device: device))
      case .close(let person, let session, let reason):
        // It is of before; one that has begun by the same event is its own first.
        let closed = change.before?[person]?.session
        let stay = closed?.id == session ? closed?.stay : nil
        aftermath.closes.append(
          Aftermath.Close(
            person: person, session: session, stay: stay ?? session, reason: reason, room: row.room))
      case .revoke(let person): aftermath.revoked.append((person, row.room))
      case .updated, .ended:
        let kind = effect == .ended ? PersonEvent.Kind.ended : .updated
        for person in call.people where !person.isHidden && !rung.contains(person.id) {
          guard effect == .ended || person.hears(since: change.before?[person.id]) else { continue }
          try tell(person.id, kind, of: call, [String: String](), at: now, &aftermath, transaction)
        }
        if effect == .ended {
          try note(Aftermath.Step(kind: .ended, call: call, room: row.room), at: now, &aftermath, transaction)
        }
      }
    }
  }

  func tell(
    _ person: PersonID, _ kind: PersonEvent.Kind, of call: CallState?, to device: DeviceID? = nil,
    _ body: some Encodable, at now: CallTime, _ aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    _ = try EventRecords.append(
      kind, to: person, call: call?.id, device: device, body: body, keeping: terms.events, at: now,
      transaction)
    aftermath.listeners.insert(person)
  }

  /// A call as its people see it.
  func document(_ row: CallRecords.Row, _ transaction: borrowing Transaction) throws(StoreError)
    -> CallDocument
  {
    let (names, erased) = try PersonRecords.names(of: row.state.id, transaction)
    return CallDocument(row.state, room: row.room, apiKey: row.apiKey, names: names, erased: erased)
  }
}

extension CallPerson {
  /// Whether the person hears how the call stands while it goes on. One who has left hears by what that came about, and nothing of what
  /// others do behind it, which it can't end; nor does one who is rung by a person that it has blocked.
  /// - Parameter before: the person as it was; nil: it wasn't of the call.
  fileprivate func hears(since before: CallPerson?) -> Bool {
    switch status {
    case .active: true
    case .invited(let ring): !ring.isSilent
    case .left: status != before?.status && before?.ring?.isSilent != true
    }
  }

  /// The same of what people of a call share: one who goes at this moment, or with the call, hears what comes of that.
  func hearsOfSessions(in call: CallState, at now: CallTime) -> Bool {
    switch status {
    case .active: true
    case .invited(let ring): !ring.isSilent
    case .left(let reason, let moment): reason != .removed && moment == call.end?.at ?? now.wall
    }
  }
}
