import CallDesk
import Calls
import Foundation
import TestStores
import Testing

/// Strangers, members, those who have left, were removed or have blocked the caller, people of other calls and those who run rooms, by
/// tokens of people, of calls and of rooms: a model of who may know what judges all that each is answered and hears.
@Suite("Who may know what of calls, whatever is asked", .serialized, .timeLimit(.minutes(5)))
struct CallKnowledgeTests {
  private static let environment = ProcessInfo.processInfo.environment
  /// `make accept` has 3,000.
  private static let steps = environment["ROOST_CALL_STEPS"].flatMap { Int($0) } ?? 250

  @Test(arguments: StoreKind.allCases)
  func `whatever is asked by whom, each is answered and hears what is theirs`(kind: StoreKind) async throws {
    let seed = Self.environment["ROOST_CALL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0 ... .max)
    var terms = CallDeskTerms()
    // Nothing is over by itself: what happens is what is asked.
    (terms.book.call.ring, terms.book.call.media, terms.book.call.alone) = (3_600_000, 3_600_000, 3_600_000)
    (terms.book.call.grace, terms.book.calls) = (3_600_000, 100_000)
    (terms.rates.starts, terms.rates.rings) = (100_000, 100_000)
    (terms.keys.entriesPerMinute, terms.keys.changesPerMinute) = (100_000, 100_000)
    (terms.sharing.changesPerMinute, terms.changesPerMinute) = (100_000, 100_000)
    let calls = try await CallHouse(terms, on: kind)
    var run = KnowledgeRun(calls, seed: seed)
    try await run.prepare()
    for _ in 0..<Self.steps { try await run.turn() }
    try await run.listen()
    let judged = run.model.judged
    print(
      "figure: calls, judged, \(kind): \(Self.steps) steps, \(judged.texts) texts with \(judged.words) words, seed \(seed)"
    )
    // It was about something.
    #expect(run.order.count > Self.steps / 50)
    #expect(judged.words > Self.steps)
    #expect(Self.steps < 1_000 || run.model.calls.values.contains { !$0.removed.isEmpty })
    withExtendedLifetime(calls) {}
  }
}
