public import Calls
internal import Storage

/// What became of pushes, and who may know of it.
extension CallDesk {
  /// Of one call that are shown, the earliest first.
  private static let mostDeliveries = 1_024
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
  /// - Parameter person: nil: one who runs the call's room.
  /// - Throws: `notFound`, also of a call of others.
  public func deliveries(of id: CallUUID, for person: PersonID?) async throws(CallProblem) -> CallDeliveries {
    try await read { [self] transaction throws(StoreError) in
      let row =
        if let person {
          try CallRecords.call(id, of: person, terms: callTerms, transaction)
        } else {
          try CallRecords.call(id, terms: callTerms, transaction)
        }
      guard let call = row?.state else { return .failure(.notFound) }
      let seesAll = person == nil || person == call.caller
      let all = try DeliveryRecords.all(
        of: id, person: seesAll ? nil : person, most: Self.mostDeliveries, transaction)
      guard seesAll else { return .success(CallDeliveries(items: all, people: nil)) }
      var people: [PersonID: CallDeliveries.Reach] = [:]
      for other in call.people where other.id != call.caller {
        people[other.id] = try reach(of: other, in: call, all, transaction)
      }
      return .success(
        CallDeliveries(
          items: person.map { person in all.filter { $0.person == person } } ?? all, people: people))
    }
  }

  private func reach(
    of person: CallPerson, in call: CallState, _ all: [CallDelivery], _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallDeliveries.Reach {
    if person.hasJoined { return .reached }
    if person.isHidden {
      // As if it were rung: a caller learns of a block by nothing, also not by how long deliveries are kept.
      let age = clock().wall - (call.createdAt)
      guard age >= Self.usualPush, age < terms.deliveries else { return .unknown }
      return try DeviceRecords.all(of: person.id, transaction).isEmpty ? .unknown : .reached
    }
    let rings = all.filter { $0.person == person.id && $0.kind == .ring }
    if rings.contains(where: \.isReached) { return .reached }
    return rings.isEmpty ? .unknown : .unreachable
  }
}
