public import Calls
internal import Crypto
internal import FoundationEssentials
internal import Storage
internal import Synchronization

/// What people ask of calls.
extension CallDesk {
  /// What a call is started with.
  public struct Start: Hashable, Sendable {
    public var id: CallUUID
    public var recipients: [PersonID]
    public var media: CallMedia
    public var path = CallPath.relay
    public var isEncrypted = false
    public var metadata: String?
    /// Of an encrypted call: its key for each recipient, and for other devices of the caller's.
    public var keys: [WrappedKey] = []
    public var head: CallHead?

    public init(id: CallUUID, recipients: [PersonID], media: CallMedia) {
      self.id = id
      self.recipients = recipients
      self.media = media
    }

    /// All of it, in 32 bytes.
    fileprivate var digest: [UInt8] {
      var bytes: [UInt8] = []
      let texts = [
        id.text, media.rawValue, path.rawValue, isEncrypted ? "e" : "", metadata ?? "",
        metadata == nil ? "" : "m", head.map { "\($0.size) \($0.root)" } ?? "", "\(recipients.count)",
      ]
      for text in texts + recipients.map(\.text) {
        bytes += Array("\(text.utf8.count):".utf8)
        bytes += Array(text.utf8)
      }
      return SHA256.digest(bytes + keys.content)
    }
  }

  /// What a start was answered by, for when it is asked again.
  private struct Started: Codable {
    var call: CallUUID
    var session: CallUUID
    var device: DeviceID
    var isMerged: Bool
  }

  /// - Throws: `tooMany`: the person has started as many calls as it may for now. Nothing is counted.
  public func requireStart(by person: PersonID) throws(CallProblem) {
    if let wait = rates.withLock({ $0.wait(forStartBy: person, at: clock().steady) }) {
      throw .tooMany(wait: wait)
    }
  }

  /// The app's own server is asked about a person: counted, whatever it says.
  /// - Throws: `tooMany`.
  public func requireAsk(by person: PersonID) throws(CallProblem) {
    if let wait = askRates.take(person, at: clock().steady) { throw .tooMany(wait: wait) }
  }

  /// Starts a call, and rings its recipients; or joins the one by which the only recipient rings the caller at this moment.
  /// - Throws: `idTaken`, `noRecipients`, `tooManyPeople`, `tooLarge`, `tooMany`, `keyMissing`, `staleKey`, `notEncrypted`,
  ///   `storeUnavailable`.
  public func start(_ wanted: Start, by caller: Caller) async throws(CallProblem) -> CallEntry {
    if let metadata = wanted.metadata, metadata.utf8.count > terms.metadata { throw .tooLarge("metadata") }
    try check(wanted.recipients, by: caller.person)
    try check(wanted.keys)
    let digest = wanted.digest
    return try await decide(bytes: 16_384 + wanted.keys.size) {
      [self] transaction, aftermath, now throws(StoreError) in
      let request = "call \(wanted.id.text)"
      switch try AnswerRecords.find(request, content: digest, by: caller.person, transaction) {
      case .other: return .failure(.idTaken)
      case .same(let body):
        guard let known = try? JSONDecoder().decode(Started.self, from: Data(body)),
          let row = try CallRecords.call(known.call, of: caller.person, terms: callTerms, transaction)
        else { return .failure(.notFound) }
        return .success(try entry(known, row, caller, transaction))
      case .no: return try start(wanted, request, digest, by: caller, at: now, &aftermath, transaction)
      }
    }
  }

  private func entry(
    _ started: Started, _ row: CallRecords.Row, _ caller: Caller, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallEntry {
    var entry = CallEntry(
      call: try document(row, transaction), session: started.session, device: started.device,
      isMerged: started.isMerged)
    entry.key = try callKey(of: row.state, for: caller.person, device: started.device, transaction)
    return entry
  }

  private func start(
    _ wanted: Start, _ request: String, _ digest: [UInt8], by caller: Caller, at now: CallTime,
    _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<CallEntry, CallProblem> {
    if try CallRecords.request(of: wanted.id, transaction) != nil { return .failure(.idTaken) }
    // Asked before the calls of up to 31 people are read.
    if let wait = rates.withLock({ $0.wait(forStartBy: caller.person, at: now.steady) }) {
      return .failure(.tooMany(wait: wait))
    }
    let problem = try problem(
      of: wanted.keys, for: wanted.recipients, by: caller.person, isEncrypted: wanted.isEncrypted, transaction
    )
    if let problem { return .failure(problem) }
    try PersonRecords.note(caller, transaction)
    let invitations = try invitations(
      of: wanted.recipients, by: caller.person, head: wanted.head, transaction)
    let known = try CallRecords.open(of: wanted.recipients + [caller.person], terms: callTerms, transaction)
    var book = CallBook(known.values.map(\.state), terms: terms.book, at: now)
    let device = caller.device ?? DeviceID.drawn(uuid())
    var start = CallState.Start(
      id: wanted.id, caller: caller.person, device: device, session: uuid(), recipients: invitations,
      media: wanted.media)
    (start.path, start.isEncrypted, start.metadata) = (wanted.path, wanted.isEncrypted, wanted.metadata)
    let decided: Result<CallUUID, CallBook.Refusal>
    do throws(CallBook.Refusal) {
      decided = .success(
        try rates.withLock { rates throws(CallBook.Refusal) in try book.start(start, rates: &rates, at: now) }
      )
    } catch { decided = .failure(error) }
    var begun: CallRecords.Row?
    if let state = book[wanted.id] {
      begun = CallRecords.Row(
        state: state, room: wanted.path == .relay ? "call-\(uuid().text)" : nil, apiKey: caller.apiKey)
      // Before those who are rung get theirs.
      if wanted.isEncrypted {
        let round = KeyRound(from: caller.person, keys: wanted.keys)
        try CallKeyRecords.write(round, of: wanted.id, transaction)
      }
    }
    try keep(book, of: known, begun: begun, request: digest, at: now, &aftermath, transaction)
    switch decided {
    case .failure(let refusal): return .failure(CallProblem(refusal))
    case .success(let id):
      guard var row = known[id] ?? begun, let state = book[id] else { return .failure(.notFound) }
      row.state = state
      let answer = Started(call: id, session: start.session, device: device, isMerged: id != wanted.id)
      guard let body = try? JSONEncoder().encode(answer) else { preconditionFailure("ids are always JSON") }
      try AnswerRecords.keep(
        Array(body), for: request, content: digest, by: caller.person, at: now, transaction)
      return .success(try entry(answer, row, caller, transaction))
    }
  }

  /// Each recipient costs two reads or more, so that their number is bounded before anything is read.
  private func check(_ people: [PersonID], by person: PersonID) throws(CallProblem) {
    guard people.count <= 4 * callTerms.people, Set(people).subtracting([person]).count < callTerms.people
    else {
      throw .tooManyPeople(most: callTerms.people)
    }
  }

  private func invitations(
    of people: [PersonID], by person: PersonID, head: CallHead?, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [CallInvitation] {
    var invitations: [CallInvitation] = []
    for other in people {
      let isBlocked = try BlockRecords.has(person, by: other, transaction)
      invitations.append(CallInvitation(other, ring: uuid(), isSilent: isBlocked, head: head))
    }
    return CallInvitation.each(invitations, without: person)
  }

  // MARK: - In and out

  /// - Parameter takeover: a device of the same person that is in the call goes.
  /// - Throws: `notFound`, `removed`, `callEnded`, `activeElsewhere`, `storeUnavailable`.
  public func join(
    _ id: CallUUID, by caller: Caller, takeover: Bool = false
  ) async throws(CallProblem) -> CallEntry {
    let session = uuid()
    let device = caller.device ?? DeviceID.drawn(uuid())
    return try await decide { [self] transaction, aftermath, now throws(StoreError) in
      try PersonRecords.note(caller, transaction)
      let event = CallEvent.join(caller.person, device, session: session, takeover: takeover)
      let row: CallRecords.Row
      switch try apply(event, to: id, by: caller.person, at: now, &aftermath, transaction) {
      case .failure(let problem): return .failure(problem)
      case .success(let found): row = found
      }
      if caller.device != nil {
        try DeviceRecords.noteUse(of: device, by: caller.person, at: now, transaction)
      }
      let started = Started(call: id, session: session, device: device, isMerged: false)
      return .success(try entry(started, row, caller, transaction))
    }
  }

  /// - Returns: how the call stands then; it may be over.
  public func leave(
    _ id: CallUUID, by caller: Caller, reason: LeaveReason
  ) async throws(CallProblem) -> CallDocument {
    try await change(id, .leave(caller.person, caller.device, reason), by: caller)
  }

  /// Rings more people.
  /// - Parameters:
  ///   - keys: of an encrypted call: its key for each of them. Those of who is rung or in it already aren't kept.
  ///   - index: the number of that key; another than the call's of now is stale.
  ///   - head: how the log of keys looks to the caller.
  /// - Throws: `notFound`, `removed`, `callEnded`, `notAllowed`, `noRecipients`, `tooManyPeople`, `keyMissing`, `staleKey`,
  ///   `notEncrypted`, `tooLarge`, `tooMany`, `storeUnavailable`.
  public func invite(
    _ people: [PersonID], to id: CallUUID, keys: [WrappedKey] = [], index: Int64 = 0, head: CallHead? = nil,
    by caller: Caller
  ) async throws(CallProblem) -> CallDocument {
    try check(people, by: caller.person)
    try check(keys)
    return try await inCall(id, by: caller, bytes: 16_384 + keys.size) {
      [self] transaction, aftermath, now, row throws(StoreError) in
      let call = row.state
      let problem = try problem(
        of: keys, for: people, by: caller.person, isEncrypted: call.isEncrypted, transaction)
      if let problem { return .failure(problem) }
      var round: KeyRound?
      if call.isEncrypted {
        let last = try CallKeyRecords.last(of: id, transaction) ?? 0
        guard index == last else { return .failure(.staleKey([], index: last)) }
        round = KeyRound(
          index: index, from: caller.person, keys: keys.filter { call.canInvite($0.person) })
      }
      let invitations = try invitations(of: people, by: caller.person, head: head, transaction)
      return try documented(
        apply(
          .invite(by: caller.person, invitations), to: id, by: caller.person, beside: people, bringing: round,
          at: now, &aftermath, transaction), transaction)
    }
  }

  /// Changes what people of the call may change.
  public func change(
    _ id: CallUUID, _ change: CallChange, by caller: Caller
  ) async throws(CallProblem) -> CallDocument {
    if let metadata = change.metadata ?? nil, metadata.utf8.count > terms.metadata {
      throw .tooLarge("metadata")
    }
    return try await self.change(id, .change(by: caller.person, change), by: caller)
  }

  private func change(
    _ id: CallUUID, _ event: CallEvent, by caller: Caller
  ) async throws(CallProblem) -> CallDocument {
    try await decide { [self] transaction, aftermath, now throws(StoreError) in
      return try documented(
        apply(event, to: id, by: caller.person, at: now, &aftermath, transaction), transaction)
    }
  }

  // MARK: - One event of one call

  /// - Parameters:
  ///   - person: who asks; nil: one who runs the room.
  ///   - others: people whose other calls are looked at, since one who is in a call is busy.
  ///   - keys: what those who are rung by it get, if it is done.
  func apply(
    _ event: CallEvent, to id: CallUUID, by person: PersonID?, beside others: [PersonID] = [],
    bringing keys: KeyRound? = nil, at now: CallTime,
    _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<CallRecords.Row, CallProblem> {
    let found: CallRecords.Row? =
      if let person {
        try CallRecords.call(id, of: person, terms: callTerms, transaction)
      } else {
        try CallRecords.call(id, terms: callTerms, transaction)
      }
    guard var row = found else { return .failure(.notFound) }
    var known = try CallRecords.open(of: others, terms: callTerms, transaction)
    known[id] = row
    var book = CallBook(known.values.map(\.state), terms: terms.book, at: now)
    var refusal: CallBook.Refusal?
    do throws(CallBook.Refusal) {
      try rates.withLock { rates throws(CallBook.Refusal) in
        try book.apply(event, to: id, rates: &rates, at: now)
      }
    } catch { refusal = error }
    if refusal == nil, let keys { try CallKeyRecords.write(keys, of: id, transaction) }
    try keep(book, of: known, at: now, &aftermath, transaction)
    if let refusal { return .failure(CallProblem(refusal)) }
    row.state = book[id] ?? row.state
    return .success(row)
  }

  func documented(
    _ result: Result<CallRecords.Row, CallProblem>, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<CallDocument, CallProblem> {
    switch result {
    case .failure(let problem): .failure(problem)
    case .success(let row): .success(try document(row, transaction))
    }
  }
}

extension CallProblem {
  init(_ refusal: CallBook.Refusal) {
    switch refusal {
    case .tooOften(let wait): self = .tooMany(wait: wait)
    case .call(let refusal):
      self =
        switch refusal {
        case .unknown: .notFound
        case .notAllowed: .notAllowed
        case .removed: .removed
        case .ended: .callEnded
        case .activeElsewhere: .activeElsewhere
        case .noRecipients: .noRecipients
        case .tooManyPeople(let most): .tooManyPeople(most: most)
        }
    }
  }
}
