public import Calls
internal import Logging
internal import Storage

/// What is said of calls without a request: media comes and goes, and those who run rooms take people out or close them. It is written
/// down as soon as the store takes it, and counts from when it was said.
extension CallDesk {
  /// What something was said of, in one transaction.
  private static let group = 64
  /// A store that stands still is not waited for longer.
  private static let orderPatience = Duration.seconds(3)

  /// The media of a session stands, or doesn't any more. It is written down as soon as the store takes it.
  public func media(_ word: CallPresence, of person: PersonID, session: CallUUID, in call: CallUUID) {
    words.say(.media(word), of: .session(session, of: person, in: call), at: clock())
  }

  /// The same of a person in the room of a call, by the stay that `connect` has said. Where the person has left, or is in the call by
  /// another device, it means nothing.
  public func media(_ word: CallPresence, of person: PersonID, stay: CallUUID, inRoom room: String) {
    words.say(.media(word), of: .room(room, person, stay: stay), at: clock())
  }

  /// A device of a person has begun to read its events, or doesn't any more: direct calls follow that.
  public func readersChanged(of person: PersonID) {
    words.say(.read(by: outlet.readers(of: person)), of: .readers(person), at: clock())
  }

  /// What became of what one who runs a room has said.
  public enum Order: Hashable, Sendable {
    /// It is on the disk, or there was nothing to do.
    case stored
    /// Nothing can be stored. It holds, and takes effect before anything else once that goes again; a crash undoes it.
    case kept
    /// Nothing can be stored, and too much of the kind is kept already: it isn't done.
    case refused
  }

  /// Who runs the room of a call takes a person out of it, for good. Of a room that is no call's, or whose call is over, it does nothing.
  @discardableResult
  public func remove(_ person: PersonID, fromRoom room: String) async -> Order {
    await order(.removed, of: .removal(room, person))
  }

  /// Who runs the room of a call closes it, and so ends the call; as above.
  @discardableResult
  public func end(room: String) async -> Order { await order(.ended, of: .end(room)) }

  private func order(_ what: PendingWords.What, of source: PendingWords.Source) async -> Order {
    guard words.say(what, of: source, at: clock()) else {
      log.error(
        "calls: nothing can be stored, and too many are removed from rooms meanwhile: one stays in its call")
      return .refused
    }
    let number = words.last
    let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
    Task { [self] in
      if await write([source], upTo: number) {
        answer.yield(true)
      } else {
        // What finds the connection to the database lost makes another one, by which this goes.
        answer.yield(await write([source], upTo: number))
      }
    }
    // The room waits for this, with all who are in it.
    Task {
      try? await Task.sleep(for: Self.orderPatience)
      answer.yield(false)
    }
    for await isStored in answers { return isStored ? .stored : .kept }
    return .kept
  }

  /// Whether a person was taken out of a call, also where that can't be written down yet.
  func isRemoved(_ person: PersonID, from row: CallRecords.Row) -> Bool {
    row.state.hasRemoved(person) || row.room.map { words.has(.removal($0, person)) } ?? false
  }

  /// Whether a call is over, as above.
  func isOver(_ row: CallRecords.Row) -> Bool {
    row.state.isEnded || row.room.map { words.has(.end($0)) } ?? false
  }

  // MARK: - Writing down

  /// Writes down what was said so far.
  func writePresence() async {
    let (all, last) = words.sources
    var rest = all[...]
    while !rest.isEmpty {
      let group = Array(rest.prefix(Self.group))
      guard await write(group, upTo: last) else { return }
      rest = rest.dropFirst(group.count)
    }
  }

  /// What something was said of, as far as it isn't written down.
  private struct Unwritten {
    var source: PendingWords.Source
    /// Of its calls those behind this one; nil: all.
    var place: CallRecords.Place?
  }

  /// - Parameter number: of the last word that is meant.
  /// - Returns: whether it is on the disk. If not, it is written a little later; media goes on meanwhile.
  @discardableResult
  private func write(_ sources: [PendingWords.Source], upTo number: UInt64) async -> Bool {
    var rest = sources.map { Unwritten(source: $0) }
    // What is said of a person's streams is of all direct calls that it is in, in as many transactions as these take.
    while !rest.isEmpty {
      let some = rest
      do throws(CallProblem) {
        rest = try await decide {
          [self] transaction, aftermath, now throws(StoreError) -> Result<[Unwritten], CallProblem> in
          .success(try write(some, at: now, &aftermath, transaction))
        }
      } catch { return false }
    }
    words.forget(sources, upTo: number)
    return true
  }

  /// Has what was said of some take effect, as far as one transaction goes.
  /// - Returns: what is left to be looked at.
  private func write(
    _ some: [Unwritten], at now: CallTime, _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [Unwritten] {
    var (known, left, looked): (Known, [Unwritten], Int) = ([:], [], 0)
    for one in some {
      guard looked < Self.group else {
        left.append(one)
        continue
      }
      let page = try calls(of: one, transaction)
      looked += page.count
      for row in page.rows { known[row.state.id] = row }
      if let next = page.next { left.append(Unwritten(source: one.source, place: next)) }
    }
    try keep(book(of: known, at: now), of: known, at: now, &aftermath, transaction)
    return left
  }

  /// - Returns: none where it is of no call, or of one that can't be understood: what is said of others is written down.
  private func calls(
    of one: Unwritten, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallRecords.Page {
    do throws(StoreError) { return try understoodCalls(of: one, transaction) } catch {
      guard case .unreadable = error else { throw error }
      return CallRecords.Page()
    }
  }

  private func understoodCalls(
    of one: Unwritten, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallRecords.Page {
    let found: CallRecords.Row?
    switch one.source {
    case .session(_, _, let call): found = try CallRecords.call(call, terms: callTerms, transaction)
    case .room(let room, _, _), .removal(let room, _), .end(let room):
      found = try CallRecords.call(inRoom: room, terms: callTerms, transaction)
    case .readers(let person):
      var page = try CallRecords.active(
        of: person, after: one.place, limit: Self.group, terms: callTerms, transaction)
      page.rows.removeAll { $0.state.path != .direct }
      return page
    }
    return CallRecords.Page(rows: found.map { [$0] } ?? [], count: 1)
  }

  // MARK: - Taking into account

  /// Calls as they stand by now: first what was said of them takes effect, each word at the time at which it was said, and time goes on
  /// from there. All that is decided of calls begins here, so that whatever comes first behind an outage of the store takes no one for
  /// gone whose media stands, and lets no one in who was taken out.
  func book(of known: Known, at now: CallTime) -> CallBook {
    var said: [CallBook.Word] = []
    if !words.isEmpty {
      for row in known.values where !row.state.isEnded { said += self.said(of: row) }
      said.sort { $0.number < $1.number }
    }
    return CallBook(known.values.map(\.state), hearing: said, terms: terms.book, at: now)
  }

  /// What was said of a call and isn't in it yet, in order.
  private func said(of row: CallRecords.Row) -> [CallBook.Word] {
    let call = row.state
    let found = words.words(of: sources(of: row)).filter { $0.number > call.heard }
    var newest: [PendingWords.Source: UInt64] = [:]
    for word in found { newest[word.source] = word.number }
    // By which session the media of each stands.
    var standing: [PersonID: CallUUID] = [:]
    for person in call.people { standing[person.id] = person.session?.standingBy }
    var said: [CallBook.Word] = []
    for word in found {
      guard
        let event = self.event(of: word, in: call, isNewest: newest[word.source] == word.number, &standing)
      else { continue }
      said.append(CallBook.Word(of: call.id, event, number: word.number, at: word.at))
    }
    return said
  }

  private func sources(of row: CallRecords.Row) -> [PendingWords.Source] {
    let call = row.state
    var sources: [PendingWords.Source] = []
    if let room = row.room { sources.append(.end(room)) }
    for person in call.people {
      if let room = row.room { sources.append(.removal(room, person.id)) }
      if call.path == .direct { sources.append(.readers(person.id)) }
      guard let session = person.session else { continue }
      if let room = row.room { sources.append(.room(room, person.id, stay: session.stay)) }
      for id in Set([session.id, session.standingBy]) {
        sources.append(.session(id, of: person.id, in: call.id))
      }
    }
    return sources
  }

  /// - Parameter isNewest: nothing later was said of the same.
  private func event(
    of word: PendingWords.Word, in call: CallState, isNewest: Bool, _ standing: inout [PersonID: CallUUID]
  ) -> CallEvent? {
    switch (word.source, word.what) {
    case (.session(let session, let person, _), .media(let presence)):
      if presence == .stands { standing[person] = session }
      return CallEvent(presence, of: person, session)
    case (.room(_, let person, let stay), .media(let presence)):
      guard let session = call[person]?.session, session.stay == stay else { return nil }
      return event(presence, of: person, by: session, &standing)
    case (.readers(let person), .read(let readers)):
      guard let session = call[person]?.session else { return nil }
      // Two that change at once may be said in the other order: how it is in the end is asked.
      let current = isNewest ? outlet.readers(of: person) : readers
      return event(current.has(session.device) ? .stands : .gone, of: person, by: session, &standing)
    case (.removal(_, let person), .removed): return .remove(person)
    case (.end, .ended): return .end(by: nil)
    default: return nil
    }
  }

  /// By whichever session of its stay the person is in the call.
  private func event(
    _ presence: CallPresence, of person: PersonID, by session: CallSession,
    _ standing: inout [PersonID: CallUUID]
  ) -> CallEvent {
    if presence == .stands { standing[person] = session.id }
    return CallEvent(presence, of: person, standing[person] ?? session.id)
  }
}

extension CallEvent {
  fileprivate init(_ word: CallPresence, of person: PersonID, _ session: CallUUID) {
    self =
      switch word {
      case .stands: .mediaCame(person, session: session)
      case .gone: .mediaWent(person, session: session)
      case .lost: .mediaWent(person, session: session, isLost: true)
      }
  }
}

extension CallSession {
  /// The session by which its media stands; its own, where it doesn't.
  fileprivate var standingBy: CallUUID { if case .standing(let by) = media { by } else { id } }
}
