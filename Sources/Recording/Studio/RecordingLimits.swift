/// What recordings may take.
public struct RecordingLimits: Equatable, Sendable {
  /// At the same time, in all rooms.
  public var atOnce: Int
  /// Of one recording.
  public var bytes: Int
  /// That stay free on the disk; a recording that would take of them ends.
  public var free: Int
  /// Recordings that are kept, ended ones among them; beyond that none begins.
  public var kept: Int

  /// Tracks of one recording; further ones are noted and not written.
  static let tracks = 1_000
  /// Files of one track: a source that begins again and again gets no more.
  static let filesOfTrack = 100

  public init(atOnce: Int = 16, bytes: Int = 16 << 30, free: Int = 1 << 30, kept: Int = 10_000) {
    self.atOnce = atOnce
    self.bytes = bytes
    self.free = free
    self.kept = kept
  }
}
