internal import Calls
internal import Storage

/// What is kept for a time, and then forgotten.
extension CallDesk {
  private static let group = 500
  private static let day: Int64 = 86_400_000
  private static let signalPatience: Int64 = 60_000

  /// Forgets what is old, once a minute, until its task is cancelled.
  public func keepTidy() async {
    while !Task.isCancelled {
      await tidy()
      try? await Task.sleep(for: .seconds(60))
    }
  }

  /// Forgets what is old by now, as much of it as there is.
  public func tidy() async {
    while !Task.isCancelled {
      do throws(CallProblem) { if try await !tidySome() { return } } catch { return }
    }
  }

  /// - Returns: whether there may be more.
  private func tidySome() async throws(CallProblem) -> Bool {
    try await decide { [self] transaction, aftermath, now throws(StoreError) in
      let keys = try CallKeyRecords.forget(
        endedBefore: now.wall - Self.signalPatience, limit: Self.group, transaction)
      let calls = try CallRecords.forget(
        endedBefore: now.wall - Int64(terms.historyDays) * Self.day, limit: Self.group, transaction)
      let events = try EventRecords.forget(
        before: now.wall - Int64(terms.eventDays) * Self.day, limit: Self.group, transaction)
      try AnswerRecords.forget(before: now.wall - Self.day, transaction)
      try DeliveryRecords.forget(before: now.wall - Self.day, transaction)
      try EventRecords.emptySignals(
        endedBefore: now.wall - Self.signalPatience, after: now.wall - Self.day, transaction)
      try SessionRecords.forget(
        eventsBefore: now.wall - Self.signalPatience,
        snapshotsBefore: now.wall - Int64(terms.sharing.snapshotDays) * Self.day, transaction)
      let devices = try DeviceRecords.unused(
        since: now.wall - Int64(terms.deviceDays) * Self.day, limit: Self.group, transaction)
      for (person, device) in devices {
        _ = try DeviceRecords.remove(device, of: person, transaction)
        try tellRemoved(device, of: person, "unused", at: now, &aftermath, transaction)
      }
      return .success(max(keys, calls, events, devices.count) == Self.group)
    }
  }
}
