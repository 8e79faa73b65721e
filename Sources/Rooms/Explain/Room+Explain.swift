internal import Engine
internal import Model

/// Explanations under way. A room asks the media plane for one page at a time; those who want the same page get its answer.
struct RunningExplanations {
  struct Page: Equatable, Sendable {
    var after: String?
    var limit: Int
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

extension Room {
  /// How long the media plane has to answer.
  static let explainPatience = Duration.seconds(1)

  /// Why those of one page get what they get.
  func explain(after: String?, limit: Int) async -> RoomExplanation {
    let page = RunningExplanations.Page(after: after, limit: limit)
    while let (running, task) = explanations.page {
      let found = await task.value
      if running == page { return found }
    }
    let (ids, hasMore) = state.page(after: after, limit: limit)
    let task = Task {
      let question = state.question(about: ids)
      var found = RoomExplanation(participants: [], hasMore: hasMore)
      let answers = await answers(to: question)
      found.participants = state.explain(ids, answers)
      found.unanswered = answers.count { $0 == nil }
      // Before those go on who wait for it.
      explanations.page = nil
      return found
    }
    explanations.page = (page, task)
    return await task.value
  }

  func explainOwn(_ id: ParticipantID) async throws(RequestError) -> ParticipantExplanation {
    guard explanations.mayAsk(id, now: now) else { throw .tooOften }
    try handle(.request(id, .explain)).done()
    var question = state.question(about: [id])
    question.isNarrow = true
    let answers = await answers(to: question)
    guard let own = state.explain([id], answers, most: RoomState.ownSubscriptions).first else { throw .gone }
    return own
  }

  private func answers(to question: MediaQuestion) async -> [WorkerExplanation?] {
    let ask = media.port.explain
    return question.peers.isEmpty ? [] : await ask(question, Self.explainPatience)
  }
}
