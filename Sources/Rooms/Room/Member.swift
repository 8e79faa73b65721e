internal import Model
internal import Negotiation

/// One participant session, as its room has it. Belongs to the room's actor.
final class Member {
  let session: ParticipantSession
  var info: ParticipantInfo
  /// Changed only by `Room.permit`.
  var grants: Grants
  let joined: WallTime
  /// The native door's is the first; others come and go.
  var transports = [Transport()]
  /// What others pay for: offers, subscriptions, mutes, updates.
  var requests = Budget(rate: 20, burst: 100)
  var messages = Budget(rate: 100, burst: 200)
  /// Bytes of messages.
  var volume = Budget(rate: 262_144, burst: 1_048_576)
  /// As told last; and when, so that it doesn't flap.
  var quality: (value: ConnectionQuality, since: Instant)?
  var presence: Presence

  /// - Parameter grace: how long the session lives on without a socket.
  init(
    session: ParticipantSession, info: ParticipantInfo, grants: Grants, joined: WallTime, grace: Duration
  ) {
    presence = Presence(grace: grace)
    self.session = session
    self.info = info
    self.grants = grants
    self.joined = joined
  }

  var id: ParticipantID { session.id }
  var native: Transport { transports[0] }
  var published: [PublishedTrack] { transports.flatMap(\.published) }
  var bitrates: Bitrates { transports.map(\.bitrates).reduce(Bitrates(), +) }

  /// Tracks of one group are played in step.
  func group(of track: TrackInfo) -> String { info.id.text + (track.isScreen ? "/screen" : "/camera") }
}

/// One way on which a participant's media comes and goes: a peer of the media plane, once something was agreed
/// on, with what it publishes and what it is to get.
final class Transport {
  struct Link {
    let key: PeerKey
    var negotiator: Negotiator
    var local: LocalTransport
  }

  var link: Link?
  /// As sampled last.
  var bitrates = Bitrates()
  var published: [PublishedTrack] = []
  var slots = SlotPolicy()
  /// What was said of tracks that aren't active; nothing was said of the others.
  var told: [TrackID: StreamState] = [:]
  /// Tracks that are no longer allowed, whose sections are still agreed on.
  var withdrawn: [TrackKey: (mid: String, source: TrackSource)] = [:]
  /// Sections that were asked for and haven't come.
  var asked = (audio: 0, video: 0)
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
