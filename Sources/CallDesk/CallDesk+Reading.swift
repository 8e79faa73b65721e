public import Calls
internal import Storage

/// What people read of calls.
extension CallDesk {
  /// - Throws: `notFound`, also of a call of others.
  public func call(_ id: CallUUID, for person: PersonID) async throws(CallProblem) -> CallDocument {
    try await read { [self] transaction throws(StoreError) in
      guard let row = try CallRecords.call(id, of: person, terms: callTerms, transaction) else {
        return .failure(.notFound)
      }
      return .success(try document(row, transaction))
    }
  }

  /// - Throws: `notFound`, `removed`, `callEnded`: a token for that call is void then.
  public func requireOpen(_ id: CallUUID, to person: PersonID) async throws(CallProblem) {
    try await read { [self] transaction throws(StoreError) -> Result<Void, CallProblem> in
      guard let call = try CallRecords.call(id, of: person, terms: callTerms, transaction)?.state else {
        return .failure(.notFound)
      }
      if call.hasRemoved(person) { return .failure(.removed) }
      return call.isEnded ? .failure(.callEnded) : .success(())
    }
  }

  /// - Throws: `notFound`, also of a call of others; `notAllowed`, `callEnded`: the person isn't in it.
  public func requireActive(_ person: PersonID, in id: CallUUID) async throws(CallProblem) {
    try await read { [self] transaction throws(StoreError) -> Result<Void, CallProblem> in
      guard let call = try CallRecords.call(id, of: person, terms: callTerms, transaction)?.state else {
        return .failure(.notFound)
      }
      do throws(CallRefusal) { try call.requireActive(person) } catch {
        return .failure(CallProblem(.call(error)))
      }
      return .success(())
    }
  }

  /// For who runs the call's room.
  public func call(_ id: CallUUID) async throws(CallProblem) -> CallDocument {
    try await read { [self] transaction throws(StoreError) in
      guard let row = try CallRecords.call(id, terms: callTerms, transaction) else {
        return .failure(.notFound)
      }
      return .success(try document(row, transaction))
    }
  }

  /// A person's calls, the newest first.
  /// - Parameters:
  ///   - other: those that this person is of as well; nil: all.
  ///   - isOpen: those that aren't over, or are; nil: both.
  ///   - limit: 1–200.
  public func calls(
    of person: PersonID, with other: PersonID? = nil, isOpen: Bool? = nil,
    before place: CallPage.Place? = nil,
    limit: Int
  ) async throws(CallProblem) -> CallPage {
    let limit = min(max(limit, 1), 200)
    return try await read { [self] transaction throws(StoreError) in
      let rows = try CallRecords.history(
        of: person, with: other, isOpen: isOpen, before: place, limit: limit + 1, transaction)
      var page = CallPage(calls: [])
      for row in rows.prefix(limit) { page.calls.append(try document(row, transaction)) }
      if rows.count > limit, let last = page.calls.last?.state {
        page.next = CallPage.Place(created: last.createdAt, id: last.id)
      }
      return .success(page)
    }
  }

  /// Takes a call out of the person's own history.
  public func forget(_ id: CallUUID, by person: PersonID) async throws(CallProblem) {
    try await decide { [self] transaction, _, _ throws(StoreError) -> Result<Void, CallProblem> in
      guard try CallRecords.call(id, of: person, terms: callTerms, transaction) != nil else {
        return .failure(.notFound)
      }
      try CallRecords.forget(id, by: person, transaction)
      return .success(())
    }
  }

  /// What a person has heard after an event, in order.
  /// - Parameter limit: 1–200.
  public func events(
    of person: PersonID, after number: Int64, limit: Int
  ) async throws(CallProblem) -> PersonEventPage {
    try await read { transaction throws(StoreError) in
      .success(try EventRecords.page(of: person, after: number, limit: min(max(limit, 1), 200), transaction))
    }
  }

  /// All that a person is of by now, and the number of the last event that this is as of.
  public func state(of person: PersonID) async throws(CallProblem) -> (calls: [CallDocument], last: Int64) {
    try await read { [self] transaction throws(StoreError) in
      let last = try PersonRecords.events(of: person, transaction).last
      let rows = try CallRecords.open(of: [person], terms: callTerms, transaction).values
        .filter { $0.state.isOpen(to: person) }
        .sorted { ($0.state.createdAt, $0.state.id) < ($1.state.createdAt, $1.state.id) }
      var calls: [CallDocument] = []
      for row in rows { calls.append(try document(row, transaction)) }
      return .success((calls, last))
    }
  }

  /// A device of a person begins to read its events: it is in use, and the person's name is that of its token.
  public func noteReader(_ caller: Caller) async throws(CallProblem) {
    try await decide { transaction, _, now throws(StoreError) -> Result<Void, CallProblem> in
      if caller.name != nil { try PersonRecords.note(caller, transaction) }
      if let device = caller.device {
        try DeviceRecords.noteUse(of: device, by: caller.person, at: now, transaction)
      }
      return .success(())
    }
  }

  /// Some of a person's events were given to one of its devices.
  public func noteHeard(_ number: Int64, by person: PersonID) { heard.note(number, by: person) }
}
