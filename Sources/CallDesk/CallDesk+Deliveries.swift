public import Calls
internal import Storage

/// What became of pushes, and who may know of it.
extension CallDesk {
  /// Milliseconds after which a push service has usually answered.
  private static let usualPush: Int64 = 500

  /// Writes down what push services have said.
  public func keep(_ deliveries: [CallDelivery]) async throws(CallProblem) {
    try await decide(bytes: 256 * deliveries.count) {
      transaction, _, now throws(StoreError) -> Result<Void, CallProblem> in
      for delivery in deliveries {
        try DeliveryRecords.keep(delivery, transaction)
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
          try CallRecords.call(id, of: person, terms: callTerms, transaction)
        } else {
          try CallRecords.call(id, terms: callTerms, transaction)
        }
      guard let call = row?.state else { return .failure(.notFound) }
      let (items, next) = try DeliveryRecords.page(
        of: id, person: person, before: place, limit: min(max(limit, 1), 200), transaction)
      var found = CallDeliveries(items: items, next: next, people: nil)
      guard person == nil || person == call.caller else { return .success(found) }
      let reached = try DeliveryRecords.reached(in: id, transaction)
      var people: [PersonID: CallDeliveries.Reach] = [:]
      for other in call.people where other.id != call.caller {
        people[other.id] = try reach(of: other, in: call, isReached: reached[other.id], transaction)
      }
      found.people = people
      return .success(found)
    }
  }

  /// - Parameter isReached: whether a device took a ring; nil: none was pushed.
  private func reach(
    of person: CallPerson, in call: CallState, isReached: Bool?, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallDeliveries.Reach {
    if person.hasJoined { return .reached }
    if person.isHidden {
      // As if it were rung: a caller learns of a block by nothing, also not by how long deliveries are kept.
      let age = clock().wall - call.createdAt
      let devices = try DeviceRecords.all(of: person.id, transaction)
      guard age <= terms.deliveries, !devices.isEmpty else { return .unknown }
      guard devices.contains(where: { terms.wakes.contains($0.platform) }) else { return .unreachable }
      return age < Self.usualPush ? .unknown : .reached
    }
    guard let isReached else { return .unknown }
    return isReached ? .reached : .unreachable
  }
}
