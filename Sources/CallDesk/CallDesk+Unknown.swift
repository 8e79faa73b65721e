internal import Calls
internal import Logging
internal import Storage

/// What follows from decisions that are on the disk, though the store couldn't say so as they were made: who asked was answered that it
/// isn't known, and may never ask again.
extension CallDesk {
  /// Decisions that are looked at in one read.
  private static let group = 64

  func keepUnknown(_ decision: UnknownDecisions.Decision) {
    guard !decision.aftermath.isEmpty, !unknown.keep(decision) else { return }
    log.error(
      "calls: the connection to the database is lost too often; what follows from a decision may not be carried out before the next start"
    )
  }

  /// Carries out what of them stands, once each, as soon as the store answers. It takes its place among the decisions like one of them:
  /// those before it are known by then, and carried out.
  func catchUp() async {
    while true {
      let group = unknown.first(Self.group)
      guard !group.isEmpty else { return }
      let places = DecisionPlaces(outlet)
      do throws(StoreError) {
        let aftermath = try await store.read { [self] transaction throws(StoreError) -> Aftermath in
          places.take()
          var aftermath = Aftermath()
          for decision in group { try add(decision, to: &aftermath, transaction) }
          return aftermath
        }
        places.settle(aftermath)
      } catch {
        // It is tried again a little later.
        return places.settle(nil)
      }
      unknown.removeFirst(group.count)
    }
  }

  /// A call that can't be understood keeps nothing from being carried out for others.
  private func add(
    _ decision: UnknownDecisions.Decision, to aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    do throws(StoreError) {
      try addRings(of: decision, to: &aftermath, transaction)
      try addCalls(of: decision, to: &aftermath, transaction)
      try addOthers(of: decision, to: &aftermath, transaction)
    } catch { guard case .unreadable = error else { throw error } }
  }

  /// A ring has an id of its own, and its end was written down at that moment or at another one.
  private func addRings(
    of decision: UnknownDecisions.Decision, to aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    for ring in decision.aftermath.rings {
      let row = try CallRecords.readable(ring.call.id, terms: callTerms, transaction)
      if row?.state[ring.person]?.ring?.id == ring.ring.id { aftermath.rings.append(ring) }
    }
    for end in decision.aftermath.ringsEnded {
      if try EventRecords.hasEnded(end, at: decision.at.wall, transaction) {
        aftermath.ringsEnded.append(end)
      }
    }
  }

  private func addCalls(
    of decision: UnknownDecisions.Decision, to aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    for close in decision.aftermath.closes {
      guard let room = close.room else { continue }
      // A stay that isn't the person's any more has nothing to do in the room, whatever has ended it.
      let row = try CallRecords.call(inRoom: room, terms: callTerms, transaction)
      if row?.state[close.person]?.session?.stay != close.stay { aftermath.closes.append(close) }
    }
    for (person, room) in decision.aftermath.revoked {
      guard let room else { continue }
      let row = try CallRecords.call(inRoom: room, terms: callTerms, transaction)
      if row?.state.hasRemoved(person) ?? false { aftermath.revoked.append((person, room)) }
    }
    for step in decision.aftermath.steps {
      if try StepRecords.has(step, of: decision.at.wall, transaction) { aftermath.steps.append(step) }
    }
  }

  private func addOthers(
    of decision: UnknownDecisions.Decision, to aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    // They look into the store themselves.
    aftermath.listeners.formUnion(decision.aftermath.listeners)
    for shared in decision.aftermath.sharedEvents {
      let found = try SharedEventRecords.page(
        of: shared.session, after: shared.event.seq - 1, limit: 1, bytes: 0, transaction)
      if found.first?.seq == shared.event.seq, found.first?.id == shared.event.id {
        aftermath.sharedEvents.append(shared)
      }
    }
    for (person, device) in decision.aftermath.devicesGone {
      let devices = try DeviceRecords.all(of: person, transaction)
      if !devices.contains(where: { $0.id == device }) { aftermath.devicesGone.append((person, device)) }
    }
  }
}
