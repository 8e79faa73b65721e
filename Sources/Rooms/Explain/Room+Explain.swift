internal import Engine
internal import Model

extension Room {
  /// How long the media plane has to answer.
  static let explainPatience = Duration.seconds(1)

  /// Why those of one page get what they get.
  func explain(_ page: RunningExplanations.Page) async -> RoomExplanation {
    while let (running, task) = explanations.page {
      let found = await task.value
      if running == page { return found }
    }
    let (ids, hasMore) = state.page(page)
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

  func answers(to question: MediaQuestion) async -> [WorkerExplanation?] {
    let ask = media.port.explain
    let isEmpty = question.peers.isEmpty && question.published.isEmpty
    return isEmpty ? [] : await ask(question, Self.explainPatience)
  }
}
