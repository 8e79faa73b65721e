public import Calls
internal import Storage

/// How a shared session stands behind one of its events, as its owner says.
extension CallDesk {
  /// Keeps what the owner says; events that came long before it go. It counts as one of the changes that a person makes in a minute.
  /// - Throws: `notFound`, `notAllowed`, `callEnded`, `sessionEnded`, `tooLarge`, `tooMany`, `beyondLast`; `staleSnapshot` with the
  ///   number of the one that is kept.
  public func keepSnapshot(
    _ snapshot: SharedSnapshot, of session: CallUUID, in call: CallUUID, by caller: Caller
  ) async throws(CallProblem) {
    guard snapshot.state.count + snapshot.people.count <= terms.sharing.snapshot else {
      throw .tooLarge("snapshot")
    }
    try takeChange(caller)
    try await inCall(call, by: caller, bytes: snapshot.state.count + snapshot.people.count + 4_096) {
      [self] transaction, _, now, _ throws(StoreError) -> Result<Void, CallProblem> in
      guard var row = try SessionRecords.session(session, of: call, terms: terms.sessions, transaction) else {
        return .failure(.notFound)
      }
      let before = row.state.snapshotSeq
      do throws(SharedSessionRefusal) {
        try row.state.keepSnapshot(upTo: snapshot.seq, by: caller.person)
      } catch { return .failure(CallProblem(error)) }
      try SharedEventRecords.write(snapshot, of: session, at: now, transaction)
      // What one up to the same event has made needless has gone with that.
      guard row.state.snapshotSeq != before else { return .success(()) }
      try compact(&row, transaction)
      try SessionRecords.write(row, at: now, transaction)
      return .success(())
    }
  }

  /// Those who have just read the snapshot before find what follows it.
  private func compact(
    _ row: inout SessionRecords.Row, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let floor = (row.state.snapshotSeq ?? 0) - Int64(terms.sharing.eventsBehindSnapshot)
    guard floor > row.floor else { return }
    let gone = try SharedEventRecords.compact(
      row.state.id, after: row.floor, upTo: floor, knowing: terms.sharing.idsBehindEvents, transaction)
    row.floor = floor
    row.state.noteGone(gone)
  }

  /// How much the snapshot has that a person may read.
  /// - Returns: in bytes; 0: there is none.
  /// - Throws: `notFound`, `notAllowed`, `removed`.
  public func snapshotSize(
    of session: CallUUID, in call: CallUUID, for person: PersonID
  ) async throws(CallProblem) -> Int {
    try await read { [self] transaction throws(StoreError) -> Result<Int, CallProblem> in
      if case .failure(let problem) = try readable(session, in: call, for: person, transaction) {
        return .failure(problem)
      }
      return .success(try SharedEventRecords.snapshotSize(of: session, transaction))
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
