internal import Calls
internal import Storage

/// What is kept for a time, and then forgotten.
extension CallDesk {
  private static let group = 500
  /// Events of shared sessions, which are small once a snapshot has taken their content.
  private static let eventGroup = 2_000
  static let day: Int64 = 86_400_000
  /// For how long the events of a shared session can be read behind its end.
  static let eventPatience: Int64 = 60_000

  /// Forgets what is old, once a minute, until its task is cancelled.
  public func keepTidy() async {
    while !Task.isCancelled {
      await tidy()
      try? await Task.sleep(for: .seconds(60))
    }
  }

  /// Forgets what is old by now, as much of it as there is; and goes on with people who are being erased.
  public func tidy() async {
    do throws(CallProblem) {
      while !Task.isCancelled, try await eraseSome(of: nil) {}
    } catch { return }
    while !Task.isCancelled {
      do throws(CallProblem) { if try await !tidySome() { return } } catch { return }
    }
  }

  /// Whatever is forgotten here is found by an index over what is there still, so that it costs what it takes away.
  /// - Returns: whether there may be more.
  private func tidySome() async throws(CallProblem) -> Bool {
    try await decide { [self] transaction, aftermath, now throws(StoreError) in
      let keys = try CallKeyRecords.forget(
        endedBefore: now.wall - terms.afterCall, limit: Self.group, transaction)
      let history = now.wall - Int64(terms.historyDays) * Self.day
      let calls = try CallRecords.forget(endedBefore: history, limit: Self.group, transaction)
      // People of which nothing else is known.
      let erased = try PersonRecords.forget(erasedBefore: history, limit: Self.group, transaction)
      let events = try EventRecords.forget(
        before: now.wall - Int64(terms.eventDays) * Self.day, limit: Self.group, transaction)
      let answers = try AnswerRecords.forget(before: now.wall - Self.day, limit: Self.group, transaction)
      let deliveries = try DeliveryRecords.forget(
        before: now.wall - terms.deliveries, limit: Self.group, transaction)
      let signals = try EventRecords.emptySignals(
        endedBefore: now.wall - terms.afterCall, limit: Self.group, transaction)
      let sessions = try forgetSessions(at: now, transaction)
      let devices = try DeviceRecords.unused(
        since: now.wall - Int64(terms.deviceDays) * Self.day, limit: Self.group, transaction)
      for (person, device) in devices {
        _ = try DeviceRecords.remove(device, of: person, transaction)
        try tellRemoved(device, of: person, "unused", at: now, &aftermath, transaction)
      }
      let most = max(keys, calls, erased, events, answers, deliveries, devices.count)
      return .success(signals || sessions || most >= Self.group)
    }
  }

  /// First the events of sessions that are over, and long afterwards what is left of those.
  /// - Returns: whether there may be more.
  private func forgetSessions(
    at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    let hasEvents = try SessionRecords.forgetEvents(
      endedBefore: now.wall - Self.eventPatience, limit: Self.eventGroup, transaction)
    // One that has events still isn't taken away with all of them at once.
    if hasEvents { return true }
    return try SessionRecords.forget(
      endedBefore: now.wall - Int64(terms.sharing.snapshotDays) * Self.day, limit: Self.group, transaction)
  }
}
