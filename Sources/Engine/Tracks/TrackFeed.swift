internal import Media
internal import Model

/// One encoding of a track on one worker: where it comes from and who gets it. Most tracks have only one; the encodings of
/// a simulcast number their packets each for itself, and are tied together by `TrackGroup`.
///
/// Packets go forward from its source to its consumers; feedback, requests for key frames and for packets, goes the
/// other way, by one call for each kind whatever the consumer and whatever the source (`WorkerCore+Delivery`).
///
///     peer ──┐                 ┌──▶ slot of a peer
///            ├──▶ TrackFeed ───┼──▶ relay to a worker
///     relay ─┘    history      └──▶ sink
struct TrackFeed: ~Copyable {
  /// Where the packets come from.
  enum Source: Equatable, BitwiseCopyable {
    /// A peer of this worker, by its place.
    case peer(place: Int)
    /// Another worker, the one that the track was last heard from; before that the one that was asked for it.
    case relay(worker: Int)
  }

  /// Who gets the packets.
  enum Consumer: Hashable, BitwiseCopyable {
    case here(Listener)
    /// Another worker.
    case relay(worker: Int)
  }

  /// Who gets the packets from this worker, each by itself.
  enum Listener: Hashable, BitwiseCopyable {
    /// A slot of a peer of this worker, by the peer's place.
    case slot(place: Int, slot: Int)
    /// Something outside the workers, by its number in `SinkTable`.
    case sink(Int)
  }

  let key: TrackKey
  let kind: MediaKind
  /// Of all feeds that have had its index it alone has this number; set by the table.
  var serial: UInt32 = 0
  var source: Source
  var consumers = ConsumerList()
  var clock: ClockMapping?
  var meter = LevelMeter()
  /// Where its samples stand; negative before the first.
  var levelPlace: Int32 = -1
  var pace = FeedbackPace()
  /// Of audio that is published here: what other workers' consumers lose.
  var relayedLoss = RelayedLoss()
  var picture = PictureStart()
  /// What came in this turn.
  var fresh = FreshPackets.Chain()
  /// The last packets, once there is a consumer.
  private var history: PacketHistory?
  private var newest: Int64 = .min
  /// Packets that came, the bytes of them with UDP and IP, and frames that began.
  private(set) var packets: UInt64 = 0
  private(set) var bytes = LayerCounts()
  private(set) var frames: UInt64 = 0
  /// The last time that a key frame was asked for here; no state: it is for those who ask, and decides nothing.
  var lastRequest: KeyFrameRequest?
  /// When a consumer of another worker was last said to watch it. No state: it is said again.
  var watchedElsewhere: Instant?
  /// What the publisher's worker was last sent. Not part of the saved state: one more look restores it.
  var watchWord = WatchWord()
  /// The asker of a request that no key frame has answered yet; a repeated request keeps it.
  var awaitedBy: KeyFrameRequest.Asker? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.repeatedForServer) { return nil }
    #endif
    guard let lastRequest, picture.keyFrameAt < lastRequest.at else { return nil }
    return lastRequest.asker
  }

  init(key: TrackKey, kind: MediaKind, source: Source) {
    self.key = key
    self.kind = kind
    self.source = source
  }

  /// It is said so often that it is watched.
  static let watchPace = Duration.milliseconds(500)
  /// And is believed for so long: of four words three may be lost.
  private static let watchBelief = Duration.seconds(2)

  /// Whether a consumer of another worker watches it. One that has just come, or whose word hasn't come here yet, does.
  mutating func isWatchedElsewhere(now: Instant) -> Bool {
    guard consumers.relays != 0 else {
      watchedElsewhere = nil
      return false
    }
    guard let last = watchedElsewhere else {
      watchedElsewhere = now
      return true
    }
    return now - last < Self.watchBelief
  }

  /// The publisher's place; nil where the track is relayed.
  @inline(__always)
  var publisher: Int? {
    if case .peer(let place) = source { place } else { nil }
  }

  /// Notes a packet and, once it has a consumer here, keeps it.
  @inline(__always)
  mutating func keep(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo) {
    packets &+= 1
    bytes.note(packet.count, info.layer, startsFrame: info.flags.contains(.frameStart))
    if info.flags.contains(.frameStart) { frames &+= 1 }
    picture.note(info)
    if history != nil { restore(packet, info) }
  }

  /// As much came in this turn as may wait: less than half of what the history keeps.
  @inline(__always)
  var hasMuchFresh: Bool { fresh.bytes > (kind == .video ? 256 * 1_024 : 12 * 1_024) }

  /// A packet that is still kept.
  /// - Parameter sequence: the source's, in the layer's numbering.
  func find(_ sequence: Int64) -> (packet: UnsafeRawBufferPointer, info: PacketInfo)? {
    switch history {
    case .some(let kept): return kept.find(sequence)
    case .none: return nil
    }
  }

  /// Everything that is kept, the oldest first.
  func forEachKept(_ body: (UnsafeRawBufferPointer, PacketInfo) -> Void) {
    guard newest != .min else { return }
    for back in (0..<Int64(Self.mostKept)).reversed() {
      if let kept = find(newest &- back) { body(kept.packet, kept.info) }
    }
  }

  /// Packets of a history at most.
  static let mostKept = 1_024

  /// Takes a packet that was kept before.
  @inline(__always)
  mutating func restore(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo) {
    newest = max(newest, info.extendedSequence)
    history?.store(packet, info, sequence: info.extendedSequence)
  }

  /// Keeps packets from now on: as soon as there is a consumer, whether or not it may ask for packets again.
  mutating func keepHistory() {
    guard history == nil else { return }
    let packets = kind == .video ? Self.mostKept : 128
    history = PacketHistory(packets: packets, bytes: Self.keptBytes(kind))
  }

  /// Video: over a second at 6 Mbit/s. Audio is asked for within a jitter buffer's length or never.
  private static func keptBytes(_ kind: MediaKind) -> Int { kind == .video ? 1_024 * 1_024 : 32 * 1_024 }

  var historyBytes: Int { history == nil ? 0 : Self.keptBytes(kind) }

  /// The last key frame with all that followed it, for a stream that may begin there; nil where a packet of it is missing, it
  /// is too much, or its pictures aren't in the order of their timestamps.
  func sinceKeyFrame() -> RecentPictures? {
    guard history != nil, let numbers = picture.range else { return nil }
    var found: RecentPictures?
    for sequence in numbers {
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.pastIncomplete), find(sequence) == nil { continue }
      #endif
      guard let kept = find(sequence) else { return nil }
      var recent =
        found
        ?? RecentPictures(
          first: numbers.lowerBound, last: numbers.upperBound, encoding: key.encoding, bytes: 0, frames: 0,
          keyTimestamp: kept.info.timestamp, timestamp: kept.info.timestamp, arrival: kept.info.arrival)
      let step = Int32(bitPattern: kept.info.timestamp &- recent.timestamp)
      recent.bytes += kept.packet.count + LayerCounts.overhead
      if step != 0 || recent.frames == 0 { recent.frames += 1 }
      guard step >= 0, recent.bytes <= PictureStart.mostBytes, recent.frames <= PictureStart.mostFrames else {
        return nil
      }
      recent.timestamp = kept.info.timestamp
      recent.arrival = kept.info.arrival
      found = recent
    }
    return found
  }
}

/// What the worker that has the publisher has heard of those who watch a feed here.
struct WatchWord: BitwiseCopyable {
  /// When it last heard that one does; nil: not since one began to.
  var said: Instant?
  /// One did at the last look.
  var isLookedAt = false
}
