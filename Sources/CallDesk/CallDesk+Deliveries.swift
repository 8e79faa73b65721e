public import Calls
internal import Storage

/// What became of pushes, and who may know of it.
extension CallDesk {
  /// Writes down what push services have said.
  public func keep(_ deliveries: [CallDelivery]) async throws(CallProblem) {
    try await decide(bytes: 256 * deliveries.count) {
      [unheard] transaction, _, now throws(StoreError) -> Result<Void, CallProblem> in
      for delivery in deliveries {
        try DeliveryRecords.keep(delivery, transaction)
        unheard.pushes.note(delivery, at: now.wall)
        // A device that is woken is in use.
        if delivery.isReached {
          try DeviceRecords.noteUse(of: delivery.device, by: delivery.person, at: now, transaction)
        }
      }
      return .success(())
    }
  }

  /// What was pushed for a call: each person sees its own devices, the caller beside that who was reached.
  /// - Parameters:
  ///   - person: nil: one who runs the call's room.
  ///   - limit: 1–200.
  /// - Throws: `notFound`, also of a call of others.
  public func deliveries(
    of id: CallUUID, for person: PersonID?, before place: CallDeliveries.Place? = nil, limit: Int
  ) async throws(CallProblem) -> CallDeliveries {
    try await read { [self] transaction throws(StoreError) in
      let row =
        if let person {
          try keptCall(id, of: person, transaction)
        } else {
          try keptCall(id, transaction)
        }
      guard let call = row?.state else { return .failure(.notFound) }
      // What is forgotten by now isn't given out, also where it is there still.
      let (now, since) = (clock().wall, cutoff(.deliveries))
      let (items, next) = try DeliveryRecords.page(
        of: id, person: person, since: since, before: place, limit: min(max(limit, 1), 200), transaction)
      var found = CallDeliveries(items: items, next: next, people: nil)
      guard person == nil || person == call.caller else { return .success(found) }
      let reached = try DeliveryRecords.reached(in: id, since: since, at: now, transaction)
      var people: [PersonID: CallDeliveries.Reach] = [:]
      for other in call.people where other.id != call.caller {
        people[other.id] = Self.reach(of: other, isReached: reached[other.id])
      }
      found.people = people
      return .success(found)
    }
  }

  /// - Parameter isReached: whether a device took a ring; nil: none was pushed.
  private static func reach(of person: CallPerson, isReached: Bool?) -> CallDeliveries.Reach {
    if person.hasJoined { return .reached }
    guard let isReached else { return .unknown }
    return isReached ? .reached : .unreachable
  }

  /// A ring that is kept from a person is written down as if the same had become of it as of others' lately, for each device as long behind
  /// it. By that alone who rings is answered for those who have blocked it and for all others, also once it is forgotten. It is shown to no
  /// one as a push.
  func keepUnheard(
    _ ring: CallRing, of person: PersonID, in call: CallUUID, at now: CallTime,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let over = now.wall + max(ring.until - now.steady, 0)
    var waiting: [CallDelivery] = []
    for device in try keptDevices(of: person, transaction) {
      // What no service reaches fails at once.
      let outcome =
        terms.wakes.contains(device.platform)
        ? unheard.pushes.draw(ring.id, device) : SeenPushes.Outcome(end: .failed, delay: 0)
      let (state, time): (String, Int64) =
        switch outcome.end {
        case .taken: ("delivered", now.wall + outcome.delay)
        case .failed: ("failed", min(now.wall + outcome.delay, over))
        case .unsettled: ("expired", over)
        }
      let delivery = CallDelivery(
        call: call, person: person, device: device.id, ring: ring.id, kind: .ring,
        platform: device.platform.rawValue, state: state, reason: "", time: time, tries: 1)
      try DeliveryRecords.keepUnheard(delivery, transaction)
      if outcome.end != .taken, time > now.wall { waiting.append(delivery) }
    }
    unheard.pushes.keep(waiting, of: ring.id)
  }

  /// Rings that are kept from people are over with a change: what no service would have taken by now it doesn't take any more.
  func endUnheard(
    _ change: CallBook.Change, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    for person in change.before?.people ?? [] {
      guard let ring = person.ring, ring.isSilent, change.after[person.id]?.ring?.id != ring.id else {
        continue
      }
      for delivery in unheard.pushes.release(ring.id) where delivery.time > now.wall {
        var over = delivery
        (over.state, over.time) = ("expired", now.wall)
        try DeliveryRecords.keepUnheard(over, transaction)
      }
    }
  }
}
