internal import Model
internal import SyntheticPeers

/// What one participant may do, by the word of its token and of those who administer its room (docs/tokens.md,
/// docs/rest.md). It is written from those pages, and asks the server nothing.
struct Allowance: Equatable {
  var canPublish = true
  /// nil: every source.
  var sources: Set<String>?
  var canSubscribe = true
  /// Decided when it joins.
  var isHidden = false

  /// Sources by the kind of section that can carry them.
  private static let kinds: [String: Set<MediaKind>] = [
    "camera": [.video], "screen_share": [.video], "microphone": [.audio], "screen_share_audio": [.audio],
    "unknown": [.audio, .video],
  ]
  static let allSources = kinds.keys.sorted()

  func mayPublish(_ source: String, in kind: MediaKind) -> Bool {
    guard canPublish, !isHidden, Self.kinds[source]?.contains(kind) == true else { return false }
    return sources?.contains(source) ?? true
  }
}

/// A span of time. Both ends belong to it and to what is beyond: what happens at the very moment of a change may have
/// come before it or after it.
struct Span {
  var from: Instant
  var until = Instant.never

  var isOpen: Bool { until == .never }
  func contains(_ moment: Instant) -> Bool { from <= moment && moment <= until }
  /// Without its ends.
  func encloses(_ moment: Instant) -> Bool { from < moment && moment < until }
}
