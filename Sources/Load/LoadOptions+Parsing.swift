extension LoadOptions {
  /// - Parameters:
  ///   - words: the command line behind the program's name.
  ///   - environment: may hold key and secret.
  public init(_ words: [String], environment: [String: String] = [:]) throws(LoadUsageError) {
    self.init()
    var limits = RampWords()
    var calls = CallWords()
    if let key = environment["ROOST_LOAD_KEY"] { apiKey = key }
    if let secret = environment["ROOST_LOAD_SECRET"] { self.secret = secret }
    var words = words[...]
    while let word = words.popFirst() {
      calls.note(word)
      switch word {
      case "--help", "-h": throw LoadUsageError(Self.help, isHelp: true)
      case "--mesh": isMesh = true
      case "--audio": hasAudio = true
      case "--insecure": checksCertificate = false
      case "--real": picture.isReal = true
      case "--whip": joining.publishesByWHIP = true
      case "--whep": joining.subscribesByWHEP = true
      case "--json": output.printsJSON = true
      case "--quiet": output.isQuiet = true
      case "--restarts": calls.takeRestarts()
      case _ where CallWords.valued.contains(word): try calls.take(word, try Self.value(of: word, &words))
      default: try apply(word, &words, &limits)
      }
    }
    try calls.apply(to: &self)
    if picture.isReal {
      guard !hasAudio, picture.bitrate == 0, picture.files.isEmpty, others == 0 else {
        throw LoadUsageError(
          "--real sends pictures and tones of its own: leave out --video, --video-files, --audio, --others")
      }
      hasAudio = true
    } else if !hasAudio && !picture.isSent {
      hasAudio = picture.encodings == 1
      picture.bitrate = 1_500_000
    }
    try check()
    try limits.apply(to: &self)
  }

  private mutating func apply(
    _ word: String, _ words: inout ArraySlice<String>, _ limits: inout RampWords
  ) throws(LoadUsageError) {
    guard Self.known.contains(word) else {
      throw LoadUsageError("unknown option \(word); see roost-load --help")
    }
    let value = try Self.value(of: word, &words)
    switch word {
    case "--ramp", "--ramp-to", "--most-loss", "--most-delay": try limits.take(word, value)
    case "--picture": output.chart = value
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
    case "--join-timeout": joining.timeout = try Self.number(word, value, 1...120)
    case "--join-rate": joining.rate = Double(try Self.number(word, value, 1...10_000))
    case "--others": others = try Self.number(word, value, 0...32)
    case "--ping": pingMilliseconds = try Self.number(word, value, 10...60_000)
    case "--video": picture.bitrate = try Self.rate(word, value)
    case "--layers": picture.encodings = try Self.number(word, value, 1...3)
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

  private static func value(
    of word: String, _ words: inout ArraySlice<String>
  ) throws(LoadUsageError) -> String {
    guard let value = words.popFirst() else {
      throw LoadUsageError("\(word) needs a value; see roost-load --help")
    }
    return value
  }

  private static let known: Set<String> = [
    "--url", "--key", "--secret", "--room", "--identity", "--media", "--rooms", "--publishers",
    "--subscribers", "--duration",
    "--settle", "--join-timeout", "--join-rate", "--video", "--nack", "--feedback", "--others",
    "--ping", "--video-files", "--layers", "--ramp", "--ramp-to", "--most-loss", "--most-delay", "--picture",
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
    guard picture.encodings == 1 || picture.bitrate > 0 && !hasAudio && joining.isNative else {
      throw LoadUsageError(
        "--layers counts pictures that are made up: it goes with --video alone, not with --whip or --whep")
    }
    guard joining.isNative || !isMesh && others == 0 && picture.files.isEmpty else {
      throw LoadUsageError("--whip and --whep go with neither --mesh, --others nor --video-files")
    }
    guard !names.room.isEmpty, names.room.utf8.count <= 100 else {
      throw LoadUsageError("--room must have 1 to 100 bytes")
    }
    guard !names.identity.isEmpty, names.identity.utf8.count <= 100 else {
      throw LoadUsageError("--identity must have 1 to 100 bytes")
    }
  }

  static let publisherLimit = 32

  static func number(
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
