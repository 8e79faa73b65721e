import Model
import Testing

@testable import Load

@Suite("What one device hears of calls", .timeLimit(.minutes(2)))
struct CallCountingTests {
  @Test func `a ring is heard once and ends once`() {
    var ledger = RingLedger()
    let first = ledger.noteRing("a")
    let second = ledger.noteRing("b")
    ledger.noteEnd(of: "a")
    #expect(first && second && ledger.problems == [])
    let again = ledger.noteRing("a")
    #expect(!again && ledger.problems.count == 1)
    ledger.noteEnd(of: "b")
    ledger.noteEnd(of: "a")
    #expect(ledger.problems == ["ring a was heard twice", "ring a ended twice"])
  }

  @Test func `events are numbered upwards, and a state has the number of the last`() {
    var ledger = RingLedger()
    ledger.noteEvent("4", isState: true)
    for number in [5, 6, 9] { ledger.noteEvent("\(number)", isState: false) }
    ledger.noteEvent("9", isState: true)
    ledger.noteEvent("10", isState: false)
    #expect(ledger.problems == [])
    ledger.noteEvent("10", isState: false)
    ledger.noteEvent("3", isState: true)
    ledger.noteEvent("x", isState: false)
    ledger.noteEvent("11", isState: false)
    #expect(ledger.problems.count == 3)
  }

  /// Against a set of all that came.
  @Test(arguments: 0..<20) func `what is lost lies between the first packet and the last`(seed: UInt64) {
    var random = RandomSource.seeded(state: seed)
    var span = SoundSpan()
    var other = SoundSpan()
    var came: [Int: Set<Int>] = [:]
    for _ in 0..<300 {
      let publisher = Int(random.next() % 3)
      let packet = Int(random.next() % 200) + publisher * 50
      let isRepeat = !came[publisher, default: []].insert(packet).inserted
      if random.next() % 2 == 0 {
        span.note(packet, of: publisher, isRepeat: isRepeat)
      } else {
        other.note(packet, of: publisher, isRepeat: isRepeat)
      }
    }
    span.add(other)
    #expect(span.publishers == Set(came.keys))
    #expect(span.received == came.values.reduce(0) { $0 + $1.count })
    let lost = came.values.reduce(0) { sum, packets in
      sum + (packets.max() ?? 0) - (packets.min() ?? 0) + 1 - packets.count
    }
    #expect(span.lost == lost)
  }

  /// Against sorting, with what an act adds among it.
  @Test(arguments: 0..<20) func `what is to be done is done in its time, and in order`(seed: UInt64) {
    var random = RandomSource.seeded(state: seed)
    let agenda = Agenda()
    var done: [(due: Int64, order: Int)] = []
    var order = 0
    func add(_ due: Int64) {
      order += 1
      let mine = order
      agenda.add(at: Instant(nanoseconds: due)) { _ in done.append((due, mine)) }
    }
    for _ in 0..<200 { add(Int64(random.next() % 50)) }
    agenda.add(at: Instant(nanoseconds: 25)) { _ in add(30) }
    var now: Int64 = -1
    while agenda.deadline != .never {
      now += Int64(random.next() % 7)
      agenda.run(now: Instant(nanoseconds: now))
      #expect(agenda.deadline.nanoseconds > now)
    }
    #expect(done.count == 201)
    for (one, two) in zip(done, done.dropFirst()) {
      #expect(one.due < two.due || (one.due == two.due && one.order < two.order))
    }
  }
}
