internal import Engine
internal import Model
internal import Peer

/// What the media plane last knew of a peer and of its tracks.
struct PeerSample: Sendable {
  var peer: PeerKey
  var quality: PeerQuality
  var levels: [(track: TrackKey, level: TrackLevel)]
}
