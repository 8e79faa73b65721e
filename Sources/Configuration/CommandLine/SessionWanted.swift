/// Where a command joins a room, and as whom.
public struct SessionWanted: Equatable, Sendable {
  public var room: String
  /// nil: as a token says, or as one that is made up.
  public var identity: String?
  /// The address and the port that media goes to instead of those that the server says.
  public var media: MediaPlace?

  public struct MediaPlace: Equatable, Sendable {
    public var address: String
    public var port: Int

    public init(address: String, port: Int) {
      self.address = address
      self.port = port
    }
  }

  public init(room: String) { self.room = room }
}

/// What is published, and where.
public struct PublishWanted: Equatable, Sendable {
  /// The file's path; `-` is standard input.
  public var file: String
  public var session: SessionWanted
  /// Whether it begins over at its end.
  public var loops = false

  public init(file: String, _ session: SessionWanted) {
    self.file = file
    self.session = session
  }
}

/// What is recorded, and where to.
public struct RecordWanted: Equatable, Sendable {
  public var session: SessionWanted
  /// The folder; nil: one that is called as the recording's id, in the present one.
  public var folder: String?
  /// Whose tracks, by identity or id; nil: everybody's.
  public var participant: String?
  /// nil: until it is interrupted, or the room is over.
  public var seconds: Int?
  /// WebM and Matroska rather than IVF and Ogg.
  public var isWebM = false

  public init(_ session: SessionWanted) { self.session = session }
}
