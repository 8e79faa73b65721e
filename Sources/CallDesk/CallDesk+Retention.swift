internal import Calls
internal import Storage

/// What is kept for a time isn't given out behind that, also where `tidy` hasn't come to it yet.
extension CallDesk {
  /// Whether a call is in no history any more.
  func isForgotten(_ call: CallState) -> Bool {
    guard let end = call.end else { return false }
    return end.at <= clock().wall - Int64(terms.historyDays) * Self.day
  }

  /// Whether a session has gone with its last snapshot.
  func isForgotten(_ session: SharedSession) -> Bool {
    guard let ended = session.endedAt else { return false }
    return ended <= clock().wall - Int64(terms.sharing.snapshotDays) * Self.day
  }

  /// A session as it may be read: with no event, where it ended a while ago.
  func kept(_ row: SessionRecords.Row) -> SessionRecords.Row {
    guard let ended = row.state.endedAt, ended <= clock().wall - Self.eventPatience else { return row }
    var row = row
    row.floor = .max
    return row
  }

  /// Takes out what is in signals whose calls ended a while ago, or are forgotten.
  func emptySignals(in page: inout PersonEventPage, _ transaction: borrowing Transaction) throws(StoreError) {
    let moment = clock().wall - terms.afterCall
    var isOver: [CallUUID: Bool] = [:]
    for place in page.events.indices where page.events[place].kind == .signal {
      guard let call = page.events[place].call, !page.events[place].isEmptied else { continue }
      if isOver[call] == nil { isOver[call] = try CallRecords.hasEnded(call, by: moment, transaction) }
      if isOver[call] == true { page.events[place].empty() }
    }
  }
}
