internal import Media
internal import Model

/// One track on one worker: where it comes from and who gets it.
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

  /// The spatial layer that every slot shows, as long as none chooses among layers: publishers send one encoding.
  static let shownLayer: UInt8 = 0

  let key: TrackKey
  let kind: MediaKind
  var source: Source
  var consumers = ConsumerList()
  var clock: ClockMapping?
  var meter = LevelMeter()
  /// Where its samples stand; negative before the first.
  var levelPlace: Int32 = -1
  var pace = FeedbackPace()
  var picture = PictureStart()
  /// What came in this turn.
  var fresh = FreshPackets.Chain()
  private var layers: LayerHistories
  /// Packets that came.
  private(set) var packets: UInt64 = 0

  init(key: TrackKey, kind: MediaKind, source: Source) {
    self.key = key
    self.kind = kind
    self.source = source
    layers = LayerHistories(kind)
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
    picture.note(info)
    if layers.isKept { layers.store(packet, info) }
  }

  /// As much came in this turn as may wait: less than half of what the history keeps.
  @inline(__always)
  var hasMuchFresh: Bool { fresh.bytes > (kind == .video ? 256 * 1_024 : 12 * 1_024) }

  /// A packet that is still kept.
  /// - Parameter sequence: the source's, in the layer's numbering.
  func find(_ sequence: Int64, layer: UInt8) -> (packet: UnsafeRawBufferPointer, info: PacketInfo)? {
    layers.find(sequence, layer: layer)
  }

  /// Everything that is kept, the oldest first.
  func forEachKept(_ body: (UnsafeRawBufferPointer, PacketInfo) -> Void) { layers.forEach(body) }

  /// Takes a packet that was kept before.
  mutating func restore(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo) { layers.store(packet, info) }

  /// Keeps packets from now on: as soon as there is a consumer, whether or not it may ask for packets again.
  mutating func keepHistory() { layers.isKept = true }

  /// The numbers from the last key frame on, for who may begin there.
  func sinceKeyFrame(now: Instant) -> ClosedRange<Int64>? { layers.isKept ? picture.range(now: now) : nil }
}
