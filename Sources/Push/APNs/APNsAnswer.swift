internal import AccessTokens
package import HTTPClient
package import Model

/// What APNs has said of a push, as far as it is what it should be: it is a stranger's.
package struct APNsAnswer: Equatable, Sendable {
  /// Bytes of an answer that are looked at; APNs says less than a hundred.
  package static let limit = 4_096
  /// What stands in place of a reason that can't be read.
  package static let unreadable = "unreadable"

  package var status: Int
  /// Letters and digits, 64 at most; empty where nothing is said.
  package var reason: String
  /// When the token was known to be no good.
  package var timestamp: WallTime?
  /// For how long it wants to be left alone.
  package var pause = Duration.zero

  package init(status: Int, reason: String = "", timestamp: WallTime? = nil, pause: Duration = .zero) {
    self.status = status
    self.reason = reason
    self.timestamp = timestamp
    self.pause = pause
  }

  package init(_ answer: HTTPAnswer) {
    status = answer.head.status
    pause = .seconds(max(0, min(answer.retryAfter ?? 0, 86_400)))
    reason = answer.body.isEmpty ? "" : Self.unreadable
    guard answer.body.count <= Self.limit,
      case .object(let members)? = StrictJSON.parse(answer.body, maximumMembers: 16)
    else { return }
    if case .string(let text)? = members["reason"], Self.isWord(text) { reason = text }
    if case .number(let value)? = members["timestamp"], (0..<1e15).contains(value) {
      timestamp = WallTime(milliseconds: Int64(value))
    }
  }

  private static func isWord(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
  }
}
