public import Calls
internal import Storage
internal import Synchronization

/// Events and snapshots of what people of a call do together.
extension CallDesk {
  /// - Throws: `notFound`, `notAllowed`, `callEnded`, `sessionEnded`, `reservedType`, `tooLarge`, `tooMany`.
  /// - Parameters:
  ///   - id: the client's; a repeated one gets its first number back.
  ///   - data: JSON of one value.
  public func append(
    _ id: CallUUID, type: String, data: [UInt8], to session: CallUUID, in call: CallUUID, by caller: Caller
  ) async throws(CallProblem) -> SharedEvent {
    guard !type.hasPrefix(SystemEvent.prefix) else { throw .reservedType }
    guard (1...128).contains(type.utf8.count) else { throw .tooLarge("type") }
    guard data.count <= terms.eventData else { throw .tooLarge("data") }
    if let wait = eventRates.take(caller.person, most: terms.eventsPerSecond, at: clock().steady) {
      throw .tooMany(wait: wait)
    }
    return try await inCall(call, by: caller, bytes: data.count + 1_024) {
      [self] transaction, aftermath, now, _ throws(StoreError) in
      guard var row = try SessionRecords.session(session, of: call, terms: terms.sessions, transaction) else {
        return .failure(.notFound)
      }
      if let known = try SharedEventRecords.event(id.text, of: session, transaction) {
        let isSame =
          known.sender == caller.person && known.type.utf8.elementsEqual(type.utf8) && known.data == data
        return isSame ? .success(known) : .failure(.idTaken)
      }
      let seq: Int64
      do throws(SharedSessionRefusal) { seq = try row.state.append(by: caller.person) } catch {
        return .failure(CallProblem(error))
      }
      let event = SharedEvent(
        id: id.text, seq: seq, type: type, sender: caller.person, time: now.wall, data: data)
      try SharedEventRecords.append(event, to: session, transaction)
      row.lastEvent = event.id
      try SessionRecords.write(row, at: now, transaction)
      aftermath.sharedEvents.append(
        Aftermath.Shared(call: call, session: session, people: row.state.participants, event: event))
      return .success(event)
    }
  }

  /// What follows a number, in order and without gaps.
  /// - Throws: `compacted`: what follows it is in the snapshot, with that one's number.
  public func events(
    of session: CallUUID, in call: CallUUID, after seq: Int64, limit: Int, for person: PersonID
  ) async throws(CallProblem) -> [SharedEvent] {
    try await read { [self] transaction throws(StoreError) in
      guard try CallRecords.call(call, of: person, terms: callTerms, transaction) != nil,
        let row = try SessionRecords.session(session, of: call, terms: terms.sessions, transaction)
      else { return .failure(.notFound) }
      let found = try SharedEventRecords.page(
        of: session, after: max(seq, 0), limit: min(max(limit, 1), 1_000), transaction)
      // The first one that is wanted isn't there any more.
      if seq < row.state.lastSeq, found.first?.seq != max(seq, 0) + 1 {
        return .failure(.compacted(row.state.snapshotSeq ?? row.state.lastSeq))
      }
      return .success(found)
    }
  }

  /// The owner says how everything stands behind an event; what came long before it goes.
  /// - Throws: likewise; `staleSnapshot` with the number of the one that is kept; `tooLarge`.
  public func keepSnapshot(
    _ snapshot: SharedSnapshot, of session: CallUUID, in call: CallUUID, by caller: Caller
  ) async throws(CallProblem) {
    guard snapshot.state.count + snapshot.people.count <= terms.snapshot else { throw .tooLarge("snapshot") }
    try await inCall(call, by: caller, bytes: snapshot.state.count + 4_096) {
      [self] transaction, _, now, _ throws(StoreError) -> Result<Void, CallProblem> in
      guard var row = try SessionRecords.session(session, of: call, terms: terms.sessions, transaction) else {
        return .failure(.notFound)
      }
      do throws(SharedSessionRefusal) {
        try row.state.keepSnapshot(upTo: snapshot.seq, by: caller.person)
      } catch { return .failure(CallProblem(error)) }
      try SharedEventRecords.write(snapshot, of: session, at: now, transaction)
      try SessionRecords.write(row, at: now, transaction)
      // Those who have just read the one before find what follows it.
      try SharedEventRecords.compact(
        session, upTo: snapshot.seq - Int64(terms.eventsBehindSnapshot), transaction)
      return .success(())
    }
  }

  /// - Throws: `notFound`, also where there is none.
  public func snapshot(
    of session: CallUUID, in call: CallUUID, for person: PersonID
  ) async throws(CallProblem) -> SharedSnapshot {
    try await read { [self] transaction throws(StoreError) in
      guard try CallRecords.call(call, of: person, terms: callTerms, transaction) != nil,
        try SessionRecords.session(session, of: call, terms: terms.sessions, transaction) != nil,
        let snapshot = try SharedEventRecords.snapshot(of: session, transaction)
      else { return .failure(.notFound) }
      return .success(snapshot)
    }
  }
}
