internal import Crypto
internal import FoundationEssentials
internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

/// The sessions that may be resumed, by their tokens: 192 random bits each, of which only a keyed code is kept, so that
/// neither a look into memory nor the time of a comparison gives one away.
///
///     good ──redeem──▶ spent ──the client was heard──▶ forgotten
///      ▲                 └──the answer was lost──▶ good
///      └─ allow
///
/// A session has at most three: the one that it was given last, the one before, where that may not have arrived, and one
/// that is spent. So there are never more than three times as many as there are sessions.
package final class ResumeTokens: Sendable {
  private struct State {
    var good: [ResumeCode: SignallingSession] = [:]
    /// Redeemed for a socket of which nothing was heard yet.
    var spent: Set<ResumeCode> = []
  }

  private let key = Random.key(32)
  private let state = Mutex(State())

  package init() {}

  /// Draws one at random; it is good once it is allowed.
  func draw() -> (token: String, code: ResumeCode) {
    let token = Data(Random.key(24)).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_")
    return (token, code(of: token))
  }

  /// A token that was drawn is good until it is redeemed or revoked.
  func allow(_ code: ResumeCode, for session: SignallingSession) {
    state.withLock { $0.good[code] = session }
  }

  /// Takes a token in: it is good once.
  /// - Returns: nil: unknown, or spent.
  func redeem(_ token: String) -> (session: SignallingSession, code: ResumeCode)? {
    let code = code(of: token)
    return state.withLock { state in
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.resumedTwice), let session = state.good[code] { return (session, code) }
      #endif
      guard let session = state.good.removeValue(forKey: code) else { return nil }
      state.spent.insert(code)
      return (session, code)
    }
  }

  /// Whether it may become good again.
  func isSpent(_ token: String) -> Bool {
    let code = code(of: token)
    return state.withLock { $0.spent.contains(code) }
  }

  /// The answer to it did not arrive: it is good once more.
  func restore(_ code: ResumeCode, for session: SignallingSession) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.resumeLost) { return }
    #endif
    state.withLock {
      $0.spent.remove(code)
      $0.good[code] = session
    }
  }

  func revoke(_ code: ResumeCode) {
    state.withLock {
      $0.spent.remove(code)
      $0.good[code] = nil
    }
  }

  package var count: Int { state.withLock { $0.good.count + $0.spent.count } }

  private func code(of token: String) -> ResumeCode {
    HMAC.code(.sha256, key: key, message: Array(token.utf8))
  }
}
