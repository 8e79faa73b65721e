public import Model

/// A key frame of an encoding and all that came behind it, as far as it is kept: what a stream can begin with, so that its source
/// isn't asked for another.
///
///     source   K · · · · · · · | now        a second and a half
///     stream          K········|            drawn together, so that none of it is shown in its own time
public struct RecentPictures: BitwiseCopyable, Sendable {
  /// The key frame's first packet and the newest packet.
  public var first: Int64
  public var last: Int64
  public var encoding: UInt8
  /// Of all packets, with what UDP and IP add.
  public var bytes: Int
  /// Pictures, by their timestamps.
  public var frames: Int
  /// The key frame's timestamp, the newest picture's, and when that came.
  public var keyTimestamp: UInt32
  public var timestamp: UInt32
  public var arrival: Instant

  public init(
    first: Int64, last: Int64, encoding: UInt8, bytes: Int, frames: Int, keyTimestamp: UInt32,
    timestamp: UInt32, arrival: Instant
  ) {
    self.first = first
    self.last = last
    self.encoding = encoding
    self.bytes = bytes
    self.frames = frames
    self.keyTimestamp = keyTimestamp
    self.timestamp = timestamp
    self.arrival = arrival
  }

  /// At the target it takes at most so long, and less since what waits leaves faster.
  static let mostSeconds = 0.2
  /// Of a path that isn't reported on.
  static let unknownTarget = 3_000_000.0
  /// One that came longer ago would be shown long after its time, and what comes behind it be waited for.
  static let mostAge = Duration.milliseconds(200)
  /// Between two pictures, as far as there is room for it.
  static let distance = Duration.milliseconds(1)
  /// Two pictures of a source lie further apart than this many units; so none get the same timestamp.
  static let mostDrawn: UInt32 = 500
}
