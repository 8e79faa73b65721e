public import Calls
internal import Storage

#if PLANTED_DEFECTS
  internal import Model
#endif

/// What people read of calls.
extension CallDesk {
  /// - Throws: `notFound`, also of a call of others.
  public func call(_ id: CallUUID, for person: PersonID) async throws(CallProblem) -> CallDocument {
    try await read { [self] transaction throws(StoreError) in
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.callOfAnyone),
          let row = try CallRecords.call(id, terms: callTerms, transaction)
        {
          return .success(try document(row, transaction))
        }
      #endif
      guard let row = try keptCall(id, of: person, transaction) else { return .failure(.notFound) }
      return .success(try document(row, transaction))
    }
  }

  /// For what a person has heard of calls.
  /// - Returns: nil: there is no such call for the person, or it can't be understood: its events keep no others of the person back.
  public func callIfKnown(_ id: CallUUID, for person: PersonID) async throws(CallProblem) -> CallDocument? {
    try await read { [self] transaction throws(StoreError) in
      guard let row = try readableCall(id, of: person, transaction) else { return .success(nil) }
      return .success(try document(row, transaction))
    }
  }

  /// - Throws: `notFound`, `removed`, `callEnded`: a token for that call is void then.
  public func requireOpen(_ id: CallUUID, to person: PersonID) async throws(CallProblem) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.callTokenForEver) { return }
    #endif
    try await read { [self] transaction throws(StoreError) -> Result<Void, CallProblem> in
      guard let row = try keptCall(id, of: person, transaction) else {
        return .failure(.notFound)
      }
      if isRemoved(person, from: row) { return .failure(.removed) }
      return isOver(row) ? .failure(.callEnded) : .success(())
    }
  }

  /// - Throws: `notFound`, also of a call of others; `notAllowed`, `callEnded`: the person isn't in it.
  public func requireActive(_ person: PersonID, in id: CallUUID) async throws(CallProblem) {
    try await read { [self] transaction throws(StoreError) -> Result<Void, CallProblem> in
      guard let call = try keptCall(id, of: person, transaction)?.state else {
        return .failure(.notFound)
      }
      do throws(CallRefusal) { try call.requireActive(person) } catch {
        return .failure(CallProblem(.call(error)))
      }
      return .success(())
    }
  }

  /// For who runs the call's room.
  /// - Parameter room: the one that is run: a call of another is none; nil: all are.
  public func call(_ id: CallUUID, inRoom room: String? = nil) async throws(CallProblem) -> CallDocument {
    try await read { [self] transaction throws(StoreError) in
      guard let row = try keptCall(id, inRoom: room, transaction) else { return .failure(.notFound) }
      return .success(try document(row, transaction))
    }
  }

  /// Calls of a page that are passed over, beside as many as it may have.
  private static let mostPassedOver = 64

  /// A person's calls, the newest first.
  ///
  /// Of those with another person a page has what is among the next `CallPage.mostLookedAt` of the person's own: it may have fewer than
  /// `limit`, or none, and go on all the same. So it may where it has passed over many that can't be read, or are forgotten by now.
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
      var filter = CallRecords.HistoryFilter(
        person: person, other: other, isOpen: isOpen, place: place.map { CallRecords.Place($0) })
      var (page, looked) = (CallPage(calls: [], next: nil), 0)
      while true {
        let found = try CallRecords.history(filter, limit: limit - page.calls.count, transaction)
        for row in found.rows where !isForgotten(row.state) {
          page.calls.append(try document(row, transaction))
        }
        (page.next, filter.place) = (found.next?.page, found.next)
        looked += found.count
        // What was passed over has left room for those behind it.
        guard found.next != nil, other == nil, page.calls.count < limit, looked < limit + Self.mostPassedOver
        else { return .success(page) }
      }
    }
  }

  /// Takes a call out of the person's own history.
  public func forget(
    _ id: CallUUID, by person: PersonID, under request: KeyedRequest<Void>? = nil
  ) async throws(CallProblem) {
    try await decide(under: request) {
      [self] transaction, _, _ throws(StoreError) -> Result<Void, CallProblem> in
      guard try keptCall(id, of: person, transaction) != nil else { return .failure(.notFound) }
      try CallRecords.forget(id, by: person, transaction)
      return .success(())
    }
  }

  /// Bytes of events that are read at once; the last one may be more.
  private static let eventBytes = 1_048_576

  /// What a person has heard after an event, in order; as much of it as is read at once.
  /// - Parameter limit: 1–200.
  public func events(
    of person: PersonID, after number: Int64, limit: Int
  ) async throws(CallProblem) -> PersonEventPage {
    try await read { [self] transaction throws(StoreError) -> Result<PersonEventPage, CallProblem> in
      var page = try EventRecords.page(
        of: person, after: number, since: cutoff(.events), limit: min(max(limit, 1), 200),
        bytes: Self.eventBytes, transaction)
      try emptySignals(in: &page, transaction)
      return .success(page)
    }
  }

  /// All that a person is in by now, the newest of the others that it is of, and the number of the last event that this is as of.
  public func state(of person: PersonID) async throws(CallProblem) -> (calls: [CallDocument], last: Int64) {
    try await read { [self] transaction throws(StoreError) in
      let last = try PersonRecords.events(of: person, transaction).last
      let rows = try CallRecords.open(of: person, isShown: true, terms: callTerms, transaction).values
        .filter { $0.state.isOpen(to: person) }
        .sorted { ($0.state.createdAt, $0.state.id) < ($1.state.createdAt, $1.state.id) }
      var calls: [CallDocument] = []
      for row in rows { calls.append(try document(row, transaction)) }
      return .success((calls, last))
    }
  }

  /// A device of a person begins to read its events: it is in use, and the person has come, with the name of its token.
  public func noteReader(_ caller: Caller) async throws(CallProblem) {
    try await decide { transaction, _, now throws(StoreError) -> Result<Void, CallProblem> in
      try PersonRecords.note(caller, transaction)
      if let device = caller.device {
        try DeviceRecords.noteUse(of: device, by: caller.person, at: now, transaction)
      }
      return .success(())
    }
  }

  /// A person's events up to that one were given to one of its devices, but for those that are for others.
  /// - Parameter device: nil: it doesn't say which it is, and is given those too.
  public func noteHeard(_ number: Int64, by person: PersonID, _ device: DeviceID?) {
    heard.note(number, by: person, device)
  }
}
