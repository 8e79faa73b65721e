public import Calls
internal import Storage

/// Devices that are woken, and people who aren't to be heard of.
extension CallDesk {
  /// Registers a device, or changes it. A token belongs to one device of one person: by another it moves, and its former owner
  /// hears of it. Beyond the most that a person may have the longest unused goes.
  public func register(_ device: Device, by caller: Caller) async throws(CallProblem) -> Device {
    guard device.topic.utf8.count <= 255, device.token.utf8.count <= 512 else { throw .tooLarge("device") }
    return try await decide { [self] transaction, aftermath, now throws(StoreError) in
      try PersonRecords.note(caller, transaction)
      var device = device
      (device.registeredAt, device.usedAt) = (now.wall, now.wall)
      if let owner = try DeviceRecords.owner(of: device, transaction),
        owner != (caller.person, device.id)
      {
        _ = try DeviceRecords.remove(owner.device, of: owner.person, transaction)
        try tellRemoved(owner.device, of: owner.person, "movedElsewhere", at: now, &aftermath, transaction)
      }
      try DeviceRecords.write(device, of: caller.person, transaction)
      let others = try DeviceRecords.all(of: caller.person, transaction).filter { $0.id != device.id }
      let surplus = others.count + 1 - terms.devices
      for old in others.sorted(by: { ($0.usedAt, $0.id.text) < ($1.usedAt, $1.id.text) }).prefix(
        max(surplus, 0))
      {
        _ = try DeviceRecords.remove(old.id, of: caller.person, transaction)
        try tellRemoved(old.id, of: caller.person, "tooMany", at: now, &aftermath, transaction)
      }
      return .success(device)
    }
  }

  /// A device isn't the person's any more: the others hear so, and nothing is sent to it.
  func tellRemoved(
    _ device: DeviceID, of person: PersonID, _ reason: String, at now: CallTime, _ aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    aftermath.devicesGone.append((person, device))
    try tell(
      person, .deviceRemoved, of: nil, DeviceRemovedBody(device: device, reason: reason), at: now, &aftermath,
      transaction)
  }

  /// A person's devices, those that were registered last first.
  /// - Parameter limit: 1–200.
  public func devices(
    of person: PersonID, before place: DevicePage.Place? = nil, limit: Int = 200
  ) async throws(CallProblem) -> DevicePage {
    try await read { [self] transaction throws(StoreError) in
      .success(
        try DeviceRecords.page(
          of: person, usedSince: cutoff(.devices), before: place, limit: min(max(limit, 1), 200),
          transaction))
    }
  }

  /// It is logged out: nothing is pushed to it any more.
  public func unregister(_ device: DeviceID, by person: PersonID) async throws(CallProblem) {
    try await decide {
      [self] transaction, aftermath, now throws(StoreError) -> Result<Void, CallProblem> in
      guard try DeviceRecords.remove(device, of: person, transaction) else { return .failure(.notFound) }
      try tellRemoved(device, of: person, "unregistered", at: now, &aftermath, transaction)
      return .success(())
    }
  }

  /// What a push service says of a token: it is of no device any more.
  /// - Parameter moment: since when, in milliseconds since 1970: one that was registered after that stays.
  public func dropToken(
    of device: DeviceID, of person: PersonID, registeredBefore moment: Int64
  ) async throws(CallProblem) {
    try await decide {
      [self] transaction, aftermath, now throws(StoreError) -> Result<Void, CallProblem> in
      let known = try DeviceRecords.all(of: person, transaction).first { $0.id == device }
      guard let known, known.registeredAt <= moment else { return .success(()) }
      _ = try DeviceRecords.remove(device, of: person, transaction)
      try tellRemoved(device, of: person, "unreachable", at: now, &aftermath, transaction)
      return .success(())
    }
  }

  // MARK: - Blocks

  /// Rings of the other never reach the person from now on.
  /// - Throws: `tooLarge`: the person has blocked as many as may be.
  public func block(_ other: PersonID, by person: PersonID) async throws(CallProblem) {
    try await decide { [self] transaction, _, now throws(StoreError) -> Result<Void, CallProblem> in
      try BlockRecords.add(other, by: person, most: terms.blocks, at: now, transaction)
        ? .success(()) : .failure(.tooLarge("blocks"))
    }
  }

  public func unblock(_ other: PersonID, by person: PersonID) async throws(CallProblem) {
    try await decide { transaction, _, _ throws(StoreError) -> Result<Void, CallProblem> in
      try BlockRecords.remove(other, by: person, transaction)
      return .success(())
    }
  }

  /// The people that a person has blocked, most recent first.
  /// - Parameter limit: 1–200.
  public func blocks(
    of person: PersonID, before place: BlockPage.Place? = nil, limit: Int = 200
  ) async throws(CallProblem) -> BlockPage {
    try await read { transaction throws(StoreError) in
      .success(try BlockRecords.page(of: person, before: place, limit: min(max(limit, 1), 200), transaction))
    }
  }

  // MARK: - People

  /// All who have ever come, by their ids' bytes; not who was only called by others, and not who is erased.
  public func people(
    after person: PersonID?, limit: Int
  ) async throws(CallProblem) -> [(person: PersonID, name: String?)] {
    try await read { transaction throws(StoreError) in
      .success(try PersonRecords.page(after: person, limit: min(max(limit, 1), 201), transaction))
    }
  }

  /// Those of some people who have come, in their order, as above.
  /// - Parameter people: some hundred at most.
  public func people(
    among people: [PersonID]
  ) async throws(CallProblem) -> [(person: PersonID, name: String?)] {
    try await read { transaction throws(StoreError) in
      var found: [(person: PersonID, name: String?)] = []
      for person in people {
        guard try PersonRecords.hasCome(person, transaction) else { continue }
        found.append((person, try PersonRecords.name(of: person, transaction)))
      }
      return .success(found)
    }
  }
}
