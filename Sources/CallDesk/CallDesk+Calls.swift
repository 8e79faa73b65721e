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
    var digest: [UInt8] {
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

  /// What a start or a join was answered by, for when it is asked again.
  struct Started: Codable {
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
      let request = Self.name(of: wanted.id)
      switch try keptAnswer(to: request, content: digest, by: caller.person, transaction) {
      case .other: return .failure(.idTaken)
      case .same(let body):
        guard let known = try? JSONDecoder().decode(Started.self, from: Data(body)),
          let row = try keptCall(known.call, of: caller.person, transaction)
        else { return .failure(.notFound) }
        return .success(try entry(known, row, caller, transaction))
      case .no: return try start(wanted, request, digest, by: caller, at: now, &aftermath, transaction)
      }
    }
  }

  func entry(
    _ started: Started, _ row: CallRecords.Row, _ caller: Caller, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallEntry {
    var entry = CallEntry(
      call: try document(row, transaction), session: started.session, device: started.device,
      isMerged: started.isMerged)
    entry.key = try callKey(of: row, for: caller.person, device: started.device, transaction)
    return entry
  }

  /// A start that is asked again once its answer isn't kept any more: the call has what it was started with for as long as it is in
  /// the histories.
  /// - Parameter isSame: the same was asked for then.
  private func startedBefore(
    _ id: CallUUID, isSame: Bool, _ caller: Caller, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<CallEntry, CallProblem> {
    guard isSame, let row = try keptCall(id, of: caller.person, transaction),
      row.state.caller == caller.person
    else { return .failure(.idTaken) }
    let session = row.state[caller.person]?.session
    // Who isn't in it any more has none: one that is the same each time stands for that.
    let digest = SHA256.digest(Array("session of \(id.text)".utf8))
    var (high, low) = (UInt64(0), UInt64(0))
    for byte in digest[..<8] { high = high << 8 | UInt64(byte) }
    for byte in digest[8..<16] { low = low << 8 | UInt64(byte) }
    let none = CallUUID(random: (high, low))
    let started = Started(
      call: id, session: session?.id ?? none,
      device: session?.device ?? caller.device ?? DeviceID.drawn(none),
      isMerged: false)
    return .success(try entry(started, row, caller, transaction))
  }

  private func start(
    _ wanted: Start, _ request: String, _ digest: [UInt8], by caller: Caller, at now: CallTime,
    _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<CallEntry, CallProblem> {
    if let known = try CallRecords.request(of: wanted.id, transaction) {
      return try startedBefore(wanted.id, isSame: known == digest, caller, transaction)
    }
    // Asked before anything of up to 31 people is read.
    if let wait = rates.withLock({ $0.wait(forStartBy: caller.person, at: now.steady) }) {
      return .failure(.tooMany(wait: wait))
    }
    if let problem = try crowding(of: caller.person, transaction) { return .failure(problem) }
    let problem = try problem(
      of: wanted.keys, for: wanted.recipients, by: caller.person, isEncrypted: wanted.isEncrypted, transaction
    )
    if let problem { return .failure(problem) }
    let invitations = try invitations(
      of: wanted.recipients, by: caller.person, head: wanted.head, transaction)
    let known = try others(
      beside: wanted.id, of: invitations.map(\.person), rungBy: caller.person, transaction)
    var book = self.book(of: known, at: now)
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
    aftermath.spent += book.counted.map(Spending.calls)
    // Before the others are rung by that name; who is refused hasn't come.
    if case .success = decided { try PersonRecords.note(caller, transaction) }
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
      try keepAnswer(answer.body, to: request, content: digest, by: caller.person, at: now, transaction)
      return .success(try entry(answer, row, caller, transaction))
    }
  }

  // MARK: - In and out

  /// Who isn't in the call comes into it, as often as terms say; leaving can't be more than that. A device that is in it may join again as
  /// often as it likes: the others see nothing of that.
  /// - Parameters:
  ///   - takeover: a device of the same person that is in the call goes.
  ///   - key: the client's for this request, and what stands for all of it, some bytes: asked again it joins no one. nil: it has none.
  /// - Throws: `notFound`, `removed`, `callEnded`, `activeElsewhere`, `idTaken`, `tooMany`, `storeUnavailable`.
  public func join(
    _ id: CallUUID, by caller: Caller, takeover: Bool = false,
    under key: (text: String, content: [UInt8])? = nil
  ) async throws(CallProblem) -> CallEntry {
    let session = uuid()
    let device = caller.device ?? DeviceID.drawn(uuid())
    return try await decide { [self] transaction, aftermath, now throws(StoreError) in
      if let key {
        let request = Self.name(of: key.text)
        switch try keptAnswer(to: request, content: key.content, by: caller.person, transaction) {
        case .other: return .failure(.idTaken)
        case .same(let body): return try joinedBefore(body, id, caller, at: now, &aftermath, transaction)
        case .no: break
        }
      }
      let row: CallRecords.Row
      switch try enter(
        id, caller.person, device, session: session, takeover: takeover, reader: caller.reader, at: now,
        &aftermath, transaction)
      {
      case .failure(let problem): return .failure(problem)
      case .success(let found): row = found
      }
      // Who is refused hasn't come.
      try PersonRecords.note(caller, transaction)
      if caller.device != nil {
        try DeviceRecords.noteUse(of: device, by: caller.person, at: now, transaction)
      }
      // It may have come in by another name of its own before.
      let known = row.state[caller.person]?.session?.device ?? device
      let started = Started(call: id, session: session, device: known, isMerged: false)
      if let key {
        try keepAnswer(
          started.body, to: Self.name(of: key.text), content: key.content, by: caller.person, at: now,
          transaction)
      }
      return .success(try entry(started, row, caller, transaction))
    }
  }

  /// Has a person come into a call, if it may do so once more by now. Nothing is counted where it is in it already, or is refused.
  func enter(
    _ id: CallUUID, _ person: PersonID, _ device: DeviceID, session: CallUUID, takeover: Bool,
    reader: DeviceID? = nil, at now: CallTime, _ aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<CallRecords.Row, CallProblem> {
    let known = try keptCall(id, of: person, transaction)?.state
    let isNew = known.map { comesNew(person, to: $0) } ?? false
    if isNew, let problem = try comingProblem(of: person, at: now, transaction) { return .failure(problem) }
    let event = CallEvent.join(person, device, session: session, takeover: takeover, reader: reader)
    let result = try apply(event, to: id, by: person, at: now, &aftermath, transaction)
    if isNew, case .success = result {
      changeRates.count(person, at: now.steady)
      aftermath.spent.append(.changes(person, at: now.steady))
    }
    return result
  }

  /// - Returns: how the call stands then; it may be over.
  public func leave(
    _ id: CallUUID, by caller: Caller, reason: LeaveReason, under request: KeyedRequest<CallDocument>? = nil
  ) async throws(CallProblem) -> CallDocument {
    try await change(id, .leave(caller.person, caller.device, reason), by: caller, under: request)
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
    by caller: Caller, under request: KeyedRequest<CallDocument>? = nil
  ) async throws(CallProblem) -> CallDocument {
    try check(people, by: caller.person)
    try check(keys)
    return try await inCall(id, by: caller, bytes: 16_384 + keys.size, under: request) {
      [self] transaction, aftermath, now, row throws(StoreError) in
      let call = row.state
      // Asked before anything of those who would be rung is read; of those who are rung or in it already nothing is.
      let rung = try rung(of: people, in: call, by: caller.person, transaction)
      if let wait = rates.withLock({ $0.wait(forRinging: rung, by: caller.person, at: now.steady) }) {
        return .failure(.tooMany(wait: wait))
      }
      let problem = try problem(
        of: keys, for: people, by: caller.person, isEncrypted: call.isEncrypted, transaction)
      if let problem { return .failure(problem) }
      var round: KeyRound?
      if call.isEncrypted {
        let last = try CallKeyRecords.last(of: id, transaction) ?? 0
        guard index == last else { return .failure(.staleKey([], index: last)) }
        round = KeyRound(
          index: index, from: caller.person, keys: keys.filter { rung.contains($0.person) })
      }
      let invitations = try invitations(of: people, to: call, by: caller.person, head: head, transaction)
      return try documented(
        apply(
          .invite(by: caller.person, invitations), to: id, by: caller.person, beside: rung, bringing: round,
          at: now, &aftermath, transaction), transaction)
    }
  }

  /// Changes what people of the call may change. All of them hear of it, so that one person does it no more often than terms say.
  /// - Throws: `notFound`, `removed`, `callEnded`, `notAllowed`, `tooLarge`, `tooMany`, `storeUnavailable`.
  public func change(
    _ id: CallUUID, _ change: CallChange, by caller: Caller
  ) async throws(CallProblem) -> CallDocument {
    if let metadata = change.metadata ?? nil, metadata.utf8.count > terms.metadata {
      throw .tooLarge("metadata")
    }
    // Who asks too often costs the store nothing.
    if let wait = changeRates.wait(caller.person, at: clock().steady) { throw .tooMany(wait: wait) }
    return try await decide { [self] transaction, aftermath, now throws(StoreError) in
      if let wait = changeRates.take(caller.person, at: now.steady) { return .failure(.tooMany(wait: wait)) }
      aftermath.spent.append(.changes(caller.person, at: now.steady))
      return try documented(
        apply(
          .change(by: caller.person, change), to: id, by: caller.person, at: now, &aftermath, transaction),
        transaction)
    }
  }

  private func change(
    _ id: CallUUID, _ event: CallEvent, by caller: Caller, under request: KeyedRequest<CallDocument>? = nil
  ) async throws(CallProblem) -> CallDocument {
    try await decide(under: request) { [self] transaction, aftermath, now throws(StoreError) in
      return try documented(
        apply(event, to: id, by: caller.person, at: now, &aftermath, transaction), transaction)
    }
  }

  // MARK: - One event of one call

  /// - Parameters:
  ///   - person: who asks; nil: one who runs the room.
  ///   - others: people who would be rung: whether each is in another call is looked at, since that one is busy.
  ///   - keys: what those who are rung by it get, if it is done.
  func apply(
    _ event: CallEvent, to id: CallUUID, by person: PersonID?, beside others: [PersonID] = [],
    bringing keys: KeyRound? = nil, at now: CallTime,
    _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<CallRecords.Row, CallProblem> {
    let found: CallRecords.Row? =
      if let person {
        try keptCall(id, of: person, transaction)
      } else {
        try keptCall(id, transaction)
      }
    guard var row = found else { return .failure(.notFound) }
    var known = try CallRecords.standing(of: others, beside: id, terms: callTerms, transaction)
    known[id] = row
    var book = self.book(of: known, at: now)
    var refusal: CallBook.Refusal?
    do throws(CallBook.Refusal) {
      try rates.withLock { rates throws(CallBook.Refusal) in
        try book.apply(event, to: id, rates: &rates, at: now)
      }
    } catch { refusal = error }
    aftermath.spent += book.counted.map(Spending.calls)
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
