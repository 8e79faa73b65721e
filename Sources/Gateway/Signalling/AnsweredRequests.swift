#if PLANTED_DEFECTS
  internal import Model
#endif

/// Remembers the answers to requests that had an id, so that one which comes again, after a doubt whether it
/// arrived, gets its first answer instead of being done twice.
struct AnsweredRequests: Sendable {
  enum Standing: Equatable, Sendable {
    case new
    /// Being worked on: its answer will come by itself.
    case pending
    case answered(String)
  }

  /// Answers of the most recent requests; older ones are forgotten.
  static let capacity = 64

  private var answers: [RequestID: String?] = [:]
  private var order: [RequestID] = []

  /// Looks a request up and enters it if it is new.
  mutating func enter(_ id: RequestID) -> Standing {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.doneTwice), answers[id] == .some(nil) { return .new }
    #endif
    if let known = answers[id] { return known.map { .answered($0) } ?? .pending }
    if order.count == Self.capacity { answers[order.removeFirst()] = nil }
    order.append(id)
    answers.updateValue(nil, forKey: id)
    return .new
  }

  mutating func answer(_ id: RequestID, _ text: String) {
    guard answers[id] != nil else { return }
    answers.updateValue(text, forKey: id)
  }
}
