public import Calls
internal import FoundationEssentials
internal import Storage

/// Starts and joins that are asked again: their answers have tokens, so that what they have begun is kept in the place of the answer.
extension CallDesk {
  /// Whether a person has started a call by that very request: asked again it is answered as it was, whatever the person may do by now.
  /// Nothing changes by it, and of what others have started it says no.
  /// - Throws: `storeUnavailable`.
  public func isStarted(_ wanted: Start, by person: PersonID) async throws(CallProblem) -> Bool {
    let digest = wanted.digest
    return try await read { [self] transaction throws(StoreError) -> Result<Bool, CallProblem> in
      let request = Self.name(of: wanted.id)
      switch try keptAnswer(to: request, content: digest, by: person, transaction) {
      case .same: return .success(true)
      case .other: return .success(false)
      case .no: break
      }
      // Its answer isn't kept for ever; the call has what it was started with.
      guard try CallRecords.request(of: wanted.id, transaction) == digest else { return .success(false) }
      let row = try keptCall(wanted.id, of: person, transaction)
      return .success(row?.state.caller == person)
    }
  }

  /// A join that is asked again under its key: it joins no one. By the device that had joined it is answered as it was, with the session
  /// as it is by now; where the person isn't in the call any more, by how the call stands.
  /// - Parameter body: what is kept of it.
  func joinedBefore(
    _ body: [UInt8], _ id: CallUUID, _ caller: Caller, at now: CallTime, _ aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<CallEntry, CallProblem> {
    let row: CallRecords.Row
    switch try apply(.time, to: id, by: caller.person, at: now, &aftermath, transaction) {
    case .failure(let problem): return .failure(problem)
    case .success(let found): row = found
    }
    if row.state.hasRemoved(caller.person) { return .failure(.removed) }
    if row.state.isEnded { return .failure(.callEnded) }
    // An older server has kept no more than that it was done.
    let begun = try? JSONDecoder().decode(Started.self, from: Data(body))
    let none = uuid()
    let device = begun?.device ?? caller.device ?? DeviceID.drawn(none)
    if let session = row.state[caller.person]?.session {
      guard session.isBy(device) else { return .failure(.activeElsewhere) }
      let started = Started(call: id, session: session.id, device: session.device, isMerged: false)
      return .success(try entry(started, row, caller, transaction))
    }
    var standing = CallEntry(
      call: try document(row, transaction), session: begun?.session ?? none, device: device)
    standing.isIn = false
    return .success(standing)
  }

  /// Under which a start is kept. No key of a client's is such a name.
  static func name(of call: CallUUID) -> String { "call \(call.text)" }
}

extension CallDesk.Started {
  /// As it is kept.
  var body: [UInt8] {
    guard let body = try? JSONEncoder().encode(self) else { preconditionFailure("ids are always JSON") }
    return Array(body)
  }
}
