internal import Calls
internal import Logging
internal import Storage

/// What happens without anybody asking: time passes.
extension CallDesk {
  /// Calls whose time is over are looked for so often.
  static let pace = Duration.milliseconds(100)
  /// The store is asked so often what is due next.
  private static let look = Duration.milliseconds(500)
  /// Calls of one transaction.
  private static let group = 64

  /// Writes down media and what is over with time, until its task is cancelled; after `recover`.
  public func run() async {
    var (look, deadline) = (ContinuousClock.now, Int64?.none)
    while !Task.isCancelled {
      try? await Task.sleep(for: Self.pace)
      await writePresence()
      await catchUp()
      // What was begun meanwhile may be due before what is known of.
      if .now >= look {
        look = .now + Self.look
        deadline = await nextDeadline() ?? deadline
      }
      guard let due = deadline, due <= clock().steady else { continue }
      deadline = await advance() ?? deadline
    }
  }

  /// What `run` does at one moment, for who has a clock of its own: what was said is written down, and what is over by now is so.
  package func turn() async {
    await writePresence()
    await catchUp()
    while case .some(.some(0)) = await advance() {}
  }

  /// When something is over next; `.some(nil)`: nothing is waited for; nil: it isn't known.
  private func nextDeadline() async -> Int64?? {
    do throws(CallProblem) {
      return .some(
        try await read { transaction throws(StoreError) in .success(try Self.deadline(transaction)) })
    } catch { return nil }
  }

  private static func deadline(_ transaction: borrowing Transaction) throws(StoreError) -> Int64? {
    [try CallRecords.deadline(transaction), try SessionRecords.deadline(transaction)].compactMap { $0 }.min()
  }

  /// Has time pass for all calls.
  /// - Returns: when the next is due; nil: it isn't known.
  func advance() async -> Int64?? {
    do throws(CallProblem) {
      let found: (isMore: Bool, deadline: Int64?) = try await decide {
        [self] transaction, aftermath, now throws(StoreError) in
        let due = try CallRecords.due(at: now.steady, limit: Self.group, terms: callTerms, transaction)
        try closeCalls(due.unreadable, at: now, transaction)
        let known = Dictionary(due.rows.map { ($0.state.id, $0) }) { first, _ in first }
        try keep(book(of: known, at: now), of: known, at: now, &aftermath, transaction)
        let sessions = try advanceSessions(at: now, limit: Self.group, &aftermath, transaction)
        return .success((max(due.count, sessions) == Self.group, try Self.deadline(transaction)))
      }
      return found.isMore ? .some(0) : .some(found.deadline)
    } catch { return nil }
  }

  /// One that can't be understood keeps no time from passing for others: it is over.
  private func closeCalls(
    _ unreadable: [String], at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    guard !unreadable.isEmpty else { return }
    try CallRecords.close(unreadable, at: now, transaction)
    for id in unreadable {
      log.error("calls: a call in the database can't be read, and is over", ["call": id])
    }
  }

  // MARK: - The process before

  /// Calls that aren't over.
  public struct Recovered: Hashable, Sendable {
    /// Of those whose media comes here.
    public var rooms: [String] = []
    public var calls = 0
  }

  /// Takes on the calls of the process before: who was in one has its time to come back, rings go on to their old end, and what
  /// has passed meanwhile is over. Before anything else is asked.
  /// - Returns: what goes on.
  public func recover() async throws(CallProblem) -> Recovered {
    try await recoverSessions()
    var (last, recovered) = ("", Recovered())
    while true {
      let after = last
      let found: (last: String?, calls: [(room: String?, isOpen: Bool)]) = try await decide(bytes: 65_536) {
        [self] transaction, aftermath, now throws(StoreError) in
        let left = try CallRecords.left(after: after, limit: Self.group, transaction)
        // Nothing would ever be over in it: no one is in it any more.
        try closeCalls(left.unreadable, at: now, transaction)
        var calls: [(room: String?, isOpen: Bool)] = []
        for (row, clock) in left.rows {
          let state = try restart(row, clock, at: now, &aftermath, transaction)
          calls.append((state.isEnded ? nil : row.room, !state.isEnded))
        }
        // They are written down, and said with those that the process before hasn't said.
        aftermath.steps = []
        // Nothing of what passed meanwhile wakes anybody.
        aftermath.rings = []
        aftermath.ringsEnded = []
        return .success((left.last, calls))
      }
      recovered.rooms += found.calls.compactMap(\.room)
      recovered.calls += found.calls.count(where: \.isOpen)
      guard let end = found.last else { return recovered }
      last = end
    }
  }

  private func recoverSessions() async throws(CallProblem) {
    var last = ""
    while true {
      let after = last
      let found: String? = try await decide(bytes: 65_536) { [self] transaction, _, now throws(StoreError) in
        let left = try SessionRecords.left(after: after, limit: Self.group, transaction)
        for (row, clock) in left {
          var row = row
          row.state = row.state.carried(from: clock, to: now, terms: terms.sessions)
          try SessionRecords.write(row, at: now, transaction)
        }
        return .success(left.last?.row.state.id.text)
      }
      guard let found else { return }
      last = found
    }
  }

  private func restart(
    _ row: CallRecords.Row, _ clock: Int64, at now: CallTime, _ aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallState {
    var row = row
    row.state = row.state.carried(from: clock, to: now, terms: callTerms)
    var after = row.state
    let (effects, _) = after.apply(.restart, at: now)
    let change = CallBook.Change(before: row.state, after: after, effects: effects)
    try keep([change], of: [after.id: row], at: now, &aftermath, transaction)
    // Its moments are on another clock than they were, also where nothing has changed.
    if after == row.state { try CallRecords.write(row, at: now, transaction) }
    try CallRecords.writePresence(of: after, transaction)
    return after
  }
}
