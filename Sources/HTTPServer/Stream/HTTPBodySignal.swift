internal import Synchronization

/// Has servers look again at all bodies that wait for the same, however many these are: raising it costs as much for a thousand as
/// for one, and nothing while no server has looked since the last time. Any thread may raise it.
public final class HTTPBodySignal: Sendable {
  private struct Raising {
    var isRaised = false
    /// How the servers look that have bodies that wait for it, by a number of each.
    var servers: [Int32: @Sendable (HTTPBodySignal) -> Void] = [:]
  }

  private let state = Mutex(Raising())

  public init() {}

  public func raise() {
    let servers = state.withLock { state -> [@Sendable (HTTPBodySignal) -> Void] in
      // Without a server that is to look, it would stay raised for ever.
      guard !state.isRaised, !state.servers.isEmpty else { return [] }
      state.isRaised = true
      return Array(state.servers.values)
    }
    for look in servers { look(self) }
  }

  // MARK: for a server's thread

  /// What is raised from here on has the server look once more.
  func lower() { state.withLock { $0.isRaised = false } }

  /// A server has its first body that waits for it.
  /// - Parameter look: has the server look, on its own thread.
  func join(_ server: Int32, _ look: @escaping @Sendable (HTTPBodySignal) -> Void) {
    state.withLock { $0.servers[server] = look }
  }

  /// It has none any more.
  func leave(_ server: Int32) {
    state.withLock { state in
      state.servers[server] = nil
      if state.servers.isEmpty { state.isRaised = false }
    }
  }
}
