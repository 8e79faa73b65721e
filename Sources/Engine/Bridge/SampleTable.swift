public import Model
internal import Peer
internal import Synchronization

/// How loud a track was, and that it flows.
public struct TrackLevel: BitwiseCopyable, Sendable {
  /// Decibels below overload, 0–127, the mean of a tenth of a second; nil where the packets don't say.
  public var attenuation: UInt8?
  /// At most a tenth of a second before the last packet that was forwarded.
  public var lastPacket: Instant

  public init(attenuation: UInt8?, lastPacket: Instant) {
    self.attenuation = attenuation
    self.lastPacket = lastPacket
  }
}

/// Samples on their way up: only the last one of each track and peer is kept. The tables are as large as tracks
/// and peers, and one lock held for a moment ten times a second is what a track pays.
final class SampleTable: Sendable {
  private let levels = Mutex<[TrackKey: TrackLevel]>([:])
  private let qualities = Mutex<[PeerKey: PeerQuality]>([:])

  // Arrays, because a dictionary shared with its reader would be copied by the next writer, a worker.
  var tracks: [(key: TrackKey, value: TrackLevel)] { levels.withLock { Array($0) } }
  var peers: [(key: PeerKey, value: PeerQuality)] { qualities.withLock { Array($0) } }

  func set(_ track: TrackKey, _ level: TrackLevel) { levels.withLock { $0[track] = level } }
  func set(_ peer: PeerKey, _ quality: PeerQuality) { qualities.withLock { $0[peer] = quality } }
  func remove(_ track: TrackKey) { levels.withLock { _ = $0.removeValue(forKey: track) } }
  func remove(_ peer: PeerKey) { qualities.withLock { _ = $0.removeValue(forKey: peer) } }
}
