/// What `roost-load` was asked for.
public struct LoadOptions: Equatable, Sendable {
  public var url = "ws://127.0.0.1:7880"
  public var apiKey = "devkey"
  public var secret = "secret"
  public var names = Names()
  public var rooms = 1
  /// In each room.
  public var publishers = 1
  public var subscribers = 1
  /// Publishers receive each other, too.
  public var isMesh = false
  public var picture = Video()
  public var hasAudio = false
  /// Seconds that are measured, once everybody is in.
  public var duration = 10
  public var joining = Joining()
  /// Sections of each kind for tracks of people in the room who are not of the load; what they send is counted apart.
  public var others = 0
  /// Milliseconds from one ping of a participant to its next; nil: as the server asks for them.
  public var pingMilliseconds: Int?
  public var feedback = Feedback()
  /// Where media goes, `address:port`; nil for the candidates of the server's answer.
  public var media: String?
  public var checksCertificate = true
  /// Raises the load step by step, each measured for `duration`; nil: one load.
  public var ramp: Ramp?
  /// People call each other; nil: participants join rooms.
  public var calls: CallPlan?
  public var output = Output()

  /// What rooms and participants are called.
  public struct Names: Equatable, Sendable {
    /// `load-1`, `load-2` and so on.
    public var room = "load"
    /// `load-0`, `load-1` and so on.
    public var identity = "load"
  }

  /// What each publisher's camera sends.
  public struct Video: Equatable, Sendable {
    /// Bits a second of packets that are made up; 0 for none.
    public var bitrate = 0
    /// IVF files of VP8 that are played instead, as encodings of a simulcast, the largest first; at most three.
    public var files: [String] = []

    /// Moving pictures and tones are encoded, and decoded where they arrive.
    public var isReal = false
    /// In how many encodings of a simulcast packets that are made up are sent: 1–3.
    public var encodings = 1

    public var isSent: Bool { bitrate > 0 || !files.isEmpty || isReal }
  }

  /// How participants come.
  public struct Joining: Equatable, Sendable {
    /// Participants that begin to join in a second.
    public var rate = 50.0
    /// Seconds after which a join has failed.
    public var timeout = 10
    /// Publishers come by WHIP (RFC 9725), subscribers by WHEP, instead of the native door.
    public var publishesByWHIP = false
    public var subscribesByWHEP = false

    var isNative: Bool { !publishesByWHIP && !subscribesByWHEP }
  }

  /// What comes of the run.
  public struct Output: Equatable, Sendable {
    public var printsJSON = false
    public var isQuiet = false
    /// The SVG file for delay and loss over time; nil: none.
    public var chart: String?
  }

  /// What the server hears of what arrives.
  public struct Feedback: Equatable, Sendable {
    /// Whether lost packets are asked for.
    public var asksForLost = true
    /// Whether the server hears when each packet arrived, and keeps to what the path carries.
    public var tellsArrivals = false
    /// Seconds from when everyone has joined until measuring begins, in which the server finds what each path carries: 0–60.
    public var settle = 0
    /// How long an arrival waits at most; nil: as browsers have it.
    public var interval: Duration?
  }

  public init() {}

  /// Those of one publisher's tracks.
  public var tracksOfPublisher: Int { (hasAudio ? 1 : 0) + (picture.isSent ? 1 : 0) }
  /// What is counted.
  var unit: String { picture.isReal || picture.encodings > 1 ? "pictures" : "packets" }
  public var participantCount: Int { rooms * (publishers + subscribers) }

  /// Bounds of what one process is good for.
  public static let participantLimit = 4_000
  /// A synthetic frame is cut into packets of this many bytes at most.
  static let packetBytes = 1_100
  static let framesPerSecond = 30
}

/// A command line that can't be followed.
public struct LoadUsageError: Error, CustomStringConvertible, Equatable {
  public let description: String
  /// Help was asked for.
  public let isHelp: Bool

  init(_ description: String, isHelp: Bool = false) {
    self.description = description
    self.isHelp = isHelp
  }
}
