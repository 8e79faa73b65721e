internal import Media
internal import Model

/// One track on one worker: where it comes from and who gets it. Its source is a peer of this worker or a relay
/// from another; its consumers are slots of peers here, other workers, and sinks.
struct Fanout: ~Copyable {
  struct Consumer: BitwiseCopyable {
    var peer: Int32
    var slot: Int32
  }

  let key: TrackKey
  let kind: MediaKind
  /// The publisher's place here, -1 when the track is relayed to this worker.
  var publisher = -1
  /// Where a relayed track was last heard from; its home before that.
  var sourceWorker: Int
  private var consumers: UnsafeMutablePointer<Consumer>
  private var capacity = 4
  private(set) var consumerCount = 0
  /// Workers that the track is relayed to, a bit each.
  var relays: UInt64 = 0
  var clock: ClockMapping?
  var meter = LevelMeter()
  /// Where its samples stand; negative before the first.
  var levelPlace: Int32 = -1
  private var history: PacketHistory?
  /// The last key frame's first packet, `.min` where none may be shown, and the highest number that came.
  private var keyFrame: Int64 = .min
  private var keyFrameAt = Instant(nanoseconds: .min / 2)
  private var newest: Int64 = .min
  /// How often the source had started over, as of the newest packet, and the life of it that is not shown again.
  private var restart: UInt8 = 0
  private var heldRestart: UInt8?
  private var lastWish = Instant(nanoseconds: .min / 2)
  private var lastCrossing = Instant(nanoseconds: .min / 2)
  private var clockWindow = Instant(nanoseconds: .min / 2)
  private var clocksTold = 0
  /// Packets that came, for whom it may concern.
  var packets: UInt64 = 0

  init(key: TrackKey, kind: MediaKind) {
    self.key = key
    self.kind = kind
    sourceWorker = key.peer.home
    consumers = .allocate(capacity: 4)
  }

  deinit { consumers.deallocate() }

  @inline(__always)
  func consumer(_ index: Int) -> Consumer { consumers[index] }

  /// The longest that a key frame is sent again with all behind it; a publisher that was asked for one may be asked
  /// anew after it.
  static let replayTime = KeyFrameRequester.interval
  static let replayPackets: Int64 = 512

  /// Keeps packets from now on if the consumer may ask again, or may come to a picture that has begun.
  mutating func add(peer: Int, slot: Int, keepsHistory: Bool) {
    for index in 0..<consumerCount
    where consumers[index].peer == Int32(peer) && consumers[index].slot == Int32(slot) { return }
    if consumerCount == capacity {
      let grown = UnsafeMutablePointer<Consumer>.allocate(capacity: capacity * 2)
      grown.update(from: consumers, count: consumerCount)
      consumers.deallocate()
      consumers = grown
      capacity *= 2
    }
    consumers[consumerCount] = Consumer(peer: Int32(peer), slot: Int32(slot))
    consumerCount += 1
    if keepsHistory || kind == .video { keepHistory() }
  }

  /// Keeps packets from now on.
  mutating func keepHistory() {
    guard history == nil else { return }
    // Video: over a second at 6 Mbit/s. Audio is asked for within a jitter buffer's length or never.
    history =
      kind == .video
      ? PacketHistory(packets: 1_024, bytes: 1_024 * 1_024) : PacketHistory(packets: 128, bytes: 32 * 1_024)
  }

  mutating func remove(peer: Int, slot: Int) {
    for index in 0..<consumerCount
    where consumers[index].peer == Int32(peer) && consumers[index].slot == Int32(slot) {
      // The order of consumers is the order in which they are served: the rest moves up.
      for next in index..<consumerCount - 1 { consumers[next] = consumers[next + 1] }
      consumerCount -= 1
      return
    }
  }

  /// Bounds the wishes that packets in want of a key frame bring about: they cross to the source's worker.
  mutating func mayWish(at moment: Instant) -> Bool {
    guard moment.nanoseconds &- lastWish.nanoseconds >= 100_000_000 else { return false }
    lastWish = moment
    return true
  }

  /// Bounds the wishes that cross to the source's worker, whoever has them: a subscriber may ask as often as it likes.
  /// One that is left out is made again by the next packet that its subscriber can't take.
  mutating func mayCross(at moment: Instant) -> Bool {
    guard moment.nanoseconds &- lastCrossing.nanoseconds >= 100_000_000 else { return false }
    lastCrossing = moment
    return true
  }

  /// Bounds what a publisher's reports make cross to other workers; 32 tracks of one clock tell it so often.
  mutating func mayTellClock(at moment: Instant) -> Bool {
    if moment.nanoseconds &- clockWindow.nanoseconds >= 1_000_000_000 {
      clockWindow = moment
      clocksTold = 0
    }
    clocksTold += 1
    return clocksTold <= 64
  }

  @inline(__always)
  mutating func keep(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo) {
    packets &+= 1
    if info.extendedSequence > newest {
      newest = info.extendedSequence
      if info.restart != restart { startOver(info.restart) }
    }
    if info.flags.contains(.keyFrame) && info.extendedSequence > keyFrame && info.restart == restart {
      keyFrame = info.extendedSequence
      keyFrameAt = info.arrival
    }
    if history != nil { history!.store(packet, info, sequence: info.extendedSequence) }
  }

  /// What came before belongs to another life of the source: nobody's picture begins there any more.
  @inline(never)
  private mutating func startOver(_ life: UInt8) {
    restart = life
    if heldRestart != life { heldRestart = nil }
    keyFrame = .min
  }

  /// The track is held: whoever comes from now on sees nothing of what it showed before.
  /// - Parameter life: of the source that was held; its packets may still be on their way here.
  mutating func hold(_ life: UInt8) {
    heldRestart = life
    keyFrame = .min
  }

  /// The numbers from the last key frame on, if it is fresh and they are few enough to be sent at once.
  func sinceKeyFrame(now: Instant) -> ClosedRange<Int64>? {
    guard history != nil, restart != heldRestart, keyFrame != .min, keyFrame <= newest,
      now - keyFrameAt < Self.replayTime,
      newest &- keyFrame < Self.replayPackets
    else { return nil }
    return keyFrame...newest
  }

  func find(_ sequence: Int64) -> (packet: UnsafeRawBufferPointer, info: PacketInfo)? {
    switch history {
    case .some(let kept): kept.find(sequence)
    case .none: nil
    }
  }
}

/// The fan-outs of one worker.
struct FanoutTable: ~Copyable {
  private var base: UnsafeMutablePointer<Fanout>
  private var capacity = 16
  private var used: [Bool] = Array(repeating: false, count: 16)
  private var free: [Int32] = (0..<16).reversed()
  private var indices: [TrackKey: Int] = [:]

  init() { base = .allocate(capacity: 16) }

  deinit {
    for index in 0..<capacity where used[index] { (base + index).deinitialize(count: 1) }
    base.deallocate()
  }

  var count: Int { indices.count }
  /// Tracks of that kind whose publisher is here; a walk.
  func publishedCount(_ kind: MediaKind) -> Int {
    indices.values.count { base[$0].kind == kind && base[$0].publisher >= 0 }
  }
  /// Of all tracks; a walk.
  var consumerCount: Int { indices.values.reduce(0) { $0 + base[$1].consumerCount } }
  func find(_ key: TrackKey) -> Int? { indices[key] }
  /// Of all tracks of a peer; a walk.
  func indices(of peer: PeerKey) -> [Int] { indices.filter { $0.key.peer == peer }.map(\.value).sorted() }

  @inline(__always)
  func pointer(_ index: Int) -> UnsafeMutablePointer<Fanout> { base + index }

  /// Indices stay; pointers don't outlive this call.
  mutating func insert(_ fanout: consuming Fanout) -> Int {
    if free.isEmpty { grow() }
    let index = Int(free.removeLast())
    indices[fanout.key] = index
    used[index] = true
    (base + index).initialize(to: fanout)
    return index
  }

  mutating func remove(_ index: Int) {
    guard used[index] else { return }
    indices[base[index].key] = nil
    (base + index).deinitialize(count: 1)
    used[index] = false
    free.append(Int32(index))
  }

  private mutating func grow() {
    let grown = UnsafeMutablePointer<Fanout>.allocate(capacity: capacity * 2)
    // Full: every place is used.
    grown.moveInitialize(from: base, count: capacity)
    base.deallocate()
    base = grown
    free = (Int32(capacity)..<Int32(capacity * 2)).reversed()
    used += Array(repeating: false, count: capacity)
    capacity *= 2
  }
}
