/// What recordings may take.
public struct RecordingLimits: Equatable, Sendable {
  /// At the same time, in all rooms.
  public var atOnce: Int
  /// The same, in one room.
  public var atOnceInRoom = 4
  /// Of one recording.
  public var bytes: Int
  /// That stay free on the disk; a recording that would take of them ends.
  public var free: Int
  /// Recordings that are kept, ended ones among them; beyond that none begins.
  public var kept: Int
  /// The same, of rooms of one name: so that no room uses up what there is for all.
  public var keptOfRoom: Int

  /// Tracks of one recording that run or have files, and how many of them may be one participant's; further ones are noted and not
  /// written.
  static let tracks = 1_000
  static let tracksOfOne = 250
  /// Tracks that are noted without a file, and how many of them may be one participant's.
  static let notes = 1_000
  static let notesOfOne = 100
  /// Files of one track: a source that begins again and again gets no more.
  static let filesOfTrack = 100
  /// Files beside the first of each track, and how many of them may be one participant's.
  static let furtherFiles = 6_000
  static let furtherFilesOfOne = 1_000
  /// Encodings of one room, and of one participant, that a worker is asked to record; it serves `SinkTable.limit` in all.
  static let encodingsOfRoom = 192
  static let encodingsOfOne = 64
  /// Files that a manifest names that a crash left without an entry.
  static let unlisted = 1_000
  /// Commands that wait for the recorder: further tracks aren't recorded.
  static let commands = 65_536
  /// Bytes of manifests that one answer has, as long as it has one.
  static let bytesOfPage = 4 * 1_024 * 1_024

  public init(
    atOnce: Int = 16, bytes: Int = 16 << 30, free: Int = 1 << 30, kept: Int = 10_000, keptOfRoom: Int? = nil
  ) {
    self.atOnce = atOnce
    self.bytes = bytes
    self.free = free
    self.kept = kept
    // A tenth; all where that would be very few.
    self.keptOfRoom = keptOfRoom ?? max(kept / 10, min(kept, 16))
  }
}
