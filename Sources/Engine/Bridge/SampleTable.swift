public import Model
internal import Peer
internal import Synchronization

/// How loud a track was, and that it flows.
public struct TrackLevel: BitwiseCopyable, Sendable {
  /// Decibels below overload, 0–127, of the loudest tenth of a second since the table was read; nil where the packets
  /// don't say.
  public var attenuation: UInt8?
  /// At most a tenth of a second before the last packet that was forwarded.
  public var lastPacket: Instant

  public init(attenuation: UInt8?, lastPacket: Instant) {
    self.attenuation = attenuation
    self.lastPacket = lastPacket
  }
}

/// Samples on their way up: of each peer only the last one is kept, of each track the loudest that hasn't been read yet,
/// so that a short word between two readings isn't missed. The tables are as large as tracks and peers, and one lock
/// taken for a moment ten times a second is what a track pays.
final class SampleTable: Sendable {
  private let levels = Mutex(LevelTable())
  private let qualities = Mutex<[PeerKey: PeerQuality]>([:])

  // Arrays, because a dictionary shared with its reader would be copied by the next writer, a worker.
  var tracks: [(key: TrackKey, value: TrackLevel)] { levels.withLock { $0.read() } }
  var peers: [(key: PeerKey, value: PeerQuality)] { qualities.withLock { Array($0) } }

  /// - Parameter place: negative at first, then where the track's sample stands until it is removed.
  func set(_ track: TrackKey, _ level: TrackLevel, place: inout Int32) {
    levels.withLock { $0.set(track, level, place: &place) }
  }
  func set(_ peer: PeerKey, _ quality: PeerQuality) { qualities.withLock { $0[peer] = quality } }
  func remove(_ track: TrackKey) { levels.withLock { $0.remove(track) } }
  func remove(_ peer: PeerKey) { qualities.withLock { _ = $0.removeValue(forKey: peer) } }
}

/// Levels by track in memory that a known place reaches without counting a reference: it is written between
/// packets.
private struct LevelTable: ~Copyable {
  private struct Entry: BitwiseCopyable {
    var level: TrackLevel
    var isRead = false
  }

  private var places: [TrackKey: Int32] = [:]
  private var free: [Int32] = []
  private var levels: UnsafeMutablePointer<Entry>
  private var capacity: Int32 = 16
  private var used: Int32 = 0

  init() { levels = .allocate(capacity: 16) }

  deinit { levels.deallocate() }

  mutating func read() -> [(key: TrackKey, value: TrackLevel)] {
    places.map { key, place in
      levels[Int(place)].isRead = true
      return (key: key, value: levels[Int(place)].level)
    }
  }

  mutating func set(_ track: TrackKey, _ level: TrackLevel, place: inout Int32) {
    if place < 0 {
      let known = places[track]
      place = known ?? take()
      places[track] = place
      if known == nil { levels[Int(place)] = Entry(level: level) }
    }
    let entry = levels[Int(place)]
    var level = level
    if !entry.isRead, let unread = entry.level.attenuation {
      level.attenuation = min(level.attenuation ?? unread, unread)
    }
    levels[Int(place)] = Entry(level: level)
  }

  mutating func remove(_ track: TrackKey) {
    if let place = places.removeValue(forKey: track) { free.append(place) }
  }

  private mutating func take() -> Int32 {
    if let place = free.popLast() { return place }
    if used == capacity {
      let larger = UnsafeMutablePointer<Entry>.allocate(capacity: Int(capacity) * 2)
      larger.initialize(from: levels, count: Int(used))
      levels.deallocate()
      levels = larger
      capacity *= 2
    }
    defer { used += 1 }
    return used
  }
}
