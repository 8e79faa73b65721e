internal import Logging
internal import Storage
internal import Synchronization

extension StoredJournal {
  /// From the beginning of one portion to that of the next.
  private static let deletionPace = Duration.milliseconds(50)
  /// The same where the first could not be deleted.
  private static let deletionRetry = Duration.seconds(1)

  /// Whether events that are stored are to be deleted still.
  var hasDeletions: Bool { state.withLock { $0.pending.deletions.next(stored: stored) != nil } }

  /// Deletes a portion of what the log has given up, where there is something and it is time.
  func deletePortion() async {
    guard let portion = takePortion() else { return }
    let error: StoreError?
    do throws(StoreError) {
      let outcome = try await store.write(bytes: 0) { transaction throws(StoreError) in
        try RecordWriter.delete(portion, from: transaction)
      }
      state.withLock { $0.pending.finish(outcome) }
      error = nil
    } catch let problem { error = problem }
    let isNews = state.withLock { state in
      defer { state.hasDeletionFailed = error != nil }
      if error != nil { state.nextDeletion = .now + Self.deletionRetry }
      return state.hasDeletionFailed != (error != nil)
    }
    if isNews, let error {
      log.warning("old events can't be deleted, tried again until they can be", ["reason": "\(error)"])
    }
    // For what is left.
    call.yield()
  }

  /// - Returns: nil: there is nothing to be deleted, or it is not time yet, and `calls` says when it is.
  private func takePortion() -> EventDeletions.Portion? {
    let (portion, pause) = state.withLock { state -> (EventDeletions.Portion?, Duration?) in
      guard let portion = state.pending.deletions.next(stored: stored) else { return (nil, nil) }
      let now = ContinuousClock.now
      guard now >= state.nextDeletion else {
        defer { state.isDeletionTimed = true }
        return (nil, state.isDeletionTimed ? nil : state.nextDeletion - now)
      }
      state.nextDeletion = now + Self.deletionPace
      return (portion, nil)
    }
    if let pause {
      Task {
        try? await Task.sleep(for: pause)
        state.withLock { $0.isDeletionTimed = false }
        call.yield()
      }
    }
    return portion
  }
}
