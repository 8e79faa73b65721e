public import Congestion
public import Model

/// What one worker says to a `MediaQuestion`, as of one moment of each part of it.
public struct WorkerExplanation: Sendable {
  public var peers: [PeerExplanation] = []
  public var feeds: [FeedExplanation] = []
  /// Of the published tracks that were asked about, those whose publishers are here.
  public var layers: [TrackKey: TrackLayers] = [:]

  public init() {}

  mutating func add(_ other: WorkerExplanation) {
    peers += other.peers
    feeds += other.feeds
    layers.merge(other.layers) { _, new in new }
  }
}

/// What the path to one peer carries, and what its slots get of that. Rates are bits per second with UDP and IP.
public struct PeerExplanation: Sendable {
  public var peer: PeerKey
  /// Media can be sent to it.
  public var takesMedia = false
  /// What may be sent; nil where the peer doesn't report on what comes, so that nothing is withheld.
  public var target: Double?
  /// What arrives, by the peer's reports; nil before it is known.
  public var acknowledged: Double?
  /// Share of packets that are lost on the way to it, smoothed: 0–1.
  public var loss = 0.0
  public var roundTrip: Duration
  /// What its slots are given, and what everything that it wants would take.
  public var allotted = 0.0
  public var wanted = 0.0
  /// The target at which more would be shown; nil: nothing is withheld for want of rate.
  public var next: Double?
  /// The last probe for more; nil: there was none.
  public var probe: ProbeReport?
  /// Those that show a track.
  public var slots: [SlotExplanation] = []

  public init(peer: PeerKey, roundTrip: Duration) {
    self.peer = peer
    self.roundTrip = roundTrip
  }
}

/// What one slot gets of the track that it shows, and why.
public struct SlotExplanation: Sendable {
  public var slot: UInt16
  /// Without encoding.
  public var track: TrackKey
  /// How its subscriber shows it.
  public var picture = PicturePreference()
  /// Why it gets less than the best there is; nil: it gets that.
  public var reason: Allocation.Reason?
  /// The path would carry more by now, but carried too little a moment ago.
  public var isHeld = false
  /// Nothing leaves, for want of rate or because its subscriber wants nothing.
  public var isPaused = false
  /// It can't go on before a key frame comes.
  public var needsKeyFrame = false
  /// What leaves, of a picture; nil while nothing is known of the track's encodings.
  public var sent: LayerOption?
  /// The encoding that it goes on to with that one's next key frame.
  public var next: UInt8?
  /// The best that comes of the track; nil: nothing does.
  public var best: LayerOption?
  /// Encodings that were agreed on and don't come, although they are watched or could be.
  public var missingEncodings = 0
  /// Bits per second that leave, with the headers of RTP, UDP and IP; nil: not measured yet.
  public var bitrate: Double?
  /// By the subscriber's last report on the slot's stream: share that was lost since the one before, and the round trip.
  public var loss = 0.0
  public var roundTrip: Duration?

  public init(slot: UInt16, track: TrackKey) {
    self.slot = slot
    self.track = track
  }
}

/// What one worker knows of the key frames of one encoding of a track.
public struct FeedExplanation: Sendable {
  public var track: TrackKey
  /// When the last one came; nil: none came, or none since the track was muted or its source started over.
  public var keyFrame: Instant?
  /// The last request for one that came up on this worker.
  public var request: KeyFrameRequest?

  public init(track: TrackKey, keyFrame: Instant? = nil, request: KeyFrameRequest? = nil) {
    self.track = track
    self.keyFrame = keyFrame
    self.request = request
  }
}

/// A request for a key frame: when, and for whom.
public struct KeyFrameRequest: BitwiseCopyable, Equatable, Sendable {
  public enum Asker: BitwiseCopyable, Equatable, Sendable {
    /// The server itself, to switch encodings or to let a stream go on.
    case server
    /// A subscriber that can't go on without, or begins.
    case subscriber(PeerKey)
    /// One on another worker, which knows more.
    case worker(Int)
  }

  public var at: Instant
  public var asker: Asker

  public init(at: Instant, asker: Asker) {
    self.at = at
    self.asker = asker
  }
}
