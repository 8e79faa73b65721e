public import Model

/// The peers of which the media plane is asked why they get what they get.
public struct MediaQuestion: Sendable {
  /// Subscribers; those that a worker hasn't it says nothing of.
  public var peers: [PeerKey]
  /// Tracks of whose key frames it is to speak: a worker knows of the requests that its own peers made.
  public var tracks: [TrackKey]
  /// Only the workers are asked that have the peers and the tracks' publishers. Of a request for a key frame that another worker's
  /// peer made it isn't known then whose it was.
  public var isNarrow = false

  /// Peers that one message to a worker names at most, so that packets are served between two.
  static let mostPeers = 32

  public init(peers: [PeerKey], tracks: [TrackKey]) {
    self.peers = peers
    self.tracks = tracks
  }

  /// The same in messages that each are soon answered.
  var parts: [MediaQuestion] {
    guard peers.count > Self.mostPeers else { return [self] }
    return stride(from: 0, to: peers.count, by: Self.mostPeers).map { start in
      MediaQuestion(
        peers: Array(peers[start..<min(start + Self.mostPeers, peers.count)]),
        tracks: start == 0 ? tracks : [])
    }
  }
}
