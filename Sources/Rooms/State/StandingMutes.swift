internal import AccessTokens
internal import Model

/// Mutes of an administrator whose tracks are over: the next track of that source takes one over, so that publishing
/// a track again does not lift its mute. `unknown` may be any source of its kind: such a track begins muted while a mute
/// of the kind waits, and so does any while one of an `unknown` track does; but the mute waits on for its own source,
/// since otherwise a track that is of no use would free the one that was muted.
struct StandingMutes: Equatable, Sendable {
  private(set) var counts: [MutedKind: Int] = [:]

  struct MutedKind: Hashable, Sendable {
    let kind: MediaKind
    let source: TrackSource
  }

  init(_ counts: [MutedKind: Int] = [:]) { self.counts = counts }

  /// A track is over that an administrator had muted.
  mutating func keep(_ track: TrackInfo) {
    counts[MutedKind(kind: track.kind, source: track.source), default: 0] += 1
  }

  /// - Returns: whether a new track begins muted by an administrator.
  mutating func take(_ kind: MediaKind, _ source: TrackSource) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.standingMuteForgotten) { return false }
    #endif
    let own = MutedKind(kind: kind, source: source)
    if let count = counts[own] {
      counts[own] = count > 1 ? count - 1 : nil
      return true
    }
    return counts.keys.contains { $0.kind == kind && ($0.source == .unknown || source == .unknown) }
  }
}
