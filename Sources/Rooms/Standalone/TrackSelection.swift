internal import Model

/// Which tracks a transport without a socket plays, as its URL said once and for all.
public struct TrackSelection: Equatable, Sendable {
  /// Of that identity alone, who may be the participant itself; nil: of all others.
  public var participant: String?
  /// That track alone.
  public var track: String?

  public init(participant: String? = nil, track: String? = nil) {
    self.participant = participant
    self.track = track
  }

  /// Everything that others publish.
  public static let all = TrackSelection()

  var isAll: Bool { self == .all }

  /// Whether it plays a track of that identity.
  /// - Parameter isOwn: it is the participant's own, which is played where it is asked for alone.
  func plays(_ track: TrackID, of identity: String, isOwn: Bool) -> Bool {
    if isOwn, isAll { return false }
    if let wanted = participant, !wanted.isExactly(identity) { return false }
    if let wanted = self.track, wanted != track.text { return false }
    return true
  }
}
