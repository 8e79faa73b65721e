internal import Media
public import Model
public import Peer

/// What the control plane tells the media plane. Each goes to its peer's home worker, which passes it on to the
/// worker that has adopted the peer; so commands to one peer arrive in the order in which they were given.
public enum Command: Sendable {
  case add(PeerSetup)
  /// What was agreed on anew; tracks and slots keep their numbers.
  case apply(PeerKey, AgreedMedia)
  case restartICE(PeerKey, local: ICECredentials, remote: ICECredentials)
  /// Feeds a slot from a track, or from none.
  case assign(PeerKey, slot: UInt16, TrackKey?)
  /// The publisher holds a track: it is forwarded to nobody until it is let go again.
  case mute(TrackKey, Bool)
  case close(PeerKey)

  var peer: PeerKey {
    switch self {
    case .add(let setup): setup.key
    case .mute(let track, _): track.peer
    case .apply(let key, _), .restartICE(let key, _, _), .assign(let key, _, _), .close(let key): key
    }
  }
}

/// What workers tell each other, apart from packets.
enum WorkerMessage: Sendable {
  case command(Command)
  case report(@Sendable (WorkerReport) -> Void)
  /// A check for a peer of yours came in here: adopt it to me if it is valid and nobody has it.
  case check(ufrag: UfragKey, datagram: [UInt8], path: NetworkPath, arrival: Instant, from: Int)
  /// Here is a peer whose datagrams come in at your socket.
  case moved(MovedPeer)
  /// A peer of mine claims this path, and may have proven it: if it is mine by that, hand its datagrams over. It has
  /// come from `former`, whose claim this replaces.
  case pathOwned(NetworkPath, by: Int, isProven: Bool, former: Int?)
  /// Nothing of mine is behind this path any more.
  case pathReleased(NetworkPath, by: Int)
  /// A peer that you are home to ended here.
  case released(PeerKey)
  /// My subscribers want, or no longer want, this track.
  case relayWanted(TrackKey, by: Int)
  case relayUnwanted(TrackKey, by: Int)
  case keyFrameWanted(TrackKey)
  case trackClock(TrackKey, ClockMapping, from: Int)
  /// The track is held. `life` counts how often its source had started over.
  case trackHeld(TrackKey, life: UInt8)
  case trackEnded(TrackKey)
}

/// A peer on its way to the worker that adopts it.
struct MovedPeer: Sendable {
  var key: PeerKey
  var state: [UInt8]
  var ufrags: [UfragKey]
  /// With the worker whose socket gets each.
  var paths: [ClaimedPath]
  /// Its tracks, each with the workers that get it, a bit each.
  var relays: [(TrackKey, UInt64)] = []
}

/// A user name fragment of ours as a dictionary key: its 15 bytes, without a String.
struct UfragKey: Hashable, Sendable {
  var high: UInt64
  var low: UInt64

  /// - Returns: nil for a fragment that isn't of our making.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 15 else { return nil }
    high = bytes.loadUnaligned(as: UInt64.self)
    low = 0
    for index in 8..<15 { low = low << 8 | UInt64(bytes[index]) }
  }

  init?(_ text: String) {
    let key = Array(text.utf8).withUnsafeBytes { UfragKey($0) }
    guard let key else { return nil }
    self = key
  }
}
