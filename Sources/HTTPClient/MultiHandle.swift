internal import CCurl
internal import Polling
internal import Synchronization

/// libcurl's multi interface, which has connections and what is on its way over them.
///
/// Unchecked: `wake` is the one call that threads other than the owner make.
final class MultiHandle: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer
  private let wakeup = Wakeup()
  private let sockets: MultiSockets
  private let isWoken = Atomic(false)
  /// Once a process, before its first request.
  private static let started: Void = { _ = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }()

  init() {
    _ = Self.started
    guard let pointer = curl_multi_init() else { preconditionFailure("libcurl has no memory") }
    self.pointer = pointer
    sockets = MultiSockets(wakeup: wakeup)
    sockets.attach(to: pointer)
  }

  deinit { curl_multi_cleanup(pointer) }

  /// Whether the system had the descriptors that it needs.
  var isOpen: Bool { sockets.isOpen }

  /// - Parameter connections: at once to one host; further requests wait for one, and their time runs meanwhile.
  func bound(connectionsPerHost connections: Int) {
    _ = rc_multi_set_number(pointer, CURLMOPT_MAX_HOST_CONNECTIONS, connections)
    // Kept for the next.
    _ = rc_multi_set_number(pointer, CURLMOPT_MAXCONNECTS, 64)
  }

  /// Goes on with what can, as soon as something can; for at most so long.
  func advance(milliseconds: Int) { sockets.advance(pointer, milliseconds: milliseconds) }

  /// Has the owner return from its wait, or from the next one.
  func wake() {
    isWoken.store(true, ordering: .sequentiallyConsistent)
    wakeup.signal()
  }

  /// Whether the owner was woken since it last asked.
  func takeWake() -> Bool { isWoken.exchange(false, ordering: .sequentiallyConsistent) }
}

/// By which other threads end a client's wait.
public final class HTTPClientWaker: Sendable {
  let multi = MultiHandle()

  public init() {}

  /// Has the client return from its wait, or from the next one.
  public func wake() { multi.wake() }
}
