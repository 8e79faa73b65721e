public import Model

/// The peers of which the media plane is asked why they get what they get.
public struct MediaQuestion: Sendable {
  /// Subscribers; those that a worker hasn't it says nothing of.
  public var peers: [PeerKey]
  /// Tracks of whose key frames it is to speak: a worker knows of the requests that its own peers made.
  public var tracks: [TrackKey]
  /// Tracks of which the worker that has the publisher is to say what comes of each of their layers.
  public var published: [TrackKey] = []
  /// Only the workers are asked that have the peers and the tracks' publishers. Of a request for a key frame that another worker's
  /// peer made it isn't known then whose it was.
  public var isNarrow = false

  /// Peers that one message to a worker names at most, so that packets are served between two.
  static let mostPeers = 32
  /// The same of published tracks, each of which costs much less.
  static let mostPublished = 256

  public init(peers: [PeerKey], tracks: [TrackKey]) {
    self.peers = peers
    self.tracks = tracks
  }

  /// The same in messages that each are soon answered.
  var parts: [MediaQuestion] {
    let count = max(
      Self.count(peers.count, by: Self.mostPeers), Self.count(published.count, by: Self.mostPublished))
    guard count > 1 else { return [self] }
    return (0..<count).map { part in
      var question = MediaQuestion(
        peers: Array(peers.dropFirst(part * Self.mostPeers).prefix(Self.mostPeers)),
        tracks: part == 0 ? tracks : [])
      question.published = Array(published.dropFirst(part * Self.mostPublished).prefix(Self.mostPublished))
      return question
    }
  }

  private static func count(_ items: Int, by most: Int) -> Int { (items + most - 1) / most }
}
