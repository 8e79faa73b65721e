internal import AccessTokens
internal import Model
internal import Negotiation

/// One participant session, as its room has it. Belongs to the room's actor.
final class Member {
  let session: ParticipantSession
  var info: ParticipantInfo
  /// Of its metadata and attributes in JSON, as `Room.review` has counted them.
  private(set) var stateBytes: Int
  /// Changed only by `Room.permit`.
  var grants: Grants
  let joined: WallTime
  /// The native door's is the first; others come and go.
  var transports = [Transport()]
  /// As told last; and when, so that it doesn't flap.
  var quality: (value: ConnectionQuality, since: Instant)?
  var presence: Presence
  /// Mutes of administrators that outlived their tracks.
  var standingMutes = StandingMutes()

  /// - Parameter grace: how long the session lives on without a socket.
  init(
    session: ParticipantSession, info: ParticipantInfo, stateBytes: Int, grants: Grants, joined: WallTime,
    grace: Duration
  ) {
    presence = Presence(grace: grace)
    self.session = session
    self.info = info
    self.stateBytes = stateBytes
    self.grants = grants
    self.joined = joined
  }

  var id: ParticipantID { session.id }
  var native: Transport { transports[0] }
  var published: [PublishedTrack] { transports.flatMap(\.published) }

  /// Whether it may publish a track of that source.
  func mayPublish(_ source: TrackSource, as kind: MediaKind, inNewSection isNew: Bool) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.publishesAgain), isNew {
        var grants = grants
        grants.canPublish = true
        return grants.mayPublish(source, as: kind)
      }
    #endif
    return grants.mayPublish(source, as: kind)
  }

  /// - Parameter bytes: of its metadata and attributes, from `Room.review`.
  func describe(_ info: ParticipantInfo, _ bytes: Int) {
    self.info = info
    stateBytes = bytes
  }

  var bitrates: Bitrates { transports.map(\.bitrates).reduce(Bitrates(), +) }

  /// Tracks of one group are played in step.
  func group(of track: TrackInfo) -> String { info.id.text + (track.isScreen ? "/screen" : "/camera") }
}

/// One way on which a participant's media comes and goes: a peer of the media plane, once something was agreed
/// on, with what it publishes and what it is to get.
final class Transport {
  /// What was agreed on so far; nil before the first offer.
  var negotiator: Negotiator?
  /// The peer of the media plane; nil while no section is agreed on.
  var peer: PeerKey?
  /// As sampled last.
  var bitrates = Bitrates()
  var published: [PublishedTrack] = []
  var slots = SlotPolicy()
  /// What was said of tracks that aren't active; nothing was said of the others.
  var told: [TrackID: StreamState] = [:]
  /// Tracks that are no longer allowed, whose sections are still agreed on.
  var withdrawn: [TrackKey: TrackSource] = [:]
  /// Sections that were asked for and haven't come.
  var asked = (audio: 0, video: 0)
}

/// Mutes of an administrator whose tracks are over: the next track of that source takes one over, so that publishing
/// a track again does not lift its mute. `unknown` may be any source of its kind: such a track begins muted while a mute
/// of the kind waits, and so does any while one of an `unknown` track does; but the mute waits on for its own source,
/// since otherwise a track that nobody needs would free the one that was muted.
struct StandingMutes {
  private var counts: [Key: Int] = [:]

  private struct Key: Hashable {
    let kind: MediaKind
    let source: TrackSource
  }

  /// A track is over that an administrator had muted.
  mutating func keep(_ track: TrackInfo) {
    counts[Key(kind: track.kind, source: track.source), default: 0] += 1
  }

  /// - Returns: whether a new track begins muted by an administrator.
  mutating func take(_ kind: MediaKind, _ source: TrackSource) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.standingMuteForgotten) { return false }
    #endif
    let own = Key(kind: kind, source: source)
    if let count = counts[own] {
      counts[own] = count > 1 ? count - 1 : nil
      return true
    }
    return counts.keys.contains { $0.kind == kind && ($0.source == .unknown || source == .unknown) }
  }
}

/// A track of somebody's, as the media plane knows it.
struct PublishedTrack {
  var info: TrackInfo
  let key: TrackKey
  let mid: String
  /// Of its packets; before the first, what the description makes likely.
  var codec: CodecFormat?
  var hasStarted = false
}

extension TrackInfo {
  var isScreen: Bool { source == .screenShare || source == .screenShareAudio }
}
