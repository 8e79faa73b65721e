internal import Calls
internal import Storage

/// What is kept for a time isn't given out behind that, also where `tidy` hasn't come to it yet.
extension CallDesk {
  static let day: Int64 = 86_400_000
  /// For how long the events of a shared session can be read behind its end.
  static let eventPatience: Int64 = 60_000

  /// What is kept for a time, in the order in which it is forgotten: what people have heard goes before the calls that it is of.
  enum Kept: CaseIterable {
    /// Of calls that are over.
    case wrappedKeys
    case signals
    /// What people hear.
    case events
    /// Answers to requests, for when they are asked again.
    case answers
    case deliveries
    /// Of sessions that are over.
    case sessionEvents
    /// Those that are over, with their snapshots.
    case sessions
    /// Those that are over.
    case calls
    /// Who is erased, and of no call.
    case erasedPeople
    /// Those that aren't used.
    case devices
  }

  /// The moment up to which something is gone by now, in milliseconds since 1970. What is over, or erased, since then or before is gone;
  /// what is of a moment itself is so from the next one on. Whatever forgets it or gives it out asks here.
  func cutoff(_ kept: Kept) -> Int64 {
    let span: Int64 =
      switch kept {
      case .wrappedKeys, .signals: terms.afterCall
      case .events: Int64(terms.eventDays) * Self.day
      case .answers: Self.day
      case .deliveries: terms.deliveries
      case .sessionEvents: Self.eventPatience
      // No longer than its call: who begins another under that id has no part in them.
      case .sessions: Int64(min(terms.sharing.snapshotDays, terms.historyDays)) * Self.day
      case .calls, .erasedPeople: Int64(terms.historyDays) * Self.day
      case .devices: Int64(terms.deviceDays) * Self.day
      }
    return clock().wall - span
  }

  // MARK: - Calls

  /// Whether a call is in no history any more.
  func isForgotten(_ call: CallState) -> Bool { call.end.map { $0.at <= cutoff(.calls) } ?? false }

  private func kept(_ row: CallRecords.Row?) -> CallRecords.Row? {
    guard let row, !isForgotten(row.state) else { return nil }
    return row
  }

  /// One of a person's calls that is kept still; all that one of its people asks of it begins here.
  func keptCall(
    _ id: CallUUID, of person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallRecords.Row? {
    kept(try CallRecords.call(id, of: person, terms: callTerms, transaction))
  }

  /// The same for the server itself, and those who run the room.
  /// - Parameter room: a call of another is none; nil: any.
  func keptCall(
    _ id: CallUUID, inRoom room: String? = nil, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallRecords.Row? {
    guard let room else { return kept(try CallRecords.call(id, terms: callTerms, transaction)) }
    return kept(try CallRecords.call(id, inRoom: room, terms: callTerms, transaction))
  }

  func keptCall(
    inRoom room: String, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallRecords.Row? {
    kept(try CallRecords.call(inRoom: room, terms: callTerms, transaction))
  }

  /// For what is about others as well: what can't be understood keeps none of that back.
  func readableCall(
    _ id: CallUUID, of person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallRecords.Row? {
    let row = kept(try CallRecords.readable(id, terms: callTerms, transaction))
    return row?.state.isOpen(to: person) == true ? row : nil
  }

  // MARK: - What belongs to them

  /// Whether a session has gone with its last snapshot.
  func isForgotten(_ session: SharedSession) -> Bool {
    session.endedAt.map { $0 <= cutoff(.sessions) } ?? false
  }

  /// A session as it may be read: with no event, where it ended a while ago.
  func kept(_ row: SessionRecords.Row) -> SessionRecords.Row {
    guard let ended = row.state.endedAt, ended <= cutoff(.sessionEvents) else { return row }
    var row = row
    row.floor = .max
    return row
  }

  /// What was answered to a request of a person's.
  func keptAnswer(
    to request: String, content: [UInt8], by person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> AnswerRecords.Known {
    try AnswerRecords.find(request, content: content, by: person, since: cutoff(.answers), transaction)
  }

  /// The devices of a person that can be woken.
  func keptDevices(
    of person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [Device] {
    let moment = cutoff(.devices)
    return try DeviceRecords.all(of: person, transaction).filter { $0.usedAt >= moment }
  }

  /// Takes out what is in signals whose calls ended a while ago, or are forgotten.
  func emptySignals(in page: inout PersonEventPage, _ transaction: borrowing Transaction) throws(StoreError) {
    let moment = cutoff(.signals)
    var isOver: [CallUUID: Bool] = [:]
    for place in page.events.indices where page.events[place].kind == .signal {
      guard let call = page.events[place].call, !page.events[place].isEmptied else { continue }
      if isOver[call] == nil { isOver[call] = try CallRecords.hasEnded(call, by: moment, transaction) }
      if isOver[call] == true { page.events[place].empty() }
    }
  }
}
