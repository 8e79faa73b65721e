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
  public var picture = Picture()
  public var hasAudio = false
  /// Seconds that are measured, once everybody is in.
  public var duration = 10
  /// Participants that begin to join in a second.
  public var joinRate = 50.0
  /// Seconds after which a join has failed.
  public var joinTimeout = 10
  /// Sections of each kind for tracks of people in the room who are not of the load; what they send is counted apart.
  public var others = 0
  /// Milliseconds from one ping of a participant to its next; nil: as the server asks for them.
  public var pingMilliseconds: Int?
  public var feedback = Feedback()
  /// Where media goes, `address:port`; nil for the candidates of the server's answer.
  public var media: String?
  public var checksCertificate = true
  public var printsJSON = false
  public var isQuiet = false

  /// What rooms and participants are called.
  public struct Names: Equatable, Sendable {
    /// `load-1`, `load-2` and so on.
    public var room = "load"
    /// `load-0`, `load-1` and so on.
    public var identity = "load"
  }

  /// What each publisher's camera sends.
  public struct Picture: Equatable, Sendable {
    /// Bits a second of packets that are made up; 0 for none.
    public var bitrate = 0
    /// IVF files of VP8 that are played instead, as encodings of a simulcast, the largest first; at most three.
    public var files: [String] = []

    public var isSent: Bool { bitrate > 0 || !files.isEmpty }
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
  public var participantCount: Int { rooms * (publishers + subscribers) }

  /// Bounds of what one process is good for.
  static let participantLimit = 4_000
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

extension LoadOptions {
  public static let help = """
    roost-load puts synthetic participants into the rooms of a Roost server and counts what arrives. Each has a
    socket, ICE, DTLS and SRTP (libsrtp) of its own, joins over a WebSocket as a browser does, and compares
    every byte that it receives with what was sent.

    USAGE
      roost-load [--url ws://HOST:PORT] [--rooms N] [--publishers N] [--subscribers N] [--video RATE] [--audio]

    WHERE
      --url URL          ws:// or wss://, http:// or https:// (ws://127.0.0.1:7880)
      --key K            API key and secret that sign the tokens (devkey, secret); also by ROOST_LOAD_KEY and
      --secret S         ROOST_LOAD_SECRET, which other users of the machine can't see
      --insecure         accept any certificate, such as that of a server with --lan
      --media HOST:PORT  send media to this IP address and port instead of the server's candidates
      --room PREFIX      name rooms PREFIX-1 and so on (load)
      --identity PREFIX  name participants PREFIX-0 and so on (load); an identity is in a room once, so that two
                         processes with one room need two

    WHAT
      --rooms N          (1)
      --publishers N     in each room (1)
      --subscribers N    in each room (1)
      --mesh             publishers also receive each other
      --video RATE       of each publisher, in bits per second: 1.5M, 300k (no video)
      --video-files F,F  play VP8 of IVF files over and over, for people who watch: one to three, the layers of a
                         simulcast, the largest first; with --subscribers 0, as nothing in it can be counted
      --audio            Opus packets, 50 per second
                         without --video and --audio: both, 1.5M
      --others N         also receive N audio and N video tracks of other people in the room; their
                         packets are counted as foreign (0)
      --ping MS          time the WebSocket by a ping every MS milliseconds (every 20 s, as the server asks)
      --nack off         don't request lost packets (on); audio is never requested again, as in browsers
      --feedback on      tell the server when packets arrive, as browsers do: it estimates the path, probes it, and
                         leaves out video that doesn't fit (off: everything comes)

    HOW LONG
      --duration S       seconds to measure, once everyone has joined (10)
      --join-rate N      joins started per second (50)
      --join-timeout S   seconds after which a join has failed (10)
      --settle S         seconds between the last join and the first that is measured: with --feedback on the
                         server finds in them what each path carries (0)

    OUTPUT
      --json             print the results as one JSON object; progress goes to standard error
      --quiet            no progress

    Expected packets are counted at the publishers, times their subscribers, never from the sequence numbers
    that arrived. The exit status is 1 if a participant couldn't join, was disconnected or received what was
    never sent, and 2 if the command line is wrong.

    EXAMPLES
      roost-load --publishers 4 --subscribers 40 --video 1.5M --audio --duration 60
      roost-load --rooms 10 --publishers 3 --subscribers 0 --mesh --audio
    """

  /// - Parameters:
  ///   - words: the command line behind the program's name.
  ///   - environment: may hold key and secret.
  public init(_ words: [String], environment: [String: String] = [:]) throws(LoadUsageError) {
    self.init()
    if let key = environment["ROOST_LOAD_KEY"] { apiKey = key }
    if let secret = environment["ROOST_LOAD_SECRET"] { self.secret = secret }
    var words = words[...]
    while let word = words.popFirst() {
      switch word {
      case "--help", "-h": throw LoadUsageError(Self.help, isHelp: true)
      case "--mesh": isMesh = true
      case "--audio": hasAudio = true
      case "--insecure": checksCertificate = false
      case "--json": printsJSON = true
      case "--quiet": isQuiet = true
      default: try apply(word, &words)
      }
    }
    if !hasAudio && !picture.isSent {
      hasAudio = true
      picture.bitrate = 1_500_000
    }
    try check()
  }

  private mutating func apply(_ word: String, _ words: inout ArraySlice<String>) throws(LoadUsageError) {
    guard Self.known.contains(word) else {
      throw LoadUsageError("unknown option \(word); see roost-load --help")
    }
    guard let value = words.popFirst() else {
      throw LoadUsageError("\(word) needs a value; see roost-load --help")
    }
    switch word {
    case "--url": url = value
    case "--key": apiKey = value
    case "--secret": secret = value
    case "--room": names.room = value
    case "--identity": names.identity = value
    case "--media": media = value
    case "--rooms": rooms = try Self.number(word, value, 1...1_000)
    case "--publishers": publishers = try Self.number(word, value, 0...1_000)
    case "--subscribers": subscribers = try Self.number(word, value, 0...Self.participantLimit)
    case "--duration": duration = try Self.number(word, value, 1...3_600)
    case "--settle": feedback.settle = try Self.number(word, value, 0...60)
    case "--join-timeout": joinTimeout = try Self.number(word, value, 1...120)
    case "--join-rate": joinRate = Double(try Self.number(word, value, 1...10_000))
    case "--others": others = try Self.number(word, value, 0...32)
    case "--ping": pingMilliseconds = try Self.number(word, value, 10...60_000)
    case "--video": picture.bitrate = try Self.rate(word, value)
    case "--video-files":
      picture.files = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    default:
      guard value == "on" || value == "off" else {
        throw LoadUsageError("\(word) is on or off, not \(value)")
      }
      if word == "--nack" {
        feedback.asksForLost = value == "on"
      } else {
        feedback.tellsArrivals = value == "on"
      }
    }
  }

  private static let known: Set<String> = [
    "--url", "--key", "--secret", "--room", "--identity", "--media", "--rooms", "--publishers",
    "--subscribers",
    "--duration", "--settle", "--join-timeout", "--join-rate", "--video", "--nack", "--feedback", "--others",
    "--ping", "--video-files",
  ]

  private func check() throws(LoadUsageError) {
    guard participantCount > 0 else {
      throw LoadUsageError("nothing to do: no publishers and no subscribers")
    }
    guard participantCount <= Self.participantLimit else {
      throw LoadUsageError(
        "\(participantCount) participants; one process is good for \(Self.participantLimit), run several")
    }
    // The server fills no more slots of a kind.
    guard publishers <= Self.publisherLimit || (subscribers == 0 && !isMesh) else {
      throw LoadUsageError(
        "a subscriber has at most \(Self.publisherLimit) slots of a kind, so a room at most as many publishers"
      )
    }
    guard picture.files.count <= 3, !picture.files.contains("") else {
      throw LoadUsageError("--video-files takes one to three names, with commas between them")
    }
    guard picture.files.isEmpty || (subscribers == 0 && !isMesh && picture.bitrate == 0) else {
      throw LoadUsageError(
        "--video-files goes with --subscribers 0 and neither --mesh nor --video: what is in a file can't be counted"
      )
    }
    guard !names.room.isEmpty, names.room.utf8.count <= 100 else {
      throw LoadUsageError("--room must have 1 to 100 bytes")
    }
    guard !names.identity.isEmpty, names.identity.utf8.count <= 100 else {
      throw LoadUsageError("--identity must have 1 to 100 bytes")
    }
  }

  static let publisherLimit = 32

  private static func number(
    _ word: String, _ value: String, _ range: ClosedRange<Int>
  ) throws(LoadUsageError) -> Int {
    guard let number = Int(value), range.contains(number) else {
      throw LoadUsageError(
        "\(word) takes a number from \(range.lowerBound) to \(range.upperBound), not \(value)")
    }
    return number
  }

  /// `1.5M`, `300k`, `64000`.
  private static func rate(_ word: String, _ value: String) throws(LoadUsageError) -> Int {
    var text = value
    var factor = 1.0
    if let last = text.last, let unit = ["k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6][String(last)] {
      factor = unit
      text.removeLast()
    }
    guard let number = Double(text), number.isFinite, (30_000...50_000_000).contains(number * factor) else {
      throw LoadUsageError("\(word) takes bits a second from 30k to 50M, as 1.5M, not \(value)")
    }
    return Int(number * factor)
  }
}
