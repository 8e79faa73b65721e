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
        // A device that is woken is in use.
        if delivery.isReached {
          if delivery.kind == .ring { unheard.delays.note(delivery.ring, at: now.wall) }
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
          try CallRecords.call(id, of: person, terms: callTerms, transaction)
        } else {
          try CallRecords.call(id, terms: callTerms, transaction)
        }
      guard let call = row?.state else { return .failure(.notFound) }
      // What is forgotten by now isn't given out, also where it is there still.
      let now = clock().wall
      let since = now - terms.deliveries
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

  /// A ring that is kept from a person is written down as if its devices had taken it, each as long behind it as others take. By that
  /// alone who rings is answered for those who have blocked it and for all others, also once it is forgotten. It is shown to no one as
  /// a push.
  func keepUnheard(
    _ ring: CallRing, of person: PersonID, in call: CallUUID, at now: CallTime,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    for device in try DeviceRecords.all(of: person, transaction) {
      // What no service reaches fails at once.
      let isTaken = terms.wakes.contains(device.platform)
      let time = now.wall + (isTaken ? unheard.delays.draw(ring.id, device.id) : 0)
      try DeliveryRecords.keepUnheard(
        CallDelivery(
          call: call, person: person, device: device.id, ring: ring.id, kind: .ring,
          platform: device.platform.rawValue, state: isTaken ? "delivered" : "failed", reason: "", time: time,
          tries: 1), transaction)
    }
  }
}
