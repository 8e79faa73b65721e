public import Calls
internal import Storage

/// Who connects to the rooms of calls, and what those who run rooms do with them.
extension CallDesk {
  /// Whether a person may connect to the room of a call, as it stands. Nothing changes by it.
  /// - Throws: as `connect`.
  public func requireConnect(
    _ person: PersonID, device: DeviceID?, inRoom room: String
  ) async throws(CallProblem) {
    try await read { [self] transaction throws(StoreError) -> Result<Void, CallProblem> in
      guard let row = try CallRecords.call(inRoom: room, terms: callTerms, transaction),
        row.state.isOpen(to: person)
      else { return .failure(.notFound) }
      if row.state.hasRemoved(person) { return .failure(.removed) }
      if row.state.isEnded { return .failure(.callEnded) }
      if let session = row.state[person]?.session, !session.isOf(device) { return .failure(.activeElsewhere) }
      return .success(())
    }
  }

  /// A person has connected to the room of a call: one who is rung, or has left, joins by that.
  /// - Parameter device: nil: it isn't known.
  /// - Throws: `notFound`, also of a room that is no call's; `removed`, `callEnded`, `activeElsewhere`, `storeUnavailable`.
  public func connect(
    _ person: PersonID, device: DeviceID?, inRoom room: String
  ) async throws(CallProblem) {
    let session = uuid()
    let other = DeviceID.drawn(uuid())
    try await decide { [self] transaction, aftermath, now throws(StoreError) -> Result<Void, CallProblem> in
      guard let row = try CallRecords.call(inRoom: room, terms: callTerms, transaction),
        row.state.isOpen(to: person)
      else { return .failure(.notFound) }
      let state: CallState
      switch try apply(.time, to: row.state.id, by: person, at: now, &aftermath, transaction) {
      case .failure(let problem): return .failure(problem)
      case .success(let found): state = found.state
      }
      // Who is in the call may connect as often as it likes, by that device: another one has to take the call over first.
      if !state.isEnded, let session = state[person]?.session {
        return session.isOf(device) ? .success(()) : .failure(.activeElsewhere)
      }
      let event = CallEvent.join(person, device ?? other, session: session, takeover: false)
      switch try apply(event, to: state.id, by: person, at: now, &aftermath, transaction) {
      case .failure(let problem): return .failure(problem)
      case .success: return .success(())
      }
    }
  }

  /// Whether the media of a person stands in the room of a call by another session than that one.
  public func hasMedia(_ person: PersonID, otherThan old: CallUUID, inRoom room: String) async -> Bool {
    await writePresence()
    let found = try? await read { [self] transaction throws(StoreError) -> Result<Bool, CallProblem> in
      let session = try CallRecords.call(inRoom: room, terms: callTerms, transaction)?.state[person]?.session
      guard let session, session.id != old, case .standing(let by) = session.media else { return .success(false) }
      return .success(by != old)
    }
    return found ?? false
  }

  // MARK: - For who runs the room

  /// Ends a call, or takes a person out of it: for who runs its room.
  public func end(_ id: CallUUID) async throws(CallProblem) -> CallDocument {
    try await administer(id, .end(by: nil))
  }

  public func remove(_ person: PersonID, from id: CallUUID) async throws(CallProblem) -> CallDocument {
    try await administer(id, .remove(person))
  }

  /// The same by the room of the call, as administrators of rooms do it.
  public func remove(_ person: PersonID, fromRoom room: String) async throws(CallProblem) {
    try await administer(room, .remove(person))
  }

  public func end(room: String) async throws(CallProblem) { try await administer(room, .end(by: nil)) }

  private func administer(_ room: String, _ event: CallEvent) async throws(CallProblem) {
    try await decide {
      [self] transaction, aftermath, now throws(StoreError) -> Result<Void, CallProblem> in
      guard let row = try CallRecords.call(inRoom: room, terms: callTerms, transaction) else {
        return .failure(.notFound)
      }
      return try apply(event, to: row.state.id, by: nil, at: now, &aftermath, transaction).map { _ in () }
    }
  }

  private func administer(_ id: CallUUID, _ event: CallEvent) async throws(CallProblem) -> CallDocument {
    try await decide { [self] transaction, aftermath, now throws(StoreError) in
      try documented(apply(event, to: id, by: nil, at: now, &aftermath, transaction), transaction)
    }
  }
}

extension DeviceID {
  private static let drawnPrefix = "device-"

  /// Of a client that doesn't say which device it is.
  static func drawn(_ id: CallUUID) -> DeviceID { DeviceID(drawnPrefix + id.text) }

  var isDrawn: Bool { text.hasPrefix(Self.drawnPrefix) }
}

extension CallSession {
  /// Whether it is by that device. One that doesn't say which it is may be one that hasn't said so before.
  func isOf(_ device: DeviceID?) -> Bool { device.map { $0 == self.device } ?? self.device.isDrawn }
}
