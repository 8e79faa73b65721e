internal import HTTPClient
internal import Model
internal import Synchronization

/// The one connection to a push service, and another one in its place once nothing comes over it any more.
///
/// libcurl makes it, finds it closed, and makes the next; what APNs hasn't begun when it says that it will close one (GOAWAY,
/// RFC 9113 §6.8) goes out on the next by itself. What libcurl can't see is a connection that swallows everything: there a request has no
/// answer within its time, nor has any other that was sent since.
final class APNsConnection: Sendable {
  private struct State {
    var client: HTTPClientThread
    /// How many there were before.
    var number = 0
    /// When something last came.
    var heardAt: Instant?
    var isStopped = false
  }

  /// A second one stands beside the first as long as that is being closed and has answers outstanding, or takes no more pushes.
  private static let atOnce = 2

  private let trust: HTTPClient.Trust
  private let now: @Sendable () -> Instant
  private let state: Mutex<State>

  init(trust: HTTPClient.Trust, now: @escaping @Sendable () -> Instant) {
    self.trust = trust
    self.now = now
    state = Mutex(State(client: Self.client(trust)))
  }

  private static func client(_ trust: HTTPClient.Trust) -> HTTPClientThread {
    HTTPClientThread(trust: trust, version: .http2, connectionsPerHost: atOnce)
  }

  func send(_ request: HTTPClientRequest) async -> Result<HTTPAnswer, HTTPClientError> {
    let (client, number) = state.withLock { ($0.client, $0.number) }
    let began = now()
    // Replaced meanwhile, it lives until the last of its requests is over.
    let result = await client.send(request)
    heard(result, number, began)
    return result
  }

  private func heard(_ result: Result<HTTPAnswer, HTTPClientError>, _ number: Int, _ began: Instant) {
    let moment = now()
    state.withLock { state in
      guard state.number == number, !state.isStopped else { return }
      switch result {
      case .success: state.heardAt = moment
      case .failure(.timeout) where state.heardAt.map({ $0 < began }) ?? true:
        state.client = Self.client(trust)
        state.number += 1
        state.heardAt = nil
      case .failure: break
      }
    }
  }

  /// Sees that there is one, now and whenever nothing came over it for a while, until the task is cancelled.
  /// - Parameter request: any answer to it will do.
  func stayReady(every interval: Duration, _ request: HTTPClientRequest) async {
    while !Task.isCancelled {
      if silence(interval) >= interval { _ = await send(request) }
      // One that couldn't be made is tried again, but not at once.
      let rest = max(interval - silence(interval), min(interval, .seconds(30)))
      try? await Task.sleep(for: rest)
    }
  }

  /// - Parameter unknown: where nothing has come yet.
  private func silence(_ unknown: Duration) -> Duration {
    let moment = now()
    return state.withLock { $0.heardAt.map { moment - $0 } ?? unknown }
  }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.client.stop()
    }
  }
}
