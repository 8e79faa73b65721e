public import Calls
internal import Storage

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Who connects to the rooms of calls, and what those who run rooms do with them.
extension CallDesk {
  /// Whether a person may connect to the room of a call, as it stands: who isn't in the call, as if it joined. Nothing changes by it.
  /// - Returns: by which stay the person is in the call (`CallSession.stay`); nil: it isn't in it yet.
  /// - Throws: as `connect`.
  public func requireConnect(
    _ person: PersonID, device: DeviceID?, inRoom room: String
  ) async throws(CallProblem) -> CallUUID? {
    try await read { [self] transaction throws(StoreError) -> Result<CallUUID?, CallProblem> in
      guard let row = try keptCall(inRoom: room, transaction), row.state.isOpen(to: person)
      else { return .failure(.notFound) }
      if isRemoved(person, from: row) { return .failure(.removed) }
      if isOver(row) { return .failure(.callEnded) }
      let session = row.state[person]?.session
      if let session, !session.isOf(device) { return .failure(.activeElsewhere) }
      if comesNew(person, to: row.state),
        let problem = try comingProblem(of: person, at: clock(), transaction)
      {
        return .failure(problem)
      }
      return .success(session?.stay)
    }
  }

  /// Whether the room of a call stands, for those who come into it and are none of the call's people: another one of that name would be
  /// made for them.
  /// - Throws: `notFound`: it is no call's; `callEnded`, `storeUnavailable`.
  public func requireRoom(_ room: String) async throws(CallProblem) {
    try await read { [self] transaction throws(StoreError) -> Result<Void, CallProblem> in
      guard let row = try keptCall(inRoom: room, transaction) else {
        return .failure(.notFound)
      }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.callRoomReturns) { return .success(()) }
      #endif
      return isOver(row) ? .failure(.callEnded) : .success(())
    }
  }

  /// A person has connected to the room of a call: one who is rung, or has left, joins by that.
  /// - Parameter device: nil: it isn't known.
  /// - Returns: the stay that the connection is of (`CallSession.stay`): its media is said with that, and it is closed by that.
  /// - Throws: `notFound`, also of a room that is no call's; `removed`, `callEnded`, `activeElsewhere`, `tooMany`, `storeUnavailable`.
  @discardableResult
  public func connect(
    _ person: PersonID, device: DeviceID?, inRoom room: String
  ) async throws(CallProblem) -> CallUUID {
    let session = uuid()
    let other = DeviceID.drawn(uuid())
    return try await decide {
      [self] transaction, aftermath, now throws(StoreError) -> Result<CallUUID, CallProblem> in
      guard let row = try keptCall(inRoom: room, transaction), row.state.isOpen(to: person)
      else { return .failure(.notFound) }
      let state: CallState
      switch try apply(.time, to: row.state.id, by: person, at: now, &aftermath, transaction) {
      case .failure(let problem): return .failure(problem)
      case .success(let found): state = found.state
      }
      // Who is in the call may connect as often as it likes, by that device: another one has to take the call over first.
      if !state.isEnded, let session = state[person]?.session {
        return session.isOf(device) ? .success(session.stay) : .failure(.activeElsewhere)
      }
      return try enter(
        state.id, person, device ?? other, session: session, takeover: false, at: now, &aftermath, transaction
      ).map { $0.state[person]?.session?.stay ?? session }
    }
  }

  // MARK: - For who runs the room

  /// Ends a call, or takes a person out of it: for who runs its room.
  public func end(_ id: CallUUID) async throws(CallProblem) -> CallDocument {
    try await administer(id, .end(by: nil))
  }

  public func remove(_ person: PersonID, from id: CallUUID) async throws(CallProblem) -> CallDocument {
    try await administer(id, .remove(person))
  }

  private func administer(_ id: CallUUID, _ event: CallEvent) async throws(CallProblem) -> CallDocument {
    try await decide { [self] transaction, aftermath, now throws(StoreError) in
      try documented(apply(event, to: id, by: nil, at: now, &aftermath, transaction), transaction)
    }
  }
}

extension CallDesk {
  /// What stands for a device that reads its person's events and doesn't say which it is: of each that reads so it is another.
  public func reader() -> DeviceID { DeviceID(DeviceID.readerPrefix + uuid().text) }
}

extension DeviceID {
  private static let drawnPrefix = "device-"
  private static let tokenPrefix = "token-"
  fileprivate static let readerPrefix = "reader-"

  /// Of a client that doesn't say which device it is.
  static func drawn(_ id: CallUUID) -> DeviceID { DeviceID(drawnPrefix + id.text) }

  var isDrawn: Bool { text.utf8.starts(with: Self.drawnPrefix.utf8) }

  /// Of a client whose token doesn't say which device it is: by the same token it is the same one.
  /// - Parameter name: stands for the token; at most 100 bytes.
  public init(ofToken name: String) { self.init(Self.tokenPrefix + name) }

  var isOfToken: Bool { text.utf8.starts(with: Self.tokenPrefix.utf8) }

  /// Its client hasn't said which it is.
  var isUnsaid: Bool { isDrawn || isOfToken }

  /// It may be what stands for one that has read events without saying which it is: as it joins it may still say that.
  public var isReader: Bool { text.utf8.starts(with: Self.readerPrefix.utf8) }
}

extension CallSession {
  /// Whether it is by that device. One that doesn't say which it is may be one that hasn't said so before, whose media has gone since;
  /// of one that is there it doesn't take the place.
  func isOf(_ device: DeviceID?) -> Bool {
    if let device, isBy(device) { return true }
    guard device?.isOfToken ?? true, self.device.isUnsaid, case .gone = media else { return false }
    return true
  }
}
