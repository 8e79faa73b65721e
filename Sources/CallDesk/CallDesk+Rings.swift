public import Calls
internal import Logging
internal import Storage

/// What rings need that wake devices, and which of them go on over a restart.
extension CallDesk {
  private static let group = 64
  /// Milliseconds for which an end is still pushed, however short the ring was.
  private static let patience: Int64 = 60_000
  /// Ends of rings that are looked at as the server starts, the last first.
  private static let mostEnded = 10_000

  /// A ring that goes on, and what is known of its pushes.
  public struct RunningRing: Hashable, Sendable {
    public var ring: Aftermath.Ring
    /// Devices that have taken it.
    public var taken: Set<DeviceID> = []
    /// Devices that it didn't come to, and won't.
    public var failed: Set<DeviceID> = []
  }

  /// A ring that ended a moment before the process did: devices that have it may not have been pushed its end.
  public struct EndedRing: Hashable, Sendable {
    public var end: Aftermath.RingEnded
    public var caller: PersonID
    public var callerName: String?
    public var media: CallMedia
    /// When it would have been over by itself, in milliseconds since 1970.
    public var until: Int64
    /// Those that may have the ring, and of which no push of its end is known.
    public var devices: [Device]
  }

  /// Rings whose ends the process before has decided, and maybe not pushed; before `recover`, by which other rings end without a push.
  /// An end is written down with what brought it about, as what its person hears, and beside it what became of pushes: what is left
  /// between the two is what is still to be pushed.
  /// - Returns: those alone that a phone may still be ringing for.
  public func endedRings() async throws(CallProblem) -> [EndedRing] {
    let now = clock().wall
    let since = now - max(callTerms.ring, Self.patience)
    let ends: [EventRecords.EndedRing] = try await read { transaction throws(StoreError) in
      .success(try EventRecords.endedRings(since: since, limit: Self.mostEnded, transaction))
    }
    var found: [EndedRing] = []
    for start in stride(from: 0, to: ends.count, by: Self.group) {
      let some = Array(ends[start..<min(start + Self.group, ends.count)])
      let rings: [EndedRing] = try await read { [self] transaction throws(StoreError) in
        var rings: [EndedRing] = []
        for end in some {
          // One whose devices can't be understood keeps no others from being pushed.
          do throws(StoreError) {
            if let ring = try endedRing(end, at: now, transaction) { rings.append(ring) }
          } catch { guard case .unreadable = error else { throw error } }
        }
        return .success(rings)
      }
      found += rings
    }
    return found
  }

  /// - Returns: nil: no phone rings for it any more, or each has been pushed the end.
  private func endedRing(
    _ end: EventRecords.EndedRing, at now: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) -> EndedRing? {
    let ring = end.body.ringId
    guard let reason = RingEnd(rawValue: end.body.reason),
      let begun = try EventRecords.ringing(ring, of: end.person, in: end.call, transaction),
      max(begun.body.expiresAt, end.time + Self.patience) > now
    else { return nil }
    let rung = try DeliveryRecords.outcomes(of: ring, for: end.person, in: end.call, transaction)
    let ended = try DeliveryRecords.outcomes(of: ring, .ended, for: end.person, in: end.call, transaction)
    let done = Set(ended.map { $0.device })
    // Of a push that was under way nothing is known: it may have come.
    let devices = try DeviceRecords.all(of: end.person, transaction).filter { device in
      guard !done.contains(device.id) else { return false }
      return rung.first { $0.device == device.id }.map { $0.isReached } ?? (device.registeredAt <= begun.time)
    }
    guard !devices.isEmpty, let media = try media(of: end.call, transaction) else { return nil }
    return EndedRing(
      end: Aftermath.RingEnded(
        person: end.person, ring: ring, reason: reason, call: end.call, device: end.body.device),
      caller: begun.body.callerId, callerName: try PersonRecords.name(of: begun.body.callerId, transaction),
      media: media, until: begun.body.expiresAt, devices: devices)
  }

  /// - Returns: nil: there is no such call, or it can't be read.
  private func media(
    of call: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallMedia? {
    try CallRecords.readable(call, terms: callTerms, transaction)?.state.media
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
        for (row, _) in left.rows { rings += try runningRings(of: row, at: now, transaction) }
        return .success((left.last, rings))
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
      // A person whose devices can't be understood is woken by none, and keeps no others from it.
      do throws(StoreError) {
        found.append(try runningRing(ring, for: person.id, of: row, at: now, transaction))
      } catch {
        guard case .unreadable = error else { throw error }
        log.error(
          "calls: what a ring goes on with can't be read in the database, and it wakes no one",
          ["call": row.state.id.text])
      }
    }
    return found
  }

  private func runningRing(
    _ ring: CallRing, for person: PersonID, of row: CallRecords.Row, at now: CallTime,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> RunningRing {
    var running = RunningRing(ring: try waking(person, ring, of: row, at: now, transaction))
    let outcomes = try DeliveryRecords.outcomes(of: ring.id, for: person, in: row.state.id, transaction)
    for (device, isReached) in outcomes {
      if isReached { running.taken.insert(device) } else { running.failed.insert(device) }
    }
    return running
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
      devices: try keptDevices(of: person, transaction))
    if call.isEncrypted { waking.keys = try CallKeyRecords.keys(of: person, in: call.id, transaction) }
    return waking
  }
}
