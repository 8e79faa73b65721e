public import Calls
internal import Storage

/// What rings need that wake devices, and which of them go on over a restart.
extension CallDesk {
  private static let group = 64

  /// A ring that goes on, and what is known of its pushes.
  public struct RunningRing: Hashable, Sendable {
    public var ring: Aftermath.Ring
    /// Devices that have taken it.
    public var taken: Set<DeviceID> = []
    /// Devices that it didn't come to, and won't.
    public var failed: Set<DeviceID> = []
  }

  /// Rings of the process before that go on, by their calls' ids; behind `recover`, before anything is decided. What of them was
  /// pushed is in the store; of a push that was under way nothing is known.
  public func runningRings() async throws(CallProblem) -> [RunningRing] {
    var (last, found) = ("", [RunningRing]())
    while true {
      let after = last
      let page: (last: String?, rings: [RunningRing]) = try await read {
        [self] transaction throws(StoreError) in
        let now = clock()
        let left = try CallRecords.left(after: after, limit: Self.group, transaction)
        var rings: [RunningRing] = []
        for (row, _) in left { rings += try runningRings(of: row, at: now, transaction) }
        return .success((left.last?.row.state.id.text, rings))
      }
      found += page.rings
      guard let next = page.last else { return found }
      last = next
    }
  }

  private func runningRings(
    of row: CallRecords.Row, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [RunningRing] {
    var found: [RunningRing] = []
    for person in row.state.people {
      guard let ring = person.ring, !ring.isSilent, ring.until > now.steady else { continue }
      var running = RunningRing(ring: try waking(person.id, ring, of: row, at: now, transaction))
      let outcomes = try DeliveryRecords.outcomes(of: ring.id, for: person.id, in: row.state.id, transaction)
      for (device, isReached) in outcomes {
        if isReached { running.taken.insert(device) } else { running.failed.insert(device) }
      }
      found.append(running)
    }
    return found
  }

  /// A ring as it reaches the devices of a person.
  func waking(
    _ person: PersonID, _ ring: CallRing, of row: CallRecords.Row, at now: CallTime,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> Aftermath.Ring {
    let call = row.state
    var waking = Aftermath.Ring(
      person: person, ring: ring, call: call, room: row.room, apiKey: row.apiKey,
      expiresAt: now.wall + (ring.until - now.steady),
      callerName: try PersonRecords.name(of: ring.from, transaction),
      personName: try PersonRecords.name(of: person, transaction),
      devices: try DeviceRecords.all(of: person, transaction))
    if call.isEncrypted { waking.keys = try CallKeyRecords.keys(of: person, in: call.id, transaction) }
    return waking
  }
}
