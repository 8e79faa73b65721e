internal import Engine
internal import Model
internal import Synchronization

/// The end of a server, in good order: nobody new, a time to leave, and then everybody.
extension RoomDirectory {
  /// Whether nobody is let in any more.
  public var isDraining: Bool { state.withLock { $0.isDraining } }

  /// Not draining, and each worker answers within a second.
  public func isReady() async -> Bool {
    guard !isDraining else { return false }
    return await media.port.isAnswering()
  }

  /// Lets nobody in any more, and tells everybody until when they may stay.
  public func drain(for patience: Duration) async {
    let deadline = media.wallTime.advanced(by: patience)
    let rooms = state.withLock { state in
      state.deadline = deadline
      return state.inOrder
    }
    for room in rooms { await room.drain(until: deadline) }
  }

  /// Returns when nobody is in any room, which may be at once.
  public func waitUntilEmpty() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if !state.sessions.isEmpty { state.waitingUntilEmpty.append(continuation) }
        return state.sessions.isEmpty
      }
      if isEmpty { continuation.resume() }
    }
  }

  /// Nobody is let in any more; everybody is told and leaves.
  public func close() async {
    let rooms = state.withLock { state in
      if state.deadline == nil { state.deadline = media.wallTime }
      return state.inOrder
    }
    for room in rooms { await room.close(reason: .serverShutdown) }
  }

  public var counts: RoomCounts {
    state.withLock { state in
      var counts = state.counts
      counts.rooms = state.rooms.count
      counts.participants = state.sessionCount
      return counts
    }
  }
}
