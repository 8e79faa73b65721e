public import Calls
internal import Crypto
internal import Storage

/// How what people of a call do together begins.
extension CallDesk {
  /// What a session is asked for with.
  private struct SessionStart {
    var id: CallUUID
    var call: CallUUID
    var experience: String
    var earlier: CallUUID?

    /// By which the answer is kept. No id of a call or a signal is such a name.
    var request: String { "session \(id.text)" }

    /// All of it, in 32 bytes.
    var digest: [UInt8] {
      var bytes: [UInt8] = []
      for text in [id.text, call.text, experience, earlier?.text ?? ""] {
        bytes += Array("\(text.utf8.count):".utf8)
        bytes += Array(text.utf8)
      }
      return SHA256.digest(bytes)
    }

    /// Whether such a session is what is asked for.
    func isLike(_ session: SharedSession) -> Bool {
      session.call == call && session.experience.utf8.elementsEqual(experience.utf8)
    }
  }

  /// A session, and whether it has just begun.
  private typealias StartedSession = (session: SharedSessionDocument, isNew: Bool)

  /// Starts one, or finds the one of that experience that is running in the call.
  /// - Parameter earlier: the session with whose last snapshot it begins: one in which the person took part, and which it may read.
  /// - Throws: `notFound`, `notAllowed`, `callEnded`, `sessionEnded`, `idTaken`, `tooLarge`, `tooMany`.
  public func startSession(
    _ id: CallUUID, in call: CallUUID, experience: String, from earlier: CallUUID? = nil, by caller: Caller
  ) async throws(CallProblem) -> (session: SharedSessionDocument, isNew: Bool) {
    guard (1...128).contains(experience.utf8.count) else { throw .tooLarge("experience") }
    try takeChange(caller)
    let start = SessionStart(id: id, call: call, experience: experience, earlier: earlier)
    // A snapshot that is copied counts like one that comes in, at its largest.
    let bytes = 4_096 + (earlier == nil ? 0 : terms.sharing.snapshot)
    return try await inCall(call, by: caller, bytes: bytes) {
      [self] transaction, aftermath, now, found throws(StoreError) in
      // What was asked before is answered as it was, whatever has begun or ended since.
      if let first = try firstAnswer(to: start, by: caller.person, transaction) { return first }
      let answer = try begin(start, by: caller.person, in: found, at: now, &aftermath, transaction)
      if case .success(let started) = answer {
        try keepAnswer(
          Array(started.session.state.id.text.utf8), to: start.request, content: start.digest,
          by: caller.person, at: now, transaction)
      }
      return answer
    }
  }

  /// How much a session would begin with: it is copied for who asks for little.
  /// - Returns: in bytes; 0 where nothing is copied, also since the person may not.
  public func snapshotSize(of earlier: CallUUID, for person: PersonID) async throws(CallProblem) -> Int {
    try await read { [self] transaction throws(StoreError) in
      guard try mayBegin(from: earlier, person, transaction) else { return .success(0) }
      return .success(try SharedEventRecords.snapshotSize(of: earlier, transaction))
    }
  }

  /// What the same request was answered by.
  /// - Returns: nil: it is the first with its id.
  private func firstAnswer(
    to start: SessionStart, by person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<StartedSession, CallProblem>? {
    switch try keptAnswer(to: start.request, content: start.digest, by: person, transaction) {
    case .other: return .failure(.idTaken)
    case .same(let body):
      guard let id = CallUUID(String(decoding: body, as: UTF8.self)),
        let row = try SessionRecords.session(id, of: start.call, terms: terms.sessions, transaction),
        !isForgotten(row.state)
        // It has ended meanwhile, and isn't kept any more.
      else { return .failure(.sessionEnded) }
      return .success((document(row), false))
    case .no: break
    }
    // Answers are kept for a day, and sessions for longer.
    guard let row = try SessionRecords.session(start.id, terms: terms.sessions, transaction) else {
      return nil
    }
    guard start.isLike(row.state), row.state.everyone.first == person else { return .failure(.idTaken) }
    guard !isForgotten(row.state) else { return .failure(.sessionEnded) }
    return .success((document(row), false))
  }

  private func begin(
    _ start: SessionStart, by person: PersonID, in found: CallRecords.Row, at now: CallTime,
    _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<StartedSession, CallProblem> {
    let open = try SessionRecords.all(of: start.call, isOpen: true, terms: terms.sessions, transaction)
    if let running = open.rows.first(where: { start.isLike($0.state) }) {
      return .success((document(running), false))
    }
    guard open.count < terms.sharing.sessionsOfCall else { return .failure(.tooLarge("sessions")) }
    let snapshots = try SessionRecords.snapshots(of: start.call, endedAfter: cutoff(.sessions), transaction)
    guard snapshots < terms.sharing.snapshotsOfCall else {
      return .failure(.tooLarge("sessions of the call that have ended, and whose snapshots are kept"))
    }
    var isBegun = false
    if let earlier = start.earlier {
      guard try mayBegin(from: earlier, person, transaction) else { return .failure(.notFound) }
      isBegun = try SharedEventRecords.copySnapshot(of: earlier, to: start.id, at: now, transaction)
    }
    let state = SharedSession(
      start.id, of: start.call, experience: start.experience, by: person, from: isBegun,
      terms: terms.sessions, at: now)
    let row = SessionRecords.Row(state: state)
    try SessionRecords.write(row, at: now, transaction)
    try SessionRecords.forget(of: start.call, beyond: terms.sharing.sessionsOfCall, transaction)
    try tell(.sessionStarted, of: row, in: found, at: now, &aftermath, transaction)
    return .success((document(row), true))
  }

  /// Whether a person may begin with the snapshot of a session: it took part in that, and may read it at this moment, as it would by
  /// asking for it.
  private func mayBegin(
    from earlier: CallUUID, _ person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    guard let row = try SessionRecords.session(earlier, of: person, terms: terms.sessions, transaction),
      row.state.everyone.contains(person),
      let call = try keptCall(row.state.call, of: person, transaction),
      case .success = readable(row, in: call, for: person)
    else { return false }
    return true
  }
}
