internal import Synchronization

/// Has servers look again at all bodies that wait for the same, however many these are: raising it costs as much for a thousand as
/// for one, and nothing while no server has looked since the last time. Any thread may raise it.
public final class HTTPBodySignal: Sendable {
  private struct State {
    var isRaised = false
    /// Of the servers that have bodies that wait for it.
    var boxes: [CommandBox] = []
  }

  private let state = Mutex(State())

  public init() {}

  public func raise() {
    let boxes = state.withLock { state -> [CommandBox] in
      // Without a server that is to look, it would stay raised for ever.
      guard !state.isRaised, !state.boxes.isEmpty else { return [] }
      state.isRaised = true
      return state.boxes
    }
    for box in boxes { box.post(.look(self)) }
  }

  // MARK: for a server's thread

  /// What is raised from here on has the server look once more.
  func lower() { state.withLock { $0.isRaised = false } }

  /// The server has its first body that waits for it.
  func join(_ box: CommandBox) { state.withLock { $0.boxes.append(box) } }

  /// It has none any more.
  func leave(_ box: CommandBox) {
    state.withLock { state in
      state.boxes.removeAll { $0.descriptor == box.descriptor }
      if state.boxes.isEmpty { state.isRaised = false }
    }
  }
}
