internal import Engine
internal import Media
internal import Model

/// The packets of one encoding, for all recordings that it is in: a worker has one sink for them. It belongs to one thread.
final class SharedSink {
  struct Packet {
    var bytes: [UInt8]
    var info: PacketInfo
    var clock: ClockMapping?
  }

  /// How long it is until a sink that ended, while its track goes on, is asked for again: a worker may have had no room for it, or not
  /// have heard of the track yet.
  private static let again = Duration.seconds(1)
  /// Of sound much less comes in the time in which rings are emptied.
  private static let ringSize: (video: Int, audio: Int) = (1 << 20, 1 << 17)

  let key: TrackKey
  let room: String
  /// Of what a worker may be asked for.
  var hasShare = false
  private let kind: MediaKind
  private let bridge: Bridge
  private var sink: TrackSink?
  private var askedAt: Instant?
  /// Nothing comes, because the worker has no room for it.
  private(set) var isRefused = false
  /// What some readers have taken and others have yet to: with one reader nothing is kept.
  private var kept: [Packet] = []
  /// The number of the first of them, and by reader the number that it takes next.
  private var first = 0
  private var places: [Int: Int] = [:]
  private var readers = 0

  init(_ key: TrackKey, kind: MediaKind, room: String, bridge: Bridge) {
    self.key = key
    self.room = room
    self.kind = kind
    self.bridge = bridge
  }

  var worker: Int { min(key.peer.home, bridge.workerCount - 1) }

  var isUnused: Bool { places.isEmpty }

  // MARK: - Readers

  /// - Returns: the number of one that takes what comes from now on.
  func join() -> Int {
    // What came before is for the others.
    keepAll()
    defer { readers += 1 }
    places[readers] = first + kept.count
    return readers
  }

  /// - Returns: what it has yet to take; nothing more is to come.
  func leave(_ reader: Int) -> [Packet] {
    keepAll()
    guard let place = places.removeValue(forKey: reader) else { return [] }
    let rest = Array(kept[(place - first)...])
    forget()
    if places.isEmpty, let sink { bridge.remove(sink, at: worker) }
    return rest
  }

  func take(_ reader: Int, _ body: (UnsafeRawBufferPointer, PacketInfo, ClockMapping?) -> Void) {
    guard let place = places[reader] else { return }
    if places.count > 1 { keepAll() }
    for packet in kept[(place - first)...] {
      packet.bytes.withUnsafeBytes { body($0, packet.info, packet.clock) }
    }
    places[reader] = first + kept.count
    forget()
    guard places.count == 1, let sink else { return }
    let clock = sink.clock
    sink.take { body($0, $1, clock) }
  }

  private func keepAll() {
    guard let sink, !places.isEmpty else { return }
    let clock = sink.clock
    sink.take { kept.append(Packet(bytes: Array($0), info: $1, clock: clock)) }
  }

  /// What all have taken.
  private func forget() {
    let next = places.values.min() ?? first + kept.count
    kept.removeFirst(next - first)
    first = next
  }

  // MARK: - The worker

  /// It isn't asked for.
  /// - Returns: whether that is new.
  func refuse() -> Bool {
    defer { isRefused = true }
    return !isRefused
  }

  /// Has packets come, also where they came before and ended.
  /// - Returns: whether it has been refused since the last time.
  func listen(now: Instant) -> Bool {
    let isDue = askedAt.map { now - $0 >= Self.again } ?? true
    let wasRefused = isRefused
    if let sink {
      guard sink.isEnded else {
        // It was asked for long enough ago to be refused.
        if isDue { isRefused = false }
        return false
      }
      isRefused = sink.isRefused
    } else {
      isRefused = false
    }
    defer { if isDue { ask(now: now) } }
    return isRefused && !wasRefused
  }

  private func ask(now: Instant) {
    askedAt = now
    // What a sink that ended has left is taken first: it is replaced.
    keepAll()
    // It isn't woken: rings are emptied many times before they are full.
    let new = TrackSink(key, ringSize: kind == .video ? Self.ringSize.video : Self.ringSize.audio, wake: {})
    sink = new
    bridge.add(new, kind: kind, at: worker)
  }

  func requestKeyFrame() { if let sink { bridge.ask(.keyFrame, for: sink, at: worker) } }
}

/// The sinks of all recordings. Of what a worker serves no room and no participant takes everything: what is above its share isn't asked
/// for until it has given another one back.
final class SharedSinks {
  private struct Part: Hashable {
    var worker: Int
    var room: String
  }

  private let bridge: Bridge
  private var sinks: [TrackKey: SharedSink] = [:]
  private var rooms = ShareCount<Part>()
  private var publishers = ShareCount<PeerKey>()
  /// How often a worker had no room for one, or its room or publisher no share.
  private(set) var refused: UInt64 = 0

  init(_ bridge: Bridge) { self.bridge = bridge }

  func join(_ key: TrackKey, _ kind: MediaKind, of room: String) -> (SharedSink, reader: Int) {
    let sink = sinks[key] ?? SharedSink(key, kind: kind, room: room, bridge: bridge)
    sinks[key] = sink
    return (sink, sink.join())
  }

  func leave(_ sink: SharedSink, _ reader: Int) -> [SharedSink.Packet] {
    defer {
      if sink.isUnused {
        sinks[sink.key] = nil
        giveShareBack(sink)
      }
    }
    return sink.leave(reader)
  }

  func listen(_ sink: SharedSink, now: Instant) {
    let isRefused = takeShare(sink) ? sink.listen(now: now) : sink.refuse()
    if isRefused { refused &+= 1 }
  }

  private func takeShare(_ sink: SharedSink) -> Bool {
    if sink.hasShare { return true }
    let (part, limits) = (Part(worker: sink.worker, room: sink.room), RecordingLimits.self)
    guard publishers.take(sink.key.peer, most: .max, share: limits.encodingsOfOne) else { return false }
    guard rooms.take(part, most: .max, share: limits.encodingsOfRoom) else {
      publishers.giveBack(sink.key.peer)
      return false
    }
    sink.hasShare = true
    return true
  }

  private func giveShareBack(_ sink: SharedSink) {
    guard sink.hasShare else { return }
    sink.hasShare = false
    publishers.giveBack(sink.key.peer)
    rooms.giveBack(Part(worker: sink.worker, room: sink.room))
  }
}
