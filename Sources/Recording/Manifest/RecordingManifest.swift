public import Model

/// What a recording is and has, as it is written beside its files and as REST shows it. Times are RFC 3339 on the server's time
/// line, spans are seconds.
public struct RecordingManifest: Codable, Equatable, Sendable {
  public enum State: String, Codable, Sendable {
    case active
    case ended
  }

  public var id: String
  public var room: String
  public var roomId: String
  public var state: State
  /// Once it has ended.
  public var reason: RecordingEndReason?
  public var startedAt: String
  public var endedAt: String?
  /// Of all its files; as of the last second while it runs.
  public var bytes: Int
  /// Who published what is recorded.
  public var participants: [Participant] = []
  public var tracks: [Track] = []
  /// Names of files of which nothing more is known, since the server failed before they were listed; nil: there are none.
  public var unlisted: [String]?

  public struct Participant: Codable, Equatable, Sendable {
    public var id: String
    public var identity: String
    public var name: String?

    public init(id: String, identity: String, name: String?) {
      self.id = id
      self.identity = identity
      self.name = name
    }
  }

  public struct Track: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable {
      case recording
      case ended
      /// Nothing of it is written.
      case skipped
    }

    public var track: String
    /// The publisher's id.
    public var participant: String
    public var kind: String
    public var source: String
    public var name: String?
    public var state: State
    /// Why it is skipped, or nothing of it comes for now.
    public var reason: SkipReason?
    public var packetsLost: Int = 0
    /// Of which a part came, or which nothing could be made of without what was lost.
    public var framesLost: Int = 0
    /// From one encoding to another.
    public var switches: Int = 0
    public var files: [File] = []
  }

  public enum SkipReason: String, Codable, Sendable, CaseIterable {
    /// Its frames are encrypted end to end.
    case encrypted
    /// The recording has as many tracks or files as it may, or as many of this participant.
    case limit
    /// The worker serves as many recorded encodings as it may. It is asked again.
    case busy
  }

  public struct File: Codable, Equatable, Sendable {
    /// In the manifest's directory.
    public var name: String
    public var codec: String
    /// From the recording's beginning to where the file's own times begin.
    public var start: Double
    /// Once it has ended.
    public var duration: Double?
    /// As of the last second while it grows.
    public var bytes: Int
    /// Once it has ended.
    public var frames: Int?
    /// Of the first picture.
    public var width: Int?
    public var height: Int?
    /// Of sound, that stands in for what didn't come.
    public var filled: Double?
    public var clock: ClockPoint?
  }

  /// Where a source's timestamps stood as a file began.
  public struct ClockPoint: Codable, Equatable, Sendable {
    public var timestamp: UInt32
    public var time: String
    /// Hertz, as the codec says and as it was measured.
    public var rate: Int
    public var measuredRate: Int
    /// Whether the source's own reports say so.
    public var reported: Bool
  }

  public init(
    id: String, room: String, roomId: String, state: State = .active, reason: RecordingEndReason? = nil,
    startedAt: String, endedAt: String? = nil, bytes: Int = 0
  ) {
    self.id = id
    self.room = room
    self.roomId = roomId
    self.state = state
    self.reason = reason
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.bytes = bytes
  }
}
