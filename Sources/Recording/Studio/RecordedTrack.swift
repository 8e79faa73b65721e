public import Model

/// A track that is to be recorded, as its room knows it.
public struct RecordedTrack: Equatable, Sendable {
  public var id: String
  public var kind: MediaKind
  /// As the protocol names it.
  public var source: String
  public var name: String?
  /// In the media plane of this process; nil where its packets come from elsewhere.
  public var key: TrackKey?
  /// That its publisher may send of it.
  public var encodings: Int
  public var isEncrypted: Bool
  public var publisher: RecordingManifest.Participant

  public init(
    id: String, kind: MediaKind, source: String, name: String?, key: TrackKey?, encodings: Int,
    isEncrypted: Bool, publisher: RecordingManifest.Participant
  ) {
    self.id = id
    self.kind = kind
    self.source = source
    self.name = name
    self.key = key
    self.encodings = encodings
    self.isEncrypted = isEncrypted
    self.publisher = publisher
  }

  var entry: RecordingManifest.Track {
    RecordingManifest.Track(
      track: id, participant: publisher.id, kind: kind == .audio ? "audio" : "video", source: source,
      name: name, state: .recording)
  }
}

/// What rooms have done.
public enum RecordingCommand: Equatable, Sendable {
  /// - Parameters:
  ///   - room: its name and its id.
  ///   - most: bytes of all files; nil: as many as any recording may have.
  case begin(id: String, room: (name: String, id: String), at: Instant, most: Int?)
  case add(RecordedTrack, to: String)
  /// Nothing more comes of a track.
  case end(track: String, of: String)
  case stop(String, RecordingEndReason)

  public static func == (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.begin(let a, let room, let at, let most), .begin(let b, let other, let then, let limit)):
      a == b && room == other && at == then && most == limit
    case (.add(let a, let to), .add(let b, let other)): a == b && to == other
    case (.end(let a, let of), .end(let b, let other)): a == b && of == other
    case (.stop(let a, let reason), .stop(let b, let other)): a == b && reason == other
    default: false
    }
  }
}

/// A recording that ended by itself.
public struct RecordingEnd: Equatable, Sendable {
  public var id: String
  public var room: String
  public var reason: RecordingEndReason
}
