internal import Glibc
internal import Model
internal import Simulation
internal import SyntheticPeers

/// What the command line asks for.
struct Arguments {
  var first: UInt64 = 1
  var seeds: UInt64 = 20
  var threads = 2
  var printsDigests = false
  var lists = false
  /// Seeds in which each mechanism has to fire.
  var leastSeeds: UInt64 = 0
  var stopsAtFirst = false
  /// The first seed comes from the clock.
  var isNew = false
  #if PLANTED_DEFECTS
    var defect: PlantedDefect?
  #endif
  var options = Conference.Options()

  static let help = """
    roost-simulate runs whole conferences on a virtual clock: the server's workers, rooms and native door,
    synthetic peers with real ICE, DTLS and SRTP, and a network between them that loses, delays,
    duplicates and reorders packets and changes addresses. Participants come and go, mute themselves, lose
    their WebSocket and come back, are removed and replaced, in several rooms, until the server drains. A
    seed decides what happens; the same seed sends the same bytes every time.

    One seed in five has a conference on narrow paths beside that, and another one in five a conference of
    calls (4, 9, 14 and so on): people with devices, former members and strangers ask the server's doors all
    there is to ask of calls, keys and shared sessions, and each answer, event and charge is held against
    who may know it and what it costs. Its violations say "calls:".

    Everything that a peer receives is compared with what was sent, and what a client believes with what
    the rooms say. Violations are printed with the seed that shows them, and the exit status is 1. At the
    end it says how often each mechanism fired, and in how many of the seeds.

    USAGE
      roost-simulate [--seeds N] [--first S] [options]     N conferences, from seed S on
      roost-simulate --new N [options]                     N new ones, from a seed taken from the clock
      roost-simulate --seed S [options]                    one, with everything that happened

    OPTIONS
      --seeds N        conferences (20)
      --first S        the first seed (1)
      --seed S         this seed alone; prints every violation and how often each mechanism fired
      --new N          N conferences from a first seed that is printed and differs each time
      --peers N        in each conference, 2-40 (8); each hears and sees all others in its room
      --rooms N        1-10 (one to three, by the seed)
      --seconds N      of virtual time (20)
      --workers N      of the server, 1-16 (two or four, by the seed)
      --meeting N      N people in one room, 4-40, all with sound and four with pictures, on laptops and phones: some on
                       800 kbit/s of which 5 % is lost; for 30 s unless --seconds follows
      --heavy          video at 1.5 Mbit/s in each, from at most four (every tenth seed)
      --threads N      conferences at a time (2)
      --calm           a network that only delays, and participants that do nothing unusual
      --trace          prints what happened, to which participant and when, before the violations
      --digest         prints for each seed the digest of everything that was sent, with times
      --at-least N     fails if a mechanism fired in fewer than N of the seeds, or than N / 5 where it can in
                       every fifth alone; shortcomings are counted and have no least
      --until-found    ends with the first seed that shows something wrong
      --help

    EXAMPLES
      roost-simulate --seeds 1000 --threads 8
      roost-simulate --seed 17 --workers 4 --trace
      roost-simulate --meeting 30 --seeds 2
    """

  enum Failure: Error {
    case unknown(String)
    case missing(String)
    case number(String, String)
    case help
    /// To list what can be planted.
    case defects

    var text: String {
      switch self {
      case .unknown(let option): "unknown option \(option); see roost-simulate --help"
      case .missing(let option): "\(option) needs a value; see roost-simulate --help"
      case .number(let option, let value): "\(option) can't be \(value); see roost-simulate --help"
      case .help: Arguments.help
      case .defects: Arguments.defectNames
      }
    }
  }

  /// A line each; nothing in a build that has none.
  static var defectNames: String {
    #if PLANTED_DEFECTS
      PlantedDefect.allCases.map(\.rawValue).joined(separator: "\n")
    #else
      ""
    #endif
  }

  init(_ words: [String]) throws(Failure) {
    var words = words[...]
    options.hooks = .openSSL
    while let word = words.popFirst() {
      switch word {
      case "--seeds": seeds = UInt64(try Self.number(word, &words, 1...1_000_000_000))
      case "--first": first = UInt64(try Self.number(word, &words, 0...Int.max))
      case "--new":
        seeds = UInt64(try Self.number(word, &words, 1...1_000_000_000))
        first = UInt64(time(nil)) * 100_000
        isNew = true
      case "--seed":
        first = UInt64(try Self.number(word, &words, 0...Int.max))
        seeds = 1
        lists = true
      case "--peers": options.peers = try Self.number(word, &words, 2...40)
      case "--seconds": options.duration = .seconds(try Self.number(word, &words, 4...3_600))
      case "--rooms": options.rooms = try Self.number(word, &words, 1...10)
      case "--meeting":
        options.meeting = try Self.number(word, &words, 4...40)
        options.duration = .seconds(30)
      case "--heavy": options.isHeavy = true
      case "--at-least": leastSeeds = UInt64(try Self.number(word, &words, 1...1_000_000_000))
      case "--until-found": stopsAtFirst = true
      #if PLANTED_DEFECTS
        case "--defect":
          guard let name = words.popFirst() else { throw .missing(word) }
          guard let known = PlantedDefect(rawValue: name) else { throw .number(word, name) }
          defect = known
        case "--defects": throw .defects
      #endif
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
    if let people = options.meeting { words.append("--meeting \(people)") }
    if options.peers != standard.peers { words.append("--peers \(options.peers)") }
    if options.duration != standard.duration {
      words.append("--seconds \(options.duration.components.seconds)")
    }
    if let workers = options.workers { words.append("--workers \(workers)") }
    if let rooms = options.rooms { words.append("--rooms \(rooms)") }
    if options.isHeavy == true { words.append("--heavy") }
    #if PLANTED_DEFECTS
      if let defect { words.append("--defect \(defect.rawValue)") }
    #endif
    if !options.weather { words.append("--calm") }
    return words.joined(separator: " ")
  }
}
