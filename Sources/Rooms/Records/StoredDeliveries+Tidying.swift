public import Model
internal import Storage
internal import Synchronization

extension StoredDeliveries {
  /// Between two looks at what is held.
  private static let tidying = Duration.seconds(10)
  /// Pieces that are looked at again each time.
  private static let pieces = 16

  /// Deletes what no receiver has still to hear, and gives up what is too old or too much, until its task is cancelled.
  /// - Parameter now: by the clock of the events' times.
  public func tidy(by now: @escaping @Sendable () -> WallTime) async {
    while !Task.isCancelled {
      await tidy(now())
      try? await Task.sleep(for: Self.tidying)
    }
  }

  /// Events that the store has behind the oldest that a receiver has still to hear, and about their bytes.
  public var held: (events: Int, bytes: Int) { state.withLock { ($0.held.rows, $0.held.bytes) } }

  /// One look.
  func tidy(_ now: WallTime) async {
    // What the tables say of receivers counts.
    guard await write(), await measure(now), await trim(Self.pieces) else { return }
    await giveUp(as: \.late) { $0.piece.newest < now.advanced(by: .zero - limits.age) }
    guard held.bytes > limits.bytes, await trim(.max) else { return }
    // Some more than that, so that it isn't looked for again with each further event.
    await giveUp(as: \.crowdedOut) { _ in held.bytes > limits.bytes - limits.bytes / 16 }
  }

  /// What has come since the last look.
  private func measure(_ now: WallTime) async -> Bool {
    let stored = journal.stored
    while true {
      let end = state.withLock { state in
        state.held.drop(upTo: state.floor ?? stored)
        return state.held.end
      }
      guard end < stored else { return true }
      let rows = await reading { transaction throws(StoreError) in
        try DeliveryRows.sizes(after: end, upTo: stored, in: transaction)
      }
      guard let rows else { return false }
      state.withLock { $0.held.append(rows, now: now) }
      guard rows.count == DeliveryRows.heldRows else { return true }
    }
  }

  /// Deletes, of events that the log has given up, those that every receiver has.
  /// - Parameter count: of pieces, each in a transaction of its own.
  private func trim(_ count: Int) async -> Bool {
    let givenUp = journal.givenUpPosition
    var hasShrunk = false
    for _ in 0..<min(count, state.withLock { $0.held.pieces.count }) {
      guard let (after, last) = state.withLock({ $0.held.next(before: givenUp) }) else { break }
      let left = await writing { transaction throws(StoreError) in
        try DeliveryRows.trim(after: after, upTo: min(last, givenUp), in: transaction)
        return try DeliveryRows.size(after: after, upTo: last, in: transaction)
      }
      guard let left else { return false }
      if state.withLock({ $0.held.measured(upTo: last, rows: left.rows, bytes: left.bytes) }) {
        hasShrunk = true
      }
    }
    guard hasShrunk else { return true }
    return await writing { transaction throws(StoreError) in
      try DeliveryRows.forgetGone(upTo: givenUp, in: transaction)
    } != nil
  }

  /// Gives up the oldest events, for every receiver that hasn't had them.
  /// - Parameter isDue: whether the oldest piece is to go.
  private func giveUp(
    as reason: any WritableKeyPath<Report, UInt64> & Sendable,
    _ isDue: ((after: UInt64, piece: HeldEvents.Piece)) -> Bool
  ) async {
    var isGone = false
    while let first = state.withLock({ $0.held.first }), isDue(first) {
      let last = first.piece.last
      let counts = await reading { transaction throws(StoreError) in
        try DeliveryRows.waiting(after: first.after, upTo: last, in: transaction)
      }
      guard let counts else { break }
      state.withLock { state in
        state.giveUp(upTo: last, counts, as: reason)
        state.held.drop(upTo: last)
      }
      isGone = true
    }
    if isGone { _ = await write() }
  }
}
