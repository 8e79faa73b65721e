/// What was seen of one call by its two people.
struct CallTale: Equatable, Sendable {
  var id: String
  var caller: String
  var callee: String
  /// The start was answered.
  var isStarted = false
  /// The callee's join was answered.
  var isJoined = false
  /// Each has heard the other.
  var isConnected = false
  /// Milliseconds that the call was connected for, at least and at most: a restart lies between them.
  var talked = 0...0
  /// Something failed at this end, so that the call went as it could.
  var isSpoilt = false
}

/// What is wrong with the server's word on a call, compared with what its people saw.
enum CallJudge {
  /// Milliseconds that the server's count may differ by: it writes down whose media is there a little later.
  static let tolerance = 1_500

  /// - Parameter person: whose history it is.
  static func problems(of tale: CallTale, _ facts: CallFacts, for person: String) -> [String] {
    guard facts.isOver else { return ["it isn't over"] }
    guard !tale.isSpoilt else { return [] }
    var problems = role(tale, facts, person)
    let outcome = facts.outcome ?? "none"
    guard tale.isConnected else { return problems + unconnected(tale, facts, person) }
    if outcome != "answered" { problems.append("its outcome is \(outcome), and both have heard each other") }
    if let mine = facts.mine, mine.outcome != outcome {
      problems.append("\(person)'s outcome is \(mine.outcome ?? "none"), and the call's \(outcome)")
    }
    if let duration = facts.durationMs {
      if duration < tale.talked.lowerBound - tolerance || duration > tale.talked.upperBound + tolerance {
        problems.append(
          "it lasted \(duration) ms, and they talked for \(tale.talked.lowerBound) to \(tale.talked.upperBound) ms"
        )
      }
    } else {
      problems.append("it has no duration")
    }
    return problems
  }

  private static func role(_ tale: CallTale, _ facts: CallFacts, _ person: String) -> [String] {
    guard let mine = facts.mine else { return ["it doesn't say what it is to \(person)"] }
    let wanted = person == tale.caller ? "caller" : "recipient"
    return mine.role == wanted ? [] : ["\(person) is its \(mine.role), not its \(wanted)"]
  }

  /// Nothing is wrong with a call that wasn't connected where its end fits how far it came.
  private static func unconnected(_ tale: CallTale, _ facts: CallFacts, _ person: String) -> [String] {
    let outcome = facts.outcome ?? "none"
    let away = facts.reason(of: tale.callee)
    let fits =
      switch outcome {
      // The media of both may stand, and the first sound of one is lost with the server.
      case "answered": tale.isJoined
      // A join may have been done whose answer is lost with the server.
      case "failed": true
      case "missed": !tale.isJoined && away == "timedOut"
      default: false
      }
    guard fits else {
      return [
        "its outcome is \(outcome), the callee's end \(away ?? "none"), and it was \(tale.isJoined ? "" : "not ")joined"
      ]
    }
    if outcome == "missed", let mine = facts.mine, mine.outcome != "missed" {
      return ["\(person)'s outcome is \(mine.outcome ?? "none"), and the call was missed"]
    }
    return []
  }

  /// - Parameter history: all of a person who was in this call alone.
  static func problems(of tale: CallTale, history: [CallFacts], of person: String) -> [String] {
    let found = history.filter { $0.id == tale.id }
    guard let first = found.first else {
      return tale.isStarted ? ["it isn't in the history of \(person)"] : []
    }
    var problems = problems(of: tale, first, for: person)
    if found.count > 1 { problems.append("it is \(found.count) times in the history of \(person)") }
    if history.count > found.count { problems.append("\(person) has calls of others in the history") }
    return problems
  }
}
