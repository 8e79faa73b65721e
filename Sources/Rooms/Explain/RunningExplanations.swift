internal import Model

/// Explanations under way. A room asks the media plane for one page at a time; those who want the same page get its answer.
struct RunningExplanations {
  struct Page: Equatable, Sendable {
    var after: String?
    var limit: Int
    /// This one alone.
    var identity: String?

    /// By the bytes of names: those that look alike are others.
    static func == (a: Page, b: Page) -> Bool {
      func exact(_ name: String?) -> ExactName? { name.map { ExactName($0) } }
      return a.limit == b.limit && exact(a.after) == exact(b.after) && exact(a.identity) == exact(b.identity)
    }
  }

  typealias Running = Task<RoomExplanation, Never>

  var page: (Page, Running)?
  /// When each participant last asked about itself; those whose second has passed are forgotten in time.
  private var asked: [ParticipantID: Instant] = [:]

  /// A participant asks about itself so often at most.
  private static let interval = Duration.seconds(1)
  private static let keptAsked = 1_024

  mutating func mayAsk(_ id: ParticipantID, now: Instant) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.explainsWithoutEnd) { return true }
    #endif
    if let last = asked[id], now - last < Self.interval { return false }
    if asked.count >= Self.keptAsked { asked = asked.filter { now - $0.value < Self.interval } }
    asked[id] = now
    return true
  }
}
