public import Calls
internal import Crypto
internal import FoundationEssentials
internal import KeyDirectory
internal import Storage

#if PLANTED_DEFECTS
  internal import Model
#endif

/// The keys of calls that are encrypted end to end. The server sees to it that no one is rung without one that a device can unwrap,
/// keeps what was wrapped until the call is over, and gives each device its own.
extension CallDesk {
  /// How far the number of a key may be ahead of the last one. Without that one participant could leave no number for the others.
  static let farthestRound: Int64 = 1_000

  /// What who gave a call another key is answered.
  public struct KeyChange: Hashable, Sendable, Codable {
    public var index: Int64
    /// Those for whose devices it is kept.
    public var people: [PersonID]
  }

  /// Gives a call another key: all that its people had is forgotten, and those who are rung or in it hear of this one.
  /// - Parameters:
  ///   - keys: for everyone who is rung or in the call and has keys; also for those who may come back, and for other devices of the
  ///     caller's. Those for others aren't kept.
  ///   - index: above that of the last key, by 1,000 at most.
  /// - Throws: `notFound`, `removed`, `callEnded`, `notAllowed`, `notEncrypted`; `idTaken`: there was another key of that number or of a
  ///   later one; `keyMissing`, `staleKey`, `tooLarge`, `tooMany`, `storeUnavailable`.
  public func changeKey(
    _ keys: [WrappedKey], to index: Int64, of id: CallUUID, by caller: Caller
  ) async throws(CallProblem) -> KeyChange {
    try check(keys)
    let request = "keys \(id.text) \(index)"
    let digest = SHA256.digest(keys.content)
    return try await inCall(id, by: caller, bytes: 8_192 + keys.size) {
      [self] transaction, aftermath, now, row throws(StoreError) in
      let call = row.state
      guard call.isEncrypted else { return .failure(.notEncrypted) }
      switch try keptAnswer(to: request, content: digest, by: caller.person, transaction) {
      case .other: return .failure(.idTaken)
      case .same(let body):
        guard let known = try? JSONDecoder().decode(KeyChange.self, from: Data(body)) else {
          return .failure(.notFound)
        }
        return .success(known)
      case .no: break
      }
      let last = try CallKeyRecords.last(of: id, transaction) ?? 0
      guard index > last else { return .failure(.idTaken) }
      guard index - last <= Self.farthestRound else { return .failure(.tooLarge("index")) }
      if let wait = roundRates.wait(caller.person, at: now.steady) { return .failure(.tooMany(wait: wait)) }
      let round = KeyRound(
        index: index, from: caller.person,
        keys: keys.filter { key in call[key.person].map { $0.leaveReason != .removed } ?? false })
      if let problem = try problem(of: round, in: call, transaction) { return .failure(problem) }
      roundRates.count(caller.person, at: now.steady)
      aftermath.spent.append(.rounds(caller.person, at: now.steady))
      try CallKeyRecords.replace(by: round, of: id, transaction)
      for other in Self.present(in: call, beside: caller.person) where !other.isHidden {
        let body = CallKeyBody(index: index, from: caller.person)
        try tell(other.id, .callKey, of: call, body, at: now, &aftermath, transaction)
      }
      let answer = KeyChange(index: index, people: Set(round.keys.map(\.person)).sorted())
      guard let body = try? JSONEncoder().encode(answer) else { preconditionFailure("texts are always JSON") }
      try keepAnswer(
        Array(body), to: request, content: digest, by: caller.person, at: now, transaction)
      return .success(answer)
    }
  }

  private static func present(in call: CallState, beside person: PersonID) -> [CallPerson] {
    call.people.filter { $0.id != person && $0.leaveReason == nil }
  }

  /// One who has revoked all keys keeps no others from going on with another one.
  private func problem(
    of round: KeyRound, in call: CallState, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallProblem? {
    let covered = Set(round.keys.map(\.person))
    var missing: [PersonID] = []
    for person in Self.present(in: call, beside: round.from).map(\.id) where !covered.contains(person) {
      if try directory?.currentKeyIDs(of: person.text, in: transaction).isEmpty == false {
        missing.append(person)
      }
    }
    return try missing.isEmpty ? staleness(of: round.keys, transaction) : .keyMissing(missing)
  }

  // MARK: - What comes with a ring

  /// Bounds keys before anything is done with them.
  func check(_ keys: [WrappedKey]) throws(CallProblem) {
    guard keys.count <= WrappedKey.most else { throw .tooLarge("keys") }
    guard keys.allSatisfy({ (1...WrappedKey.mostBytes).contains($0.ciphertext.count) }) else {
      throw .tooLarge("ciphertext")
    }
  }

  /// Why people can't be rung with these keys; nil: they can. Each has to be able to unwrap one.
  func problem(
    of keys: [WrappedKey], for people: [PersonID], by person: PersonID, isEncrypted: Bool,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallProblem? {
    guard isEncrypted else { return keys.isEmpty ? nil : .notEncrypted }
    // Without a directory no one has a key.
    var covered: Set<PersonID> = directory == nil ? [] : Set(keys.map(\.person))
    covered.insert(person)
    var seen: Set<PersonID> = []
    let missing = people.filter { !covered.contains($0) && seen.insert($0).inserted }
    return try missing.isEmpty ? staleness(of: keys, transaction) : .keyMissing(missing)
  }

  /// The current keys of everybody who has had a key replaced.
  private func staleness(
    of keys: [WrappedKey], _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallProblem? {
    var current: [CurrentKey] = []
    var isStale = false
    let byPerson = Dictionary(grouping: keys, by: \.person)
    for person in byPerson.keys.sorted() {
      let ids = try directory?.currentKeyIDs(of: person.text, in: transaction) ?? []
      let now = ids.map { CurrentKey(person: person, device: DeviceID($0.device), keyID: $0.id) }
      let isGood = byPerson[person, default: []].allSatisfy { key in
        now.contains { $0.device == key.device && $0.keyID == key.keyID }
      }
      guard !isGood else { continue }
      isStale = true
      current += now
    }
    return isStale ? .staleKey(current, index: nil) : nil
  }

  // MARK: - Reading

  /// What a device of a person has of the call's key, for what the person has heard of the call; nil: nothing, or what can't be
  /// understood: that keeps no others of the person's events back.
  /// - Throws: `notFound`, also of a call of others; `storeUnavailable`.
  public func callKey(
    of call: CallUUID, for person: PersonID, device: DeviceID
  ) async throws(CallProblem) -> CallKey? {
    try await read { [self] transaction throws(StoreError) in
      guard let row = try keptCall(call, of: person, transaction) else {
        return .failure(.notFound)
      }
      do throws(StoreError) {
        return .success(try callKey(of: row, for: person, device: device, transaction))
      } catch {
        guard case .unreadable = error else { throw error }
        return .success(nil)
      }
    }
  }

  /// The one place where it is decided who may have it: not one who was taken out, also where that can't be written down yet.
  func callKey(
    of row: CallRecords.Row, for person: PersonID, device: DeviceID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallKey? {
    let call = row.state
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.keyForRemoved), call.isEncrypted, !call.isEnded {
        return try CallKeyRecords.key(of: person, device: device, in: call.id, transaction)
      }
    #endif
    guard call.isEncrypted, !isOver(row), let mine = call[person], !mine.isHidden,
      !isRemoved(person, from: row)
    else { return nil }
    return try CallKeyRecords.key(of: person, device: device, in: call.id, transaction)
  }
}
