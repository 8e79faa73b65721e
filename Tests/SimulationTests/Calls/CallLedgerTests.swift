import Testing

@testable import Simulation

@Suite("Who may know what of calls, as the simulation judges it", .timeLimit(.minutes(1)))
struct CallLedgerTests {
  private static let call = "11111111-2222-4333-8444-555555555555"
  private static let session = "aaaaaaaa-2222-4333-8444-555555555555"

  /// A call of ada's, who rings some.
  private static func ledger(_ others: String..., blocks: [CallLedger.Block] = []) -> CallLedger {
    var ledger = CallLedger()
    ledger.blocks = Set(blocks)
    ledger.begin(call: call, by: "ada", ringing: others)
    return ledger
  }

  private static func standing(
    _ people: [(String, CallStanding.Stand)], hidden: Set<String> = [], isOver: Bool = false
  ) -> CallStanding {
    CallStanding(
      room: "call-bbbbbbbb-2222-4333-8444-555555555555",
      people: people.map {
        CallStanding.Person(id: $0.0, stand: $0.1, isHidden: hidden.contains($0.0))
      }, isOver: isOver)
  }

  private static let active = CallStanding.Stand.active(device: "ada1", stay: "s")

  private static func fault(
    _ ledger: inout CallLedger, _ text: String, _ person: String, device: String? = nil
  ) -> String? {
    ledger.fault(in: Array(text.utf8), given: .person(person, device: device))
  }

  @Test func `a call is known to its people, and to no one else by its word, its id or its room`() {
    var ledger = Self.ledger("bob")
    let word = ledger.word(.call, in: Self.call, by: "ada")
    _ = ledger.note(Self.standing([("ada", Self.active), ("bob", .rung)]), of: Self.call, now: 0)
    for text in [word, Self.call, "call-bbbbbbbb-2222-4333-8444-555555555555"] {
      #expect(Self.fault(&ledger, #"{"a":"\#(text)"}"#, "bob") == nil)
      #expect(Self.fault(&ledger, #"{"a":"\#(text)"}"#, "trudy") != nil)
      #expect(ledger.fault(in: Array(text.utf8), given: .administrator) == nil)
    }
    #expect(Self.fault(&ledger, "Mark0000, 99999999-2222-4333-8444-555555555555", "trudy") == nil)
    #expect(ledger.judged.texts == 10 && ledger.judged.words == 6)
  }

  @Test func `one who has blocked the other hears of no call, unless it was shown one before`() {
    let block = CallLedger.Block(of: "ada", by: "bob")
    var ledger = Self.ledger("bob", "eve", blocks: [block])
    #expect(!ledger.isOpen(Self.call, to: "bob") && ledger.isOpen(Self.call, to: "eve"))
    let people: [(String, CallStanding.Stand)] = [("ada", Self.active), ("bob", .rung), ("eve", .rung)]
    #expect(ledger.note(Self.standing(people, hidden: ["bob"]), of: Self.call, now: 0).isEmpty)
    #expect(ledger.note(Self.standing(people), of: Self.call, now: 0).count == 1)
    #expect(ledger.note(Self.standing(people, hidden: ["bob", "eve"]), of: Self.call, now: 0).count == 1)
    // Rung already, it isn't rung again; once that is over it is.
    ledger.blocks = []
    ledger.ring(["bob"], in: Self.call, by: "ada")
    #expect(!ledger.isOpen(Self.call, to: "bob"))
    let over: [(String, CallStanding.Stand)] = [
      ("ada", Self.active), ("bob", .left(reason: "timedOut", at: 5)), ("eve", .rung),
    ]
    #expect(ledger.note(Self.standing(over, hidden: ["bob"]), of: Self.call, now: 0).isEmpty)
    ledger.ring(["bob"], in: Self.call, by: "ada")
    #expect(ledger.isOpen(Self.call, to: "bob"))
  }

  @Test func `what is wrapped for a device is for that one alone`() {
    var ledger = Self.ledger("bob")
    let word = ledger.word(.letter, by: "ada")
    ledger.bring(word, to: .person("bob", device: "bob1"))
    #expect(Self.fault(&ledger, word, "bob", device: "bob1") == nil)
    #expect(Self.fault(&ledger, word, "bob", device: "bob2") != nil)
    #expect(Self.fault(&ledger, word, "ada", device: "ada1") == nil)
    #expect(ledger.fault(in: Array(word.utf8), given: .administrator) != nil)
    let secret = ledger.word(.secret)
    #expect(Self.fault(&ledger, secret, "bob") != nil)
    #expect(ledger.claim("99999999-2222-4333-8444-555555555555", for: "bob") == nil)
    #expect(ledger.claim("99999999-2222-4333-8444-555555555555", for: "ada") != nil)
  }

  @Test func `what is shared is for those who are in the call by then, and for none who was removed before`()
  {
    var ledger = Self.ledger("bob", "eve")
    ledger.begin(session: Self.session, in: Self.call, by: "ada")
    let early = ledger.word(.shared, session: Self.session, by: "ada")
    let people: [(String, CallStanding.Stand)] = [("ada", Self.active), ("bob", Self.active), ("eve", .rung)]
    _ = ledger.note(Self.standing(people), of: Self.call, now: 0)
    #expect(Self.fault(&ledger, early, "bob") == nil && Self.fault(&ledger, early, "eve") != nil)
    #expect(Self.fault(&ledger, Self.session, "eve") == nil)
    ledger.begin(turn: 1)
    let removed: [(String, CallStanding.Stand)] = [
      ("ada", Self.active), ("bob", .left(reason: "removed", at: 5)), ("eve", .rung),
    ]
    _ = ledger.note(Self.standing(removed), of: Self.call, now: 0)
    ledger.begin(turn: 2)
    let late = ledger.word(.shared, session: Self.session, by: "ada")
    #expect(Self.fault(&ledger, early, "bob") == nil && Self.fault(&ledger, late, "bob") != nil)
    let copy = "cccccccc-2222-4333-8444-555555555555"
    ledger.begin(session: copy, in: Self.call, by: "eve", from: Self.session)
    #expect(Self.fault(&ledger, early, "eve") == nil && Self.fault(&ledger, copy, "bob") != nil)
  }

  @Test func `a name is known where its person is, until that is forgotten`() {
    var ledger = Self.ledger("bob")
    let name = ledger.word(.name(of: "bob"), by: "bob")
    #expect(Self.fault(&ledger, name, "ada") == nil && Self.fault(&ledger, name, "trudy") != nil)
    ledger.forget("bob")
    #expect(Self.fault(&ledger, name, "ada") != nil && Self.fault(&ledger, name, "bob") != nil)
    let next = ledger.word(.name(of: "bob"), by: "bob")
    #expect(Self.fault(&ledger, next, "ada") == nil)
  }

  @Test func `a call that goes against its rules is found`() {
    typealias People = [(String, CallStanding.Stand)]
    var ledger = Self.ledger("bob")
    func faults(_ people: People, isOver: Bool = false, now: Int64 = 0) -> Int {
      ledger.note(Self.standing(people, isOver: isOver), of: Self.call, now: now).count
    }
    let gone = CallStanding.Stand.left(reason: "userLeft", at: 1)
    #expect(faults([("ada", Self.active), ("bob", gone)]) == 0)
    #expect(faults([("ada", Self.active), ("bob", gone), ("mallory", .rung)]) == 2)
    #expect(faults([("ada", Self.active), ("bob", .left(reason: "rejected", at: 2))], now: 1) == 1)
    #expect(faults([("ada", Self.active), ("bob", .left(reason: "removed", at: 2))], now: 2) == 0)
    #expect(faults([("ada", Self.active), ("bob", .rung)], now: 3) == 1)
    #expect(faults([("ada", Self.active), ("bob", gone)], now: 4) == 0)
    // One is alone for a minute at most.
    #expect(faults([("ada", Self.active), ("bob", gone)], now: 60_000) == 0)
    #expect(faults([("ada", Self.active), ("bob", gone)], now: 70_000) == 1)
    #expect(faults([("ada", gone), ("bob", gone)], isOver: true) == 0)
    #expect(faults([("ada", gone), ("bob", gone)], isOver: true) == 0)
    #expect(faults([("ada", gone), ("bob", Self.active)], isOver: true) == 1)
  }
}
