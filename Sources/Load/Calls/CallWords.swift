/// What the command line says of calls.
struct CallWords {
  private var count: Int?
  private var rate: Int?
  private var talk: Int?
  private var survivesRestarts = false
  private var hasJoinTimeout = false
  /// The first option that says something of rooms.
  private var stranger: String?

  static let valued: Set<String> = ["--calls", "--rate", "--talk"]
  /// Options that calls have in common with rooms.
  private static let shared: Set<String> = [
    "--restarts", "--url", "--key", "--secret", "--insecure", "--media", "--identity", "--join-timeout",
    "--json", "--quiet",
  ]

  /// Each option, before it is taken.
  mutating func note(_ word: String) {
    if word == "--join-timeout" { hasJoinTimeout = true }
    if stranger == nil, !Self.valued.contains(word), !Self.shared.contains(word) { stranger = word }
  }

  mutating func take(_ word: String, _ value: String) throws(LoadUsageError) {
    switch word {
    case "--calls": count = try LoadOptions.number(word, value, 1...CallPlan.limit)
    case "--rate": rate = try LoadOptions.number(word, value, 1...1_000)
    default: talk = try LoadOptions.number(word, value, 1...600)
    }
  }

  mutating func takeRestarts() { survivesRestarts = true }

  /// Puts it together, once everything else is known.
  func apply(to options: inout LoadOptions) throws(LoadUsageError) {
    guard let count else {
      guard rate == nil, talk == nil, !survivesRestarts else {
        throw LoadUsageError("--rate, --talk and --restarts go with --calls")
      }
      return
    }
    if let stranger { throw LoadUsageError("\(stranger) is of rooms and doesn't go with --calls") }
    var plan = CallPlan(count: count)
    if let rate { plan.rate = Double(rate) }
    if let talk { plan.talk = talk }
    plan.survivesRestarts = survivesRestarts
    // People wait longer for a call than a test waits for a participant.
    if !hasJoinTimeout { options.joining.timeout = CallPlan.joinTimeout }
    options.calls = plan
    options.hasAudio = true
  }
}
