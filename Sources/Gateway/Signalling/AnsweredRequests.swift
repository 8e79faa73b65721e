internal import Signalling

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
  /// Of their answers together; one that is longer is not remembered at all.
  static let byteCapacity = 262_144

  private var answers: [RequestID: String?] = [:]
  private var order: [RequestID] = []
  private var bytes = 0

  /// Looks a request up and enters it if it is new.
  mutating func enter(_ id: RequestID) -> Standing {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.doneTwice), answers[id] == .some(nil) { return .new }
    #endif
    if let known = answers[id] { return known.map { .answered($0) } ?? .pending }
    if order.count == Self.capacity { forgetOldest() }
    order.append(id)
    answers.updateValue(nil, forKey: id)
    return .new
  }

  mutating func answer(_ id: RequestID, _ text: String) {
    guard case .some(nil) = answers[id] else { return }
    answers.updateValue(text, forKey: id)
    bytes += text.utf8.count
    // Those before it, and itself where it is too long.
    while bytes > Self.byteCapacity, !order.isEmpty { forgetOldest() }
  }

  private mutating func forgetOldest() {
    if case .some(let text?) = answers.removeValue(forKey: order.removeFirst()) { bytes -= text.utf8.count }
  }
}
