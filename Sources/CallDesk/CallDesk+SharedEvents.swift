public import Calls
internal import Storage
internal import Synchronization

/// Events of what people of a call do together.
extension CallDesk {
  /// - Throws: `notFound`, `notAllowed`, `callEnded`, `sessionEnded`, `idTaken`, `reservedType`, `tooLarge`, `tooMany`.
  /// - Parameters:
  ///   - id: the client's; a repeated one gets its first number back.
  ///   - data: JSON of one value.
  public func append(
    _ id: CallUUID, type: String, data: [UInt8], to session: CallUUID, in call: CallUUID, by caller: Caller
  ) async throws(CallProblem) -> SharedEvent {
    try admit(type, data, by: caller)
    return try await decide(bytes: data.count + 1_024) {
      [self] transaction, aftermath, now throws(StoreError) in
      let event = SharedEvent(
        id: id.text, seq: 0, type: type, sender: caller.person, time: now.wall, data: data)
      return try append(event, to: session, in: call, by: caller, at: now, &aftermath, transaction)
    }
  }

  /// As above, by one who is connected to the room of the session's call.
  /// - Throws: `notFound`, also of a session of another room.
  public func append(
    _ id: CallUUID, type: String, data: [UInt8], to session: CallUUID, inRoom room: String, by caller: Caller
  ) async throws(CallProblem) -> SharedEvent {
    try admit(type, data, by: caller)
    return try await decide(bytes: data.count + 1_024) {
      [self] transaction, aftermath, now throws(StoreError) in
      guard let call = try keptCall(inRoom: room, transaction) else {
        return .failure(.notFound)
      }
      let event = SharedEvent(
        id: id.text, seq: 0, type: type, sender: caller.person, time: now.wall, data: data)
      return try append(
        event, to: session, in: call.state.id, by: caller, at: now, &aftermath, transaction)
    }
  }

  /// What is asked before the store is.
  private func admit(_ type: String, _ data: [UInt8], by caller: Caller) throws(CallProblem) {
    guard !SystemEvent.isReserved(type) else { throw .reservedType }
    guard (1...128).contains(type.utf8.count) else { throw .tooLarge("type") }
    guard data.count <= terms.sharing.eventData else { throw .tooLarge("data") }
    if let wait = eventRates.take(caller.person, most: terms.sharing.eventsPerSecond, at: clock().steady) {
      throw .tooMany(wait: wait)
    }
  }

  private func append(
    _ wanted: SharedEvent, to session: CallUUID, in call: CallUUID, by caller: Caller, at now: CallTime,
    _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<SharedEvent, CallProblem> {
    let room: String?
    switch try active(caller, in: call, at: now, &aftermath, transaction) {
    case .failure(let problem): return .failure(problem)
    case .success(let row): room = row.room
    }
    guard var row = try SessionRecords.session(session, of: call, terms: terms.sessions, transaction) else {
      return .failure(.notFound)
    }
    var (event, isRepeated) = (wanted, false)
    if let known = try SharedEventRecords.known(wanted, in: session, floor: row.floor, transaction) {
      guard known.isSame else { return .failure(.idTaken) }
      (event.seq, event.time) = (known.seq, known.time)
      isRepeated = true
    } else {
      do throws(SharedSessionRefusal) {
        event.seq = try row.state.append(by: caller.person, bytes: event.data.count)
      } catch {
        return .failure(CallProblem(error))
      }
      try SharedEventRecords.append(event, to: session, transaction)
      row.lastEvent = event.id
      try SessionRecords.write(row, at: now, transaction)
    }
    // One that is known is said again: it may be that it was written and the word of that was lost. To those who know it, it is an
    // old number. What is in the snapshot is said no more.
    guard !row.state.isEnded, event.seq > row.floor else { return .success(event) }
    aftermath.sharedEvents.append(
      Aftermath.Shared(
        call: call, room: room, session: session, people: row.state.participants, event: event,
        isRepeated: isRepeated))
    return .success(event)
  }

  // MARK: - Reading

  /// Bytes of events that are read at once; one event may be more.
  private static let eventPage = 262_144

  /// What follows a number, in order and without gaps; as many as are read at once.
  /// - Throws: as `events`.
  public func eventPage(
    of session: CallUUID, in call: CallUUID, after seq: Int64, limit: Int, for person: PersonID
  ) async throws(CallProblem) -> SharedEventPage {
    let after = max(seq, 0)
    return try await read { [self] transaction throws(StoreError) in
      let row: SessionRecords.Row
      switch try readable(session, in: call, for: person, transaction) {
      case .failure(let problem): return .failure(problem)
      case .success(let found): row = found
      }
      guard after < row.state.lastSeq else {
        return .success(SharedEventPage(events: [], last: row.state.lastSeq))
      }
      guard after >= row.floor else { return .failure(Self.gone(after, of: row.state)) }
      let found = try SharedEventRecords.page(
        of: session, after: after, limit: min(max(limit, 1), 1_000), bytes: Self.eventPage, transaction)
      // A page never begins behind a gap, whatever the database has lost.
      guard found.first?.seq == after + 1 else { return .failure(Self.gone(after, of: row.state)) }
      return .success(SharedEventPage(events: found, last: row.state.lastSeq))
    }
  }

  /// Why events behind one can't be read any more. Who is sent to the snapshot has to find one there that leads on; otherwise what is
  /// asked for is nowhere, which is so behind the end alone.
  private static func gone(_ after: Int64, of session: SharedSession) -> CallProblem {
    guard let seq = session.snapshotSeq, seq > after else { return .sessionEnded }
    return .compacted(seq)
  }

  /// - Throws: `notFound`, `notAllowed`, `removed`; `compacted`: what follows is in the snapshot, with that one's number;
  ///   `sessionEnded`: it is over, and what follows is kept nowhere.
  public func events(
    of session: CallUUID, in call: CallUUID, after seq: Int64, limit: Int, for person: PersonID
  ) async throws(CallProblem) -> [SharedEvent] {
    try await eventPage(of: session, in: call, after: seq, limit: limit, for: person).events
  }

  /// A session whose events and snapshot a person may read at this moment; all that hands them out asks here. Who may not know of the
  /// call is found out by the first statement, whether there is such a session or not.
  func readable(
    _ session: CallUUID, in call: CallUUID, for person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<SessionRecords.Row, CallProblem> {
    guard let found = try keptCall(call, of: person, transaction),
      let row = try SessionRecords.session(session, of: call, terms: terms.sessions, transaction)
    else { return .failure(.notFound) }
    return readable(row, in: found, for: person)
  }

  /// Who is in its call may join it, and then sees them anyway. Once it is over they are still there for those who took part.
  func readable(
    _ row: SessionRecords.Row, in found: CallRecords.Row, for person: PersonID
  ) -> Result<SessionRecords.Row, CallProblem> {
    guard !isRemoved(person, from: found) else { return .failure(.removed) }
    guard !isForgotten(row.state) else { return .failure(.notFound) }
    if !found.state.isEnded, found.state[person]?.session != nil { return .success(kept(row)) }
    guard row.state.isEnded, row.state.everyone.contains(person) else { return .failure(.notAllowed) }
    return .success(kept(row))
  }
}
