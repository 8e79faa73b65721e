internal import RoostTesting

/// What the command line asks for.
struct Arguments {
  var first: UInt64 = 1
  var seeds: UInt64 = 20
  var threads = 2
  var printsDigests = false
  var lists = false
  var options = Conference.Options()

  static let help = """
    roost-simulate runs whole conferences on a virtual clock: the server's workers, synthetic peers with
    real ICE, DTLS and SRTP, and a network between them that loses, delays, doubles and reorders, changes
    addresses and worse. What happens follows from a seed; the same seed sends the same bytes every time.

    Everything that every peer receives is compared with what was sent. What is wrong is printed with the
    seed that shows it; the exit status is 1 then.

    USAGE
      roost-simulate [--seeds N] [--first S] [options]     N conferences, from seed S on
      roost-simulate --seed S [options]                    one, with all that it saw

    OPTIONS
      --seeds N        conferences (20)
      --first S        the first seed (1)
      --seed S         this seed alone; prints every violation and how often each mechanism fired
      --peers N        in each conference, 2-40 (8); each hears and sees all others
      --seconds N      of virtual time (20)
      --workers N      of the server, 1-16 (2)
      --threads N      conferences at a time (2)
      --calm           a network that only delays, and nobody does anything unusual
      --trace          prints what happened to whom and when, before the violations
      --digest         prints for each seed the digest of all datagrams with their times
      --help

    EXAMPLES
      roost-simulate --seeds 1000 --threads 8
      roost-simulate --seed 17 --workers 4
    """

  enum Failure: Error {
    case unknown(String)
    case missing(String)
    case number(String, String)
    case help

    var text: String {
      switch self {
      case .unknown(let option): "unknown option \(option); see roost-simulate --help"
      case .missing(let option): "\(option) wants a value; see roost-simulate --help"
      case .number(let option, let value): "\(option) can't be \(value); see roost-simulate --help"
      case .help: Arguments.help
      }
    }
  }

  init(_ words: [String]) throws(Failure) {
    var words = words[...]
    options.hooks = .openSSL
    while let word = words.popFirst() {
      switch word {
      case "--seeds": seeds = UInt64(try Self.number(word, &words, 1...1_000_000_000))
      case "--first": first = UInt64(try Self.number(word, &words, 0...Int.max))
      case "--seed":
        first = UInt64(try Self.number(word, &words, 0...Int.max))
        seeds = 1
        lists = true
      case "--peers": options.peers = try Self.number(word, &words, 2...40)
      case "--seconds": options.duration = .seconds(try Self.number(word, &words, 4...3_600))
      case "--workers": options.workers = try Self.number(word, &words, 1...16)
      case "--threads": threads = try Self.number(word, &words, 1...256)
      case "--calm": options.weather = false
      case "--trace": options.traces = true
      case "--digest": printsDigests = true
      case "--help", "-h": throw .help
      default: throw .unknown(word)
      }
    }
  }

  private static func number(
    _ option: String, _ words: inout ArraySlice<String>, _ bounds: ClosedRange<Int>
  ) throws(Failure) -> Int {
    guard let word = words.popFirst() else { throw .missing(option) }
    guard let value = Int(word), bounds.contains(value) else { throw .number(option, word) }
    return value
  }

  /// How to see a seed again.
  func repeating(_ seed: UInt64) -> String {
    let standard = Conference.Options()
    var words = ["roost-simulate --seed \(seed)"]
    if options.peers != standard.peers { words.append("--peers \(options.peers)") }
    if options.duration != standard.duration {
      words.append("--seconds \(options.duration.components.seconds)")
    }
    if options.workers != standard.workers { words.append("--workers \(options.workers)") }
    if !options.weather { words.append("--calm") }
    return words.joined(separator: " ")
  }
}
