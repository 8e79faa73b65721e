public import Calls
internal import Storage
internal import Synchronization

/// What happens without anybody asking: media comes and goes, and time passes.
extension CallDesk {
  /// Calls whose time is over are looked for so often.
  static let pace = Duration.milliseconds(100)
  /// The store is asked so often what is due next.
  private static let look = Duration.milliseconds(500)
  /// Calls, or words about media, of one transaction.
  private static let group = 64

  /// The media of a session stands, or doesn't any more. It is written down as soon as the store takes it.
  public func media(_ word: CallPresence, of person: PersonID, session: CallUUID, in call: CallUUID) {
    presence.say(word, of: .session(session, of: person, in: call))
  }

  /// The same of a person in the room of a call, by whichever session it is in the call.
  public func media(_ word: CallPresence, of person: PersonID, inRoom room: String) {
    presence.say(word, of: .room(room, person))
  }

  /// A device of a person has begun to read its events, or doesn't any more: direct calls follow that.
  public func readersChanged(of person: PersonID) { presence.say(.stands, of: .readers(person)) }

  /// Writes down media and what is over with time, until its task is cancelled; after `recover`.
  public func run() async {
    var (look, deadline) = (ContinuousClock.now, Int64?.none)
    while !Task.isCancelled {
      try? await Task.sleep(for: Self.pace)
      await writePresence()
      // What was begun meanwhile may be due before what is known of.
      if .now >= look {
        look = .now + Self.look
        deadline = await nextDeadline() ?? deadline
      }
      guard let due = deadline, due <= clock().steady else { continue }
      deadline = await advance() ?? deadline
    }
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

  /// Writes down what was said of media so far.
  func writePresence() async {
    var rest = presence.take()[...]
    while !rest.isEmpty {
      let group = Array(rest.prefix(Self.group))
      do throws(CallProblem) {
        try await decide {
          [self] transaction, aftermath, now throws(StoreError) -> Result<Void, CallProblem> in
          for (source, word) in group {
            for (call, event) in try events(of: source, word, transaction) {
              _ = try apply(event, to: call, by: nil, at: now, &aftermath, transaction)
            }
          }
          return .success(())
        }
      } catch {
        // It is said again a little later; media goes on meanwhile.
        return presence.putBack(rest)
      }
      rest = rest.dropFirst(group.count)
    }
  }

  /// - Returns: none where it is of no call that goes on.
  private func events(
    of source: PendingPresence.Source, _ word: CallPresence, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [(CallUUID, CallEvent)] {
    switch source {
    case .session(let session, let person, let call):
      return [(call, CallEvent(word, of: person, session))]
    case .room(let room, let person):
      guard let row = try CallRecords.call(inRoom: room, terms: callTerms, transaction),
        let session = row.state[person]?.session
      else { return [] }
      return [(row.state.id, CallEvent(word, of: person, word == .stands ? session.id : session.standingBy))]
    case .readers(let person):
      let open = try CallRecords.open(of: [person], terms: callTerms, transaction)
      let readers = outlet.readers(of: person)
      var events: [(CallUUID, CallEvent)] = []
      for row in open.values where row.state.path == .direct {
        guard let session = row.state[person]?.session else { continue }
        let isRead = readers.has(session.device)
        events.append(
          (
            row.state.id,
            CallEvent(isRead ? .stands : .gone, of: person, isRead ? session.id : session.standingBy)
          ))
      }
      return events
    }
  }

  /// Has time pass for all calls.
  /// - Returns: when the next is due; nil: it isn't known.
  func advance() async -> Int64?? {
    do throws(CallProblem) {
      let found: (isMore: Bool, deadline: Int64?) = try await decide {
        [self] transaction, aftermath, now throws(StoreError) in
        let rows = try CallRecords.due(at: now.steady, limit: Self.group, terms: callTerms, transaction)
        let known = Dictionary(rows.map { ($0.state.id, $0) }) { first, _ in first }
        try keep(
          CallBook(rows.map(\.state), terms: terms.book, at: now), of: known, at: now, &aftermath, transaction
        )
        let sessions = try advanceSessions(at: now, limit: Self.group, &aftermath, transaction)
        return .success((max(rows.count, sessions) == Self.group, try Self.deadline(transaction)))
      }
      return found.isMore ? .some(0) : .some(found.deadline)
    } catch { return nil }
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
      let found: [(id: String, room: String?, isOpen: Bool)] = try await decide(bytes: 65_536) {
        [self] transaction, aftermath, now throws(StoreError) in
        let left = try CallRecords.left(after: after, limit: Self.group, transaction)
        var found: [(id: String, room: String?, isOpen: Bool)] = []
        for (row, clock) in left {
          let state = try restart(row, clock, at: now, &aftermath, transaction)
          found.append((state.id.text, state.isEnded ? nil : row.room, !state.isEnded))
        }
        // They are written down, and said with those that the process before hasn't said.
        aftermath.steps = []
        // Nothing of what passed meanwhile wakes anybody.
        aftermath.rings = []
        aftermath.ringsEnded = []
        return .success(found)
      }
      recovered.rooms += found.compactMap(\.room)
      recovered.calls += found.count(where: \.isOpen)
      guard let end = found.last else { return recovered }
      last = end.id
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
    return after
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
