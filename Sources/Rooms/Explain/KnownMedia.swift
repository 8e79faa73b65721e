internal import Engine
internal import Model

/// The workers' answers by what they are about, and whose the tracks and requests in them are: of a room only as much as is explained.
struct KnownMedia {
  private(set) var peers: [PeerKey: PeerExplanation] = [:]
  /// Of the peers that were found.
  private(set) var owners: [PeerKey: TransportPlace] = [:]
  private var keyFrames: [TrackKey: Instant] = [:]
  /// By track: the last, of all workers that know of one.
  private(set) var requests: [TrackKey: KeyFrameRequest] = [:]

  init(_ answers: [WorkerExplanation?]) {
    for answer in answers.compactMap(\.self) {
      for peer in answer.peers { peers[peer.peer] = peer }
      for feed in answer.feeds { note(feed) }
    }
  }

  private mutating func note(_ feed: FeedExplanation) {
    if let keyFrame = feed.keyFrame {
      keyFrames[feed.track] = max(keyFrame, keyFrames[feed.track] ?? keyFrame)
    }
    guard let request = feed.request else { return }
    guard let known = requests[feed.track.track] else {
      requests[feed.track.track] = request
      return
    }
    // The worker where it came up knows more than the one that it was passed on to.
    let isVague = if case .worker = known.asker { true } else { false }
    let isBetter = if case .worker = request.asker { false } else { isVague || request.at > known.at }
    if isBetter { requests[feed.track.track] = request }
  }

  /// Finds whose these peers are, and those that asked for key frames.
  mutating func find(_ sought: some Sequence<PeerKey>, in members: [Member]) {
    var sought = Set(sought)
    for case .subscriber(let peer) in requests.values.lazy.map(\.asker) { sought.insert(peer) }
    for member in members.indices {
      for transport in members[member].transports.indices {
        guard let peer = members[member].transports[transport].peer, sought.contains(peer) else { continue }
        owners[peer] = TransportPlace(member, transport)
      }
    }
  }

  func keyFrame(_ track: TrackKey, _ encoding: UInt8) -> Instant? {
    keyFrames[TrackKey(peer: track.peer, index: track.index, encoding: encoding)]
  }
}
