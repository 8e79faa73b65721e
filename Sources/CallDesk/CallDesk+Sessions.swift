public import Calls
internal import FoundationEssentials
internal import Logging
internal import Storage
internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

/// What people of a call do together.
extension CallDesk {
  /// Those of a call.
  /// - Parameter isOpen: those alone that can be joined.
  public func sessions(
    of call: CallUUID, isOpen: Bool, for person: PersonID
  ) async throws(CallProblem) -> [SharedSessionDocument] {
    try await read { [self] transaction throws(StoreError) in
      guard let known = try keptCall(call, of: person, transaction) else {
        return .failure(.notFound)
      }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.sessionsForRemoved) {
          let all = try SessionRecords.all(of: call, isOpen: isOpen, terms: terms.sessions, transaction)
          return .success(all.rows.map(document))
        }
      #endif
      guard !isRemoved(person, from: known) else { return .failure(.removed) }
      let found = try SessionRecords.all(of: call, isOpen: isOpen, terms: terms.sessions, transaction)
      return .success(found.rows.filter { !isForgotten($0.state) }.map(document))
    }
  }

  /// One of a call, for what a person has heard of it.
  /// - Throws: `notFound`, also of a call of others, and of what can't be understood: that keeps no others of the person's events back;
  ///   `removed`, `storeUnavailable`.
  public func session(
    _ id: CallUUID, in call: CallUUID, for person: PersonID
  ) async throws(CallProblem) -> SharedSessionDocument {
    try await read { [self] transaction throws(StoreError) in
      guard let found = try readableCall(call, of: person, transaction),
        let row = try SessionRecords.readable(id, terms: terms.sessions, transaction),
        row.state.call == call, !isForgotten(row.state)
      else { return .failure(.notFound) }
      guard !isRemoved(person, from: found) else { return .failure(.removed) }
      return .success(document(row))
    }
  }

  public func joinSession(
    _ id: CallUUID, in call: CallUUID, by caller: Caller,
    under request: KeyedRequest<SharedSessionDocument>? = nil
  ) async throws(CallProblem) -> SharedSessionDocument {
    try takeChange(caller)
    return try await change(id, in: call, by: caller, under: request) {
      session, now throws(SharedSessionRefusal) in
      try session.join(caller.person, at: now)
    }
  }

  public func leaveSession(
    _ id: CallUUID, in call: CallUUID, by caller: Caller,
    under request: KeyedRequest<SharedSessionDocument>? = nil
  ) async throws(CallProblem) -> SharedSessionDocument {
    try await change(id, in: call, by: caller, under: request) { session, now in
      session.leave(caller.person, at: now)
    }
  }

  /// The owner gives it to another participant.
  public func handOver(
    _ id: CallUUID, in call: CallUUID, to person: PersonID, by caller: Caller,
    under request: KeyedRequest<SharedSessionDocument>? = nil
  ) async throws(CallProblem) -> SharedSessionDocument {
    try takeChange(caller)
    return try await change(id, in: call, by: caller, under: request) {
      session, _ throws(SharedSessionRefusal) in
      try session.handOver(to: person, by: caller.person)
    }
  }

  /// Who was asked takes it over, or doesn't.
  public func answerOffer(
    _ id: CallUUID, in call: CallUUID, accepts: Bool, by caller: Caller,
    under request: KeyedRequest<SharedSessionDocument>? = nil
  ) async throws(CallProblem) -> SharedSessionDocument {
    try takeChange(caller)
    return try await change(id, in: call, by: caller, under: request) {
      session, now throws(SharedSessionRefusal) in
      try session.answerOffer(accepts, by: caller.person, at: now)
    }
  }

  public func endSession(
    _ id: CallUUID, in call: CallUUID, by caller: Caller
  ) async throws(CallProblem) -> SharedSessionDocument {
    try await change(id, in: call, by: caller) { session, now throws(SharedSessionRefusal) in
      try session.end(by: caller.person, at: now)
    }
  }

  // MARK: - One change of one session

  /// Each change is an event for all people of the call, so that one person makes few of them. Of leaving and ending there can't
  /// be more than of what went before.
  func takeChange(_ caller: Caller) throws(CallProblem) {
    let wait = sessionRates.take(caller.person, most: terms.sharing.changesPerMinute, at: clock().steady)
    if let wait { throw .tooMany(wait: wait) }
  }

  private func change(
    _ id: CallUUID, in call: CallUUID, by caller: Caller,
    under request: KeyedRequest<SharedSessionDocument>? = nil,
    _ body:
      @escaping @Sendable (inout SharedSession, CallTime) throws(SharedSessionRefusal) -> [SystemEvent]
  ) async throws(CallProblem) -> SharedSessionDocument {
    try await inCall(call, by: caller, under: request) {
      [self] transaction, aftermath, now, _ throws(StoreError) in
      guard let before = try SessionRecords.session(id, of: call, terms: terms.sessions, transaction) else {
        return .failure(.notFound)
      }
      var row = before
      let said: [SystemEvent]
      do throws(SharedSessionRefusal) { said = try body(&row.state, now) } catch {
        return .failure(CallProblem(error))
      }
      try keep(&row, before: before.state, said, at: now, &aftermath, transaction)
      return .success(document(row))
    }
  }

  /// What is asked by one who is in the call.
  func inCall<Value: Sendable>(
    _ call: CallUUID, by caller: Caller, bytes: Int = 4_096, under request: KeyedRequest<Value>? = nil,
    _ body:
      @escaping @Sendable (borrowing Transaction, inout Aftermath, CallTime, CallRecords.Row)
      throws(StoreError)
      -> Result<Value, CallProblem>
  ) async throws(CallProblem) -> Value {
    try await decide(bytes: bytes, under: request) { [self] transaction, aftermath, now throws(StoreError) in
      switch try active(caller, in: call, at: now, &aftermath, transaction) {
      case .failure(let problem): return .failure(problem)
      case .success(let row): return try body(transaction, &aftermath, now, row)
      }
    }
  }

  /// The call, if the person is in it by now.
  func active(
    _ caller: Caller, in call: CallUUID, at now: CallTime, _ aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<CallRecords.Row, CallProblem> {
    let row: CallRecords.Row
    switch try apply(.time, to: call, by: caller.person, at: now, &aftermath, transaction) {
    case .failure(let problem): return .failure(problem)
    case .success(let found): row = found
    }
    do throws(CallRefusal) { try row.state.requireActive(caller.person) } catch {
      return .failure(CallProblem(.call(error)))
    }
    return .success(row)
  }

  /// Writes down how a session stands, and what the server says in it.
  func keep(
    _ row: inout SessionRecords.Row, before: SharedSession, _ said: [SystemEvent], at now: CallTime,
    _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    guard row.state != before else { return }
    // Where that can't be understood its people aren't known, and hear nothing.
    let call = try CallRecords.readable(row.state.call, terms: callTerms, transaction)
    var people = before.participants
    for said in said {
      let event = SharedEvent(
        id: uuid().text, seq: said.seq, type: said.type, sender: nil, time: now.wall, data: said.data)
      try SharedEventRecords.append(event, to: row.state.id, transaction)
      row.lastEvent = event.id
      // Who comes or goes hears that, and who has gone nothing behind it.
      if case .joined(let person) = said.what { people.append(person) }
      aftermath.sharedEvents.append(
        Aftermath.Shared(
          call: row.state.call, room: call?.room, session: row.state.id, people: people, event: event))
      if case .left(let person) = said.what { people.removeAll { $0 == person } }
    }
    try SessionRecords.write(row, at: now, transaction)
    let kind = row.state.isEnded ? PersonEvent.Kind.sessionEnded : .sessionUpdated
    try tell(kind, of: row, in: call, at: now, &aftermath, transaction)
  }

  /// Those who are rung by the call or in it hear how a session stands, and so do those who go at this moment.
  func tell(
    _ kind: PersonEvent.Kind, of row: SessionRecords.Row, in call: CallRecords.Row?, at now: CallTime,
    _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    guard let call else { return }
    let step: Aftermath.Step.Kind? =
      switch kind {
      case .sessionStarted: .sessionStarted
      case .sessionEnded: .sessionEnded
      default: nil
      }
    if let step {
      let session = Aftermath.Step.Session(id: row.state.id, experience: row.state.experience)
      try note(
        Aftermath.Step(kind: step, call: call.state, room: call.room, session: session), at: now, &aftermath,
        transaction)
    }
    for person in call.state.people where !person.isHidden && person.hearsOfSessions(in: call.state, at: now)
    {
      try tell(
        person.id, kind, of: call.state, SessionBody(session: row.state.id), at: now, &aftermath, transaction)
    }
  }

  func document(_ row: SessionRecords.Row) -> SharedSessionDocument {
    SharedSessionDocument(state: row.state, lastEventId: row.lastEvent)
  }

  // MARK: - What the call brings about

  /// Who isn't in the call any more is in none of its sessions, and with the call all of them are over.
  func leaveSessions(
    _ change: CallBook.Change, at now: CallTime, _ aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let gone = change.before?.active.filter { change.after[$0]?.session == nil } ?? []
    guard !gone.isEmpty else { return }
    let found = try SessionRecords.all(
      of: change.after.id, isOpen: true, terms: terms.sessions, transaction)
    if change.after.isEnded { try close(found.unreadable, at: now, transaction) }
    for before in found.rows {
      var row = before
      var said: [SystemEvent] = []
      if change.after.isEnded {
        said = row.state.callEnded(at: now)
      } else {
        for person in gone { said += row.state.leave(person, at: now) }
      }
      try keep(&row, before: before.state, said, at: now, &aftermath, transaction)
    }
  }

  /// Has time pass for sessions.
  func advanceSessions(
    at now: CallTime, limit: Int, _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int {
    let due = try SessionRecords.due(at: now.steady, limit: limit, terms: terms.sessions, transaction)
    try close(due.unreadable, at: now, transaction)
    for before in due.rows {
      var row = before
      let said = row.state.advance(to: now)
      try keep(&row, before: before.state, said, at: now, &aftermath, transaction)
    }
    return due.count
  }

  /// One that can't be understood keeps neither time nor its call from going on: it is over.
  private func close(
    _ unreadable: [String], at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    guard !unreadable.isEmpty else { return }
    try SessionRecords.close(unreadable, at: now, transaction)
    for id in unreadable {
      log.error("calls: a shared session in the database can't be read, and is over", ["session": id])
    }
  }
}

extension CallProblem {
  init(_ refusal: SharedSessionRefusal) {
    self =
      switch refusal {
      case .notAllowed: .notAllowed
      case .ended: .sessionEnded
      case .full: .tooLarge("the events since the last snapshot; its owner keeps another first")
      case .beyondLast(let seq): .beyondLast(seq)
      case .staleSnapshot(let seq): .staleSnapshot(seq)
      }
  }
}

/// The body of events about sessions.
public struct SessionBody: Hashable, Sendable, Codable {
  public var session: CallUUID
}

extension SystemEvent {
  /// What it is about, as JSON.
  fileprivate var data: [UInt8] {
    let person: PersonID? =
      switch what {
      case .joined(let person), .left(let person), .ownerLeft(let person), .ownerChanged(let person): person
      case .ended: nil
      }
    guard let bytes = try? JSONEncoder().encode(person.map { ["person": $0.text] } ?? [:]) else {
      preconditionFailure("texts are always JSON")
    }
    return Array(bytes)
  }
}
