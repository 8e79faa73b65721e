public import AccessTokens

/// What of a room is recorded: of all tracks that are there and that come later those that it names.
public struct RecordingScope: Equatable, Sendable {
  /// Tracks that may be named.
  public static let trackLimit = 256

  /// Ids of tracks that are there; nil: all, also those that come later.
  public var tracks: Set<String>?
  /// nil: of any source.
  public var sources: Set<TrackSource>?
  /// Bytes of all files; nil: as many as any recording may have.
  public var maxBytes: Int?

  public init(tracks: Set<String>? = nil, sources: Set<TrackSource>? = nil, maxBytes: Int? = nil) {
    self.tracks = tracks
    self.sources = sources
    self.maxBytes = maxBytes
  }

  func takes(_ track: TrackInfo) -> Bool {
    (tracks?.contains(track.id.text) ?? true) && (sources?.contains(track.source) ?? true)
  }
}

/// A recording of a room, as long as it runs.
struct RoomRecording: Equatable, Sendable {
  /// Of one room at the same time.
  static let limit = 4

  let id: RecordingID
  let scope: RecordingScope
}
