public import Calls
internal import Storage

/// How a shared session stands behind one of its events, as its owner says.
extension CallDesk {
  /// Keeps what the owner says; events that came long before it go.
  /// - Throws: `notFound`, `notAllowed`, `callEnded`, `sessionEnded`, `tooLarge`, `beyondLast`; `staleSnapshot` with the number of
  ///   the one that is kept.
  public func keepSnapshot(
    _ snapshot: SharedSnapshot, of session: CallUUID, in call: CallUUID, by caller: Caller
  ) async throws(CallProblem) {
    guard snapshot.state.count + snapshot.people.count <= terms.sharing.snapshot else {
      throw .tooLarge("snapshot")
    }
    try await inCall(call, by: caller, bytes: snapshot.state.count + snapshot.people.count + 4_096) {
      [self] transaction, _, now, _ throws(StoreError) -> Result<Void, CallProblem> in
      guard var row = try SessionRecords.session(session, of: call, terms: terms.sessions, transaction) else {
        return .failure(.notFound)
      }
      do throws(SharedSessionRefusal) {
        try row.state.keepSnapshot(upTo: snapshot.seq, by: caller.person)
      } catch { return .failure(CallProblem(error)) }
      try SharedEventRecords.write(snapshot, of: session, at: now, transaction)
      // Those who have just read the one before find what follows it.
      try SharedEventRecords.compact(
        session, upTo: snapshot.seq - Int64(terms.sharing.eventsBehindSnapshot), transaction)
      row.state.noteKept(try SharedEventRecords.bytes(of: session, transaction))
      try SessionRecords.write(row, at: now, transaction)
      return .success(())
    }
  }

  /// - Throws: `notAllowed`, `removed`; `notFound`, also where there is none.
  public func snapshot(
    of session: CallUUID, in call: CallUUID, for person: PersonID
  ) async throws(CallProblem) -> SharedSnapshot {
    try await read { [self] transaction throws(StoreError) in
      if case .failure(let problem) = try readable(session, in: call, for: person, transaction) {
        return .failure(problem)
      }
      guard let snapshot = try SharedEventRecords.snapshot(of: session, transaction) else {
        return .failure(.notFound)
      }
      return .success(snapshot)
    }
  }
}
