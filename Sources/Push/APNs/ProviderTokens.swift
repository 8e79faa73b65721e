internal import Model
internal import Synchronization

/// The one provider token of all connections to APNs, which counts how often it is made over all of them.
final class ProviderTokens: Sendable {
  private let clocks: PushClocks
  private let token: Mutex<ProviderToken>

  init(_ token: ProviderToken, clocks: PushClocks) {
    self.token = Mutex(token)
    self.clocks = clocks
  }

  var current: String {
    token.withLock { $0.text(now: clocks.instant(), wall: clocks.wall()) }
  }

  /// - Returns: nil where another one would be too soon.
  func next(after refused: String) -> String? {
    token.withLock { $0.text(insteadOf: refused, now: clocks.instant(), wall: clocks.wall()) }
  }
}
