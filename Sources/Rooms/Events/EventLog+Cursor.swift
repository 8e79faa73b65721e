internal import AccessTokens
internal import Model
internal import Synchronization

extension EventLog {
  /// Events of all rooms in the order in which they happened.
  public struct CursorPage: Sendable {
    /// Each with the cursor that continues after it.
    public let events: [(cursor: String, event: RoomEvent)]
    /// Continues after the last of them.
    public let cursor: String
    /// Whether there are no more.
    public let isLast: Bool
  }

  /// - Parameters:
  ///   - cursor: as an earlier page had it; nil: from the oldest that is kept.
  ///   - limit: 1–`pageLimit`, clamped.
  public func events(after cursor: String?, limit: Int = pageLimit) throws(EventLogError) -> CursorPage {
    var known: (run: UInt64, position: UInt64)?
    if let cursor {
      guard let read = Self.read(cursor) else { throw .notACursor }
      known = read
    }
    expire()
    let found: Result<CursorPage, EventLogError> = state.withLock { state in
      let position = known?.position ?? state.lostPosition
      guard known.map({ $0.run == state.run }) ?? true, position >= state.lostPosition,
        position <= state.lastPosition
      else { return .failure(.cursorGone(oldest: state.cursor(at: state.lostPosition))) }
      var events: [(cursor: String, event: RoomEvent)] = []
      var index = state.order.firstIndex { $0.position > position }
      let end = state.order.firstIndex { [shown] in $0.position > shown }
      while index < end, events.count < min(max(limit, 1), Self.pageLimit) {
        let (place, room) = state.order[index]
        if let entry = state.entry(at: place, of: room) {
          events.append((state.cursor(at: place), entry.event))
        }
        index += 1
      }
      return .success(
        CursorPage(
          events: events, cursor: events.last?.cursor ?? state.cursor(at: position), isLast: index >= end))
    }
    return try found.get()
  }

  /// The cursor after all that has happened by now.
  public var latestCursor: String {
    state.withLock { state in state.cursor(at: max(state.lostPosition, min(shown, state.lastPosition))) }
  }

  private static func read(_ text: String) -> (run: UInt64, position: UInt64)? {
    guard text.utf8.count == 22, let bytes = Base64URL.decode(text.utf8), bytes.count == 16 else {
      return nil
    }
    var words: [UInt64] = [0, 0]
    for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
    return (words[0], words[1])
  }
}

extension EventLog.State {
  /// Continues after that position.
  fileprivate func cursor(at position: UInt64) -> String {
    var bytes: [UInt8] = []
    for word in [run, position] {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return Base64URL.encode(bytes)
  }
}
