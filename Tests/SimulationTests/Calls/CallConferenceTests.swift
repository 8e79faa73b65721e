import SyntheticPeers
import Testing

@testable import Simulation

@Suite("A conference of calls on a virtual clock", .timeLimit(.minutes(3)))
struct CallConferenceTests {
  @Test func `each is answered and hears what is theirs, for its price, whatever is asked`() throws {
    // One with its store in memory, and one with it in a folder.
    let outcomes = try [4, 19].map { try CallConference(seed: $0, options: Conference.Options()).run() }
    for outcome in outcomes { #expect(outcome.violations == []) }
    // It was about something.
    let acts: [Mechanism] = [
      .callStarted, .callJoined, .callEnded, .callEventHeard, .strangerCompared, .ringEnded,
    ]
    for mechanism in acts {
      #expect(outcomes.reduce(0) { $0 + $1.mechanisms[mechanism] } > 0, "\(mechanism)")
    }
    for outcome in outcomes {
      #expect(outcome.mechanisms[.callPriceJudged] > UInt64(CallConference.turns))
      #expect(outcome.mechanisms[.callWordJudged] > UInt64(CallConference.turns))
    }
  }

  @Test func `a seed does the same again, though its keys are others`() throws {
    let first = try CallConference(seed: 9, options: Conference.Options()).run()
    let second = try CallConference(seed: 9, options: Conference.Options()).run()
    for mechanism in Mechanism.allCases {
      #expect(first.mechanisms[mechanism] == second.mechanisms[mechanism], "\(mechanism)")
    }
    #expect(first.violations == second.violations && first.virtualTime == second.virtualTime)
  }

  @Test func `every fifth seed has one, and none that has narrow paths`() {
    let seeds = (1...100).filter { CallConference.isPart(of: $0) }
    #expect(seeds.count == 20 && !seeds.contains { LayerPlan.isPart(of: $0) })
  }
}

@Suite("What requests about calls are to cost, as the simulation judges it", .timeLimit(.minutes(1)))
struct CallPriceModelTests {
  @Test func `a request costs itself, its body, and what its list or those that it names may have`() {
    var price = CallPrice()
    #expect(price.bounds(body: 100, answer: 5_000) == 4_196...4_196)
    price.items = 3
    price.shortItems = 2
    price.keyEntries = 1
    #expect(price.bounds(body: 0, answer: 9) == 4_096 + 3_072 + 256 + 512...4_096 + 3_072 + 256 + 512)
    #expect(price.bounds(body: 7, answer: 9, isRepeated: true) == 4_103...4_103)
    price.isFree = true
    #expect(price.bounds(body: 7, answer: 9) == 0...0)
  }

  @Test func `what an answer has beyond its items is paid for, up to a mebibyte`() {
    var price = CallPrice()
    (price.items, price.isPaidBehind) = (2, true)
    #expect(price.bounds(body: 0, answer: 2_000) == 6_144...6_144)
    #expect(price.bounds(body: 0, answer: 3_048) == 7_144...7_144)
    #expect(price.bounds(body: 0, answer: nil) == 6_144...6_144)
    #expect(price.bounds(body: 0, answer: 9_000_000).upperBound == 6_144 + 1_048_576)
    price.copies = true
    #expect(price.bounds(body: 0, answer: nil) == 6_144...6_144 + 1_048_576)
    // One that is refused may be so before.
    (price.copies, price.mayEndAtDoor) = (false, true)
    #expect(price.bounds(body: 0, answer: nil) == 4_096...6_144)
    #expect(price.bounds(body: 0, answer: 2_000) == 6_144...6_144)
  }

  @Test func `no one spends more than there is, and no one is refused who has enough`() {
    var budget = CallBudget(now: 0)
    #expect(budget.note(2_000_000, isPaid: true, now: 0) == nil)
    #expect(budget.note(90_000, isPaid: false, now: 0) != nil)
    #expect(budget.note(200_000, isPaid: false, now: 0) == nil)
    // A second later there is half a mebibyte more.
    #expect(budget.note(500_000, isPaid: true, now: 1_000_000_000) == nil)
    #expect(budget.note(200_000, isPaid: true, now: 1_000_000_000) != nil)
    // What was done already is owed, and keeps what comes behind it from being done.
    var other = CallBudget(now: 0)
    #expect(other.note(2_000_000, isPaid: true, now: 0) == nil)
    #expect(other.note(1_000_000, isPaid: true, isOwed: true, now: 0) == nil)
    #expect(other.note(1, isPaid: true, now: 0) != nil)
  }
}
