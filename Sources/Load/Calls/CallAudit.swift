internal import HTTPClient
internal import Model

/// At the end of a run: what the server says of each call, and each person's history.
final class CallAudit {
  private let clerk: CallClerk
  private var waiting: [LoadCall]
  private var running = 0
  /// One for each call that was looked at.
  private(set) var findings: [Finding] = []

  struct Finding {
    /// Of the call.
    var id: String
    var isLost = false
    var isStuck = false
    var isOver = false
    var outcome: String?
    var histories: [String] = []
    /// The server couldn't be asked.
    var failure: String?
  }

  /// Calls that are looked at at once.
  private static let limit = 8

  init(_ calls: [LoadCall], clerk: CallClerk) {
    self.clerk = clerk
    waiting = calls.reversed()
  }

  var isDone: Bool { waiting.isEmpty && running == 0 }

  func advance(now: Instant) {
    while running < Self.limit, let call = waiting.popLast() {
      running += 1
      begin(call, now)
    }
  }

  private func begin(_ call: LoadCall, _ now: Instant) {
    clerk.ask(.get, ["v1", "calls", call.tale.id], token: call.caller.token, now: now) {
      [weak self] outcome, now in
      guard let self else { return }
      var finding = Finding(id: call.tale.id)
      if case .answered(let answer) = outcome, answer.head.status == 404 {
        finding.isLost = call.tale.isStarted
        return settle(finding, now)
      }
      guard case .answered(let answer) = outcome, answer.head.status == 200,
        let facts = CallJSON.read(CallFacts.self, answer.body)
      else {
        finding.failure = "reading the call: \(outcome.text)"
        return settle(finding, now)
      }
      (finding.isOver, finding.outcome) = (facts.isOver, facts.outcome)
      finding.isStuck = !facts.isOver
      read([call.caller, call.callee], of: call, finding, now)
    }
  }

  /// One after the other.
  private func read(_ sides: [CallSide], of call: LoadCall, _ finding: Finding, _ now: Instant) {
    guard let side = sides.first else { return settle(finding, now) }
    page(of: side, before: nil, [], now) { [weak self] history, failure, now in
      guard let self else { return }
      var finding = finding
      if let history {
        // One that goes on is stuck, which is enough.
        if !finding.isStuck {
          finding.histories += CallJudge.problems(of: call.tale, history: history, of: side.person)
        }
      } else {
        finding.failure = failure
      }
      read(Array(sides.dropFirst()), of: call, finding, now)
    }
  }

  private func page(
    of side: CallSide, before: String?, _ known: [CallFacts], _ now: Instant,
    then: @escaping ([CallFacts]?, String?, Instant) -> Void
  ) {
    var query = [(name: "limit", value: "200")]
    if let before { query.append((name: "before", value: before)) }
    clerk.ask(.get, ["v1", "calls"], query: query, token: side.token, now: now) {
      [weak self] outcome, now in
      guard case .answered(let answer) = outcome, answer.head.status == 200,
        let page = CallJSON.read(CallHistoryFacts.self, answer.body)
      else { return then(nil, "reading a history: \(outcome.text)", now) }
      let all = known + page.items
      guard let next = page.next, all.count < Self.most else { return then(all, nil, now) }
      self?.page(of: side, before: next, all, now, then: then)
    }
  }

  /// A person of a load has one call.
  private static let most = 1_000

  private func settle(_ finding: Finding, _ now: Instant) {
    findings.append(finding)
    running -= 1
    advance(now: now)
  }
}
