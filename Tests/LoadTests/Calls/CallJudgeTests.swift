import Testing

@testable import Load

@Suite("What is wrong with the server's word on a call", .timeLimit(.minutes(2)))
struct CallJudgeTests {
  private static let outcomes = ["answered", "cancelled", "missed", "declined", "busy", "failed"]

  private func tale(isJoined: Bool = true, isConnected: Bool = true, talked: ClosedRange<Int> = 5_000...5_200)
    -> CallTale
  {
    var tale = CallTale(id: "c", caller: "ada", callee: "bob")
    tale.isStarted = true
    tale.isJoined = isJoined
    tale.isConnected = isConnected
    tale.talked = isConnected ? talked : 0...0
    return tale
  }

  private func facts(
    _ outcome: String? = "answered", duration: Int? = 5_100, role: String = "caller",
    mine: String? = "answered",
    away: String = "userLeft", status: String = "inactive"
  ) -> CallFacts {
    CallFacts(
      id: "c", room: "call-1", status: status, outcome: outcome, durationMs: duration,
      invitedParticipants: [],
      leftParticipants: [.init(id: "ada", reason: "userLeft"), .init(id: "bob", reason: away)],
      mine: .init(role: role, outcome: mine))
  }

  @Test func `a call that both have heard was answered, for both`() {
    #expect(CallJudge.problems(of: tale(), facts(), for: "ada") == [])
    #expect(CallJudge.problems(of: tale(), facts(role: "recipient"), for: "bob") == [])
    for outcome in Self.outcomes.dropFirst() {
      #expect(
        !CallJudge.problems(of: tale(), facts(outcome, mine: outcome), for: "ada").isEmpty, "\(outcome)")
      #expect(!CallJudge.problems(of: tale(), facts(mine: outcome), for: "ada").isEmpty, "\(outcome)")
    }
  }

  @Test func `the history says what the call is to whom`() {
    #expect(CallJudge.problems(of: tale(), facts(role: "recipient"), for: "ada").count == 1)
    #expect(CallJudge.problems(of: tale(), facts(role: "caller"), for: "bob").count == 1)
    var silent = facts()
    silent.mine = nil
    #expect(CallJudge.problems(of: tale(), silent, for: "ada").count == 1)
  }

  @Test(arguments: [
    (3_499, false), (3_500, true), (5_000, true), (5_200, true), (6_700, true), (6_701, false), (0, false),
  ])
  func `it lasted as long as they talked, within a second and a half`(duration: Int, holds: Bool) {
    #expect(CallJudge.problems(of: tale(), facts(duration: duration), for: "ada").isEmpty == holds)
  }

  @Test func `a restart lies between the least and the most that they talked`() {
    let long = tale(talked: 1_000...9_000)
    for duration in stride(from: 0, through: 12_000, by: 250) {
      #expect(
        CallJudge.problems(of: long, facts(duration: duration), for: "ada").isEmpty == (duration <= 10_500))
    }
    #expect(!CallJudge.problems(of: long, facts(duration: nil), for: "ada").isEmpty)
  }

  @Test func `one that goes on is wrong, whatever else it says`() {
    #expect(
      CallJudge.problems(of: tale(), facts(nil, mine: nil, status: "active"), for: "ada") == ["it isn't over"]
    )
  }

  /// The rule once more, as one line each: how far a call came, and what it may be called then.
  @Test func `a call that wasn't connected ends as it fits how far it came`() {
    for isJoined in [false, true] {
      for outcome in Self.outcomes {
        for away in ["timedOut", "userLeft", "rejected", "networkError", "cancelled", "busy"] {
          let fits =
            outcome == "failed" || (outcome == "answered" && isJoined)
            || (outcome == "missed" && !isJoined && away == "timedOut")
          let found = CallJudge.problems(
            of: tale(isJoined: isJoined, isConnected: false),
            facts(outcome, duration: nil, mine: outcome, away: away), for: "ada")
          #expect(found.isEmpty == fits, "\(isJoined) \(outcome) \(away): \(found)")
        }
      }
    }
    let missed = facts("missed", duration: nil, mine: "answered", away: "timedOut")
    #expect(!CallJudge.problems(of: tale(isJoined: false, isConnected: false), missed, for: "ada").isEmpty)
  }

  @Test func `the call stands in the history once, and nothing else does`() {
    let other = CallFacts(
      id: "d", status: "inactive", invitedParticipants: [], leftParticipants: [], mine: nil)
    #expect(CallJudge.problems(of: tale(), history: [facts()], of: "ada") == [])
    #expect(CallJudge.problems(of: tale(), history: [], of: "ada").count == 1)
    #expect(CallJudge.problems(of: tale(), history: [facts(), facts()], of: "ada").count == 1)
    #expect(CallJudge.problems(of: tale(), history: [facts(), other], of: "ada").count == 1)
    var refused = tale(isJoined: false, isConnected: false)
    refused.isStarted = false
    #expect(CallJudge.problems(of: refused, history: [], of: "ada") == [])
  }

  @Test func `of a call that was spoilt at this end it is asked that it is over, and no more`() {
    var spoilt = tale()
    spoilt.isSpoilt = true
    #expect(
      CallJudge.problems(of: spoilt, facts("cancelled", duration: nil, mine: "missed"), for: "ada") == [])
    #expect(CallJudge.problems(of: spoilt, facts(nil, status: "active"), for: "ada") == ["it isn't over"])
  }

  @Test func `the server's own JSON is read`() throws {
    let text = """
      {"items":[{"activeParticipants":[],"allParticipants":["ada","bob"],"callerId":"ada","connectedAt":"2026-01-01T00:00:00.000Z",
      "createdAt":"2026-01-01T00:00:00.000Z","durationMs":5100,"e2ee":false,"endedAt":"2026-01-01T00:00:05.100Z","endedBy":"ada",
      "id":"c","invitedParticipants":[],"leftParticipants":[{"at":"2026-01-01T00:00:05.100Z","id":"ada","reason":"userLeft"}],
      "media":"audio","mine":{"joinedAt":"2026-01-01T00:00:00.000Z","outcome":"answered","role":"caller"},"names":{},
      "outcome":"answered","path":"relay","room":"call-1","status":"inactive","updatedAt":"2026-01-01T00:00:05.100Z"}],"next":"n"}
      """
    let page = try #require(CallJSON.read(CallHistoryFacts.self, text.utf8))
    #expect(page.next == "n" && page.items.first?.durationMs == 5_100 && page.items.first?.isOver == true)
    #expect(page.items.first?.reason(of: "ada") == "userLeft" && page.items.first?.reason(of: "bob") == nil)
    #expect(CallJudge.problems(of: tale(), history: page.items, of: "ada") == [])
    #expect(CallJSON.read(CallHistoryFacts.self, "{}".utf8) == nil)
  }
}
