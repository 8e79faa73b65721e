internal import Calls
internal import Storage

/// What is kept for a time, and then forgotten.
extension CallDesk {
  /// Forgets what is old, once a minute, until its task is cancelled.
  public func keepTidy() async {
    while !Task.isCancelled {
      await tidy()
      try? await Task.sleep(for: .seconds(60))
    }
  }

  /// Forgets what is old by now, as much of it as there is; and goes on with people who are being erased.
  public func tidy() async {
    // An erasure that can't be read, or doesn't come to its end, keeps nothing else from being forgotten.
    do throws(CallProblem) { while !Task.isCancelled, try await eraseSome(of: nil) {} } catch {}
    for kept in Kept.allCases {
      // What can't be read of one kind keeps none of the others.
      do throws(CallProblem) { try await tidy(kept) } catch { continue }
    }
  }

  private func tidy(_ kept: Kept) async throws(CallProblem) {
    var edge = Int64.min
    if kept == .answers {
      edge = try await read { [terms] transaction throws(StoreError) -> Result<Int64, CallProblem> in
        .success(try AnswerRecords.oldest(of: terms.answers.ofAll, transaction) ?? .min)
      }
    }
    var tidied = Tidied(isMore: true)
    while tidied.isMore, !Task.isCancelled {
      tidied = try await tidySome(kept, before: edge, from: tidied.place)
    }
  }

  /// What one transaction has come to.
  private struct Tidied: Sendable {
    /// There may be more.
    var isMore = false
    /// Among a call's signals.
    var place: EventRecords.SignalPlace?
  }

  /// Whatever is forgotten here is found by an index over what is there still, so that it costs what it takes away. Each kind has
  /// transactions of its own, of a portion each.
  /// - Parameters:
  ///   - edge: what is from before it goes, though its time isn't over.
  ///   - place: where the transaction before has ended.
  private func tidySome(
    _ kept: Kept, before edge: Int64, from place: EventRecords.SignalPlace?
  ) async throws(CallProblem) -> Tidied {
    try await decide { [self] transaction, aftermath, now throws(StoreError) -> Result<Tidied, CallProblem> in
      let moment = max(cutoff(kept), edge)
      var (portion, tidied) = (Portion(), Tidied())
      switch kept {
      case .wrappedKeys: try CallKeyRecords.forget(endedBefore: moment, &portion, transaction)
      case .signals:
        tidied.place = try EventRecords.emptySignals(endedBefore: moment, from: place, &portion, transaction)
      case .events: try EventRecords.forget(before: moment, &portion, transaction)
      case .answers: try AnswerRecords.forget(before: moment, &portion, transaction)
      case .deliveries: try DeliveryRecords.forget(before: moment, &portion, transaction)
      case .sessionEvents: try SessionRecords.forgetEvents(endedBefore: moment, &portion, transaction)
      case .sessions: try SessionRecords.forget(endedBefore: moment, &portion, transaction)
      case .calls: try CallRecords.forget(endedBefore: moment, &portion, transaction)
      case .erasedPeople: try PersonRecords.forget(erasedBefore: moment, &portion, transaction)
      case .devices:
        for (person, device) in try DeviceRecords.unused(since: moment, &portion, transaction) {
          _ = try DeviceRecords.remove(device, of: person, transaction)
          try tellRemoved(device, of: person, "unused", at: now, &aftermath, transaction)
        }
      }
      tidied.isMore = portion.isMore
      return .success(tidied)
    }
  }
}
