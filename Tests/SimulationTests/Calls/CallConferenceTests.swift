import SyntheticPeers
import Testing

@testable import Gateway
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

@Suite("What reading is charged, as the simulation judges it", .timeLimit(.minutes(1)))
struct CallReadingsTests {
  /// The charges of one read of ada's phone: the device's, and the person's.
  private func charges(
    _ bytes: Int, isPaid: Bool = true, isOwed: Bool = false, ofPerson: Int? = nil
  ) -> [Intakes.Charge] {
    [
      Intakes.Charge(room: "\nphone", identity: "ada", bytes: bytes, isPaid: isPaid, isOwed: isOwed),
      Intakes.Charge(
        room: "\n", identity: "ada", bytes: ofPerson ?? bytes, isPaid: isPaid, isOwed: isOwed, parts: 8),
    ]
  }

  @Test func `a page pays what it may have before, and up to half a mebibyte behind`() {
    var price = CallPrice()
    price.readItems = 20
    #expect(price.reading(answer: 100) == 20_480 && price.reading(answer: 30_000) == 30_000)
    #expect(price.reading(answer: 9_000_000) == 20_480 + 524_288)
  }

  @Test func `each read is paid by its device, and an eighth of it by the person`() {
    var readings = CallReadings()
    let phone = CallReadings.Reader(person: "ada", device: "phone")
    let (paid, faults) = readings.note(charges(5_000) + charges(700, isOwed: true), now: 0)
    #expect(paid == [phone: 5_700] && faults.isEmpty)
    #expect(readings.note(charges(5_000, ofPerson: 625), now: 0).faults.count == 1)
    #expect(readings.note([charges(5_000)[0]], now: 0).faults.count == 1)
    #expect(!readings.note([charges(5_000)[1]], now: 0).faults.isEmpty)
  }

  @Test func `no page is read for one who has none left, and none is refused for one who has enough`() {
    var readings = CallReadings()
    #expect(!readings.note(charges(204_800, isPaid: false), now: 0).faults.isEmpty)
    #expect(readings.note(charges(2_000_000), now: 0).faults.isEmpty)
    #expect(readings.note(charges(204_800, isPaid: false), now: 0).faults.isEmpty)
    // However much is read in any case, no more is owed than comes in a second.
    for _ in 0..<9 { #expect(readings.note(charges(8_000_000, isOwed: true), now: 0).faults.isEmpty) }
    #expect(!readings.note(charges(10_000), now: 1_000_000_000).faults.isEmpty)
    #expect(!readings.note(charges(10_000, isPaid: false), now: 3_000_000_000).faults.isEmpty)
  }

  @Test func `what a stream gives out is paid by then`() {
    var reading = CallStreamReading()
    reading.note(2, bytes: 900)
    #expect(reading.fault != nil)
    reading.charged = 2_048
    #expect(reading.fault == nil)
    reading.note(1, bytes: 9_000)
    reading.charged += 1_024
    #expect(reading.fault != nil)
  }
}
