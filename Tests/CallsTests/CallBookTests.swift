import Foundation
import Testing

@testable import Calls

/// Calls as a store would keep them between requests: each is decided by a book of those that are about the same people.
struct Calls {
  var terms = CallBook.Terms()
  var rates = CallRates()
  private(set) var all: [CallUUID: CallState] = [:]
  private(set) var last: [CallBook.Change] = []

  var open: [CallState] { all.values.filter { !$0.isEnded } }

  mutating func start(_ wanted: CallState.Start, at now: CallTime) throws(CallBook.Refusal) -> CallUUID {
    var book = CallBook(open, terms: terms, at: now)
    defer { keep(book) }
    return try book.start(wanted, rates: &rates, at: now)
  }

  mutating func apply(_ event: CallEvent, to id: CallUUID, at now: CallTime) throws(CallBook.Refusal) {
    var book = CallBook(open, terms: terms, at: now)
    defer { keep(book) }
    try book.apply(event, to: id, rates: &rates, at: now)
  }

  mutating func advance(to now: CallTime) { keep(CallBook(open, terms: terms, at: now)) }

  private mutating func keep(_ book: CallBook) {
    last = book.changes
    for change in book.changes { all[change.after.id] = change.after }
  }
}

@Suite("Calls beside each other", .timeLimit(.minutes(1)))
struct CallBookTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")
  private let zoe = PersonID("zoe")

  private func uuid(_ number: Int) -> CallUUID { CallUUID(random: (high: 0, low: UInt64(number))) }
  private func at(_ milliseconds: Int64) -> CallTime {
    CallTime(wall: 1_790_000_000_000 + milliseconds, steady: milliseconds)
  }

  private func start(_ number: Int, _ caller: PersonID, _ others: PersonID...) -> CallState.Start {
    CallState.Start(
      id: uuid(number), caller: caller, device: DeviceID(caller.text), session: uuid(number + 100),
      recipients: others.enumerated().map { CallInvitation($1, ring: uuid(number + 200 + $0)) }, media: .audio
    )
  }

  private func join(_ person: PersonID, session: Int) -> CallEvent {
    .join(person, DeviceID(person.text), session: uuid(session), takeover: false)
  }

  @Test func `who is called by the one whom it calls at this moment joins that call`() throws {
    var calls = Calls()
    _ = try calls.start(start(1, bob, ada), at: at(0))
    #expect(try calls.start(start(2, ada, bob), at: at(100)) == uuid(1))
    #expect(calls.all.count == 1 && calls.all[uuid(1)]?.active == [bob, ada])
  }

  @Test func `one who lost the network and calls the other again joins where that one rings`() throws {
    var calls = Calls()
    _ = try calls.start(start(1, ada, bob), at: at(0))
    try calls.apply(join(bob, session: 50), to: uuid(1), at: at(100))
    try calls.apply(.leave(ada, nil, .networkError), to: uuid(1), at: at(200))
    try calls.apply(.invite(by: bob, [CallInvitation(ada, ring: uuid(60))]), to: uuid(1), at: at(300))
    #expect(try calls.start(start(2, ada, bob), at: at(400)) == uuid(1))
  }

  @Test(arguments: ["a group", "another", "over", "silent", "encrypted", "direct"])
  func `only a call of two of the same kind that rings here is joined so`(what: String) throws {
    var calls = Calls()
    var first = start(1, bob, ada)
    if what == "a group" { first = start(1, bob, ada, eve) }
    if what == "silent" { first.recipients[0].isSilent = true }
    if what == "encrypted" { first.isEncrypted = true }
    if what == "direct" { first.path = .direct }
    _ = try calls.start(first, at: at(0))
    let second = what == "another" ? start(2, ada, eve) : start(2, ada, bob)
    #expect(try calls.start(second, at: at(what == "over" ? 30_000 : 100)) == uuid(2))
  }

  @Test func `what is over by then is no call that is joined, and keeps no one busy`() throws {
    var calls = Calls()
    // No media of bob comes: at 20 s the call is over, whether anyone has looked or not.
    _ = try calls.start(start(1, bob, ada), at: at(0))
    #expect(try calls.start(start(2, ada, bob), at: at(20_000)) == uuid(2))
    #expect(calls.all[uuid(1)]?.end?.outcome == .failed && calls.all[uuid(2)]?[bob]?.ring != nil)
  }

  @Test func `who is in another call isn't rung, and who is only rung is`() throws {
    var calls = Calls()
    _ = try calls.start(start(1, ada, bob), at: at(0))
    // Bob is rung by ada, and in no call yet.
    _ = try calls.start(start(2, eve, bob), at: at(100))
    #expect(calls.all[uuid(2)]?[bob]?.ring != nil)
    try calls.apply(join(bob, session: 50), to: uuid(1), at: at(200))
    _ = try calls.start(start(3, zoe, bob), at: at(300))
    let over = try #require(calls.last.last)
    #expect(over.before == nil && over.effects == [.close(zoe, session: uuid(103), .callEnded), .ended])
    #expect(over.after.end?.outcome == .busy && over.after.outcome(for: bob) == .missed)
    var other = Calls()
    other.terms.ringsBusy = true
    _ = try other.start(start(1, ada, bob), at: at(0))
    try other.apply(join(bob, session: 50), to: uuid(1), at: at(200))
    _ = try other.start(start(2, eve, bob), at: at(300))
    #expect(other.all[uuid(2)]?[bob]?.ring?.isBusy == true)
  }

  @Test func `who is blocked hears no difference between one who is in a call and one who doesn't answer`()
    throws
  {
    var calls = Calls()
    _ = try calls.start(start(1, eve, bob), at: at(0))
    try calls.apply(join(bob, session: 50), to: uuid(1), at: at(100))
    var wanted = start(2, ada, bob)
    wanted.recipients[0].isSilent = true
    _ = try calls.start(wanted, at: at(200))
    #expect(calls.all[uuid(2)]?.invited == [bob] && calls.all[uuid(2)]?.isOpen(to: bob) == false)
    #expect(throws: CallBook.Refusal.call(.unknown)) {
      try calls.apply(join(bob, session: 51), to: uuid(2), at: at(300))
    }
    for (person, session) in [(eve, 101), (bob, 50)] {
      try calls.apply(.mediaCame(person, session: uuid(session)), to: uuid(1), at: at(400))
    }
    try calls.apply(.mediaCame(ada, session: uuid(102)), to: uuid(2), at: at(400))
    calls.advance(to: at(30_200))
    #expect(calls.last.map(\.after.id) == [uuid(2)] && calls.last[0].after.end?.outcome == .missed)
    #expect(!calls.last[0].effects.contains { if case .ringEnded = $0 { true } else { false } })
  }

  @Test func `ten calls a minute and three rings of the same person are enough`() throws {
    var calls = Calls()
    for number in 0..<3 {
      _ = try calls.start(start(number * 1_000, ada, bob), at: at(Int64(number)))
      try calls.apply(.leave(ada, nil, .userLeft), to: uuid(number * 1_000), at: at(Int64(number)))
    }
    #expect(throws: CallBook.Refusal.tooOften(59_990)) { try calls.start(start(4_000, ada, bob), at: at(10)) }
    for number in 4..<11 {
      _ = try calls.start(start(number * 1_000, ada, PersonID("\(number)")), at: at(20))
    }
    #expect(throws: CallBook.Refusal.tooOften(59_970)) {
      try calls.start(start(20_000, ada, PersonID("x")), at: at(30))
    }
    _ = try calls.start(start(20_000, ada, bob), at: at(60_010))
  }

  @Test
  func `invitations that are refused, repeated or ring no one cost no rings and are remembered nowhere`()
    throws
  {
    var calls = Calls()
    _ = try calls.start(start(1, ada, bob), at: at(0))
    let size = calls.rates.size
    let many = (0..<1_000).map { CallInvitation(PersonID("p\($0)"), ring: uuid(5_000 + $0)) }
    #expect(throws: CallBook.Refusal.call(.tooManyPeople(most: 32))) {
      try calls.apply(.invite(by: ada, many), to: uuid(1), at: at(10))
    }
    for _ in 0..<9 {
      #expect(throws: CallBook.Refusal.call(.unknown)) {
        try calls.apply(.invite(by: eve, [many[0]]), to: uuid(1), at: at(10))
      }
      #expect(throws: CallBook.Refusal.call(.unknown)) {
        try calls.apply(.invite(by: eve, [many[0]]), to: uuid(2), at: at(10))
      }
      // Rung already: unchanged.
      try calls.apply(.invite(by: ada, [CallInvitation(bob, ring: uuid(70))]), to: uuid(1), at: at(10))
    }
    #expect(calls.rates.size == size)
  }

  @Test func `one who is busy is invited no more often than one who is rung`() throws {
    var calls = Calls()
    _ = try calls.start(start(1, eve, bob), at: at(0))
    try calls.apply(join(bob, session: 50), to: uuid(1), at: at(10))
    _ = try calls.start(start(2, ada, zoe), at: at(20))
    try calls.apply(join(zoe, session: 51), to: uuid(2), at: at(30))
    for number in 0..<3 {
      let invitation = CallInvitation(bob, ring: uuid(60 + number))
      try calls.apply(.invite(by: ada, [invitation]), to: uuid(2), at: at(40 + Int64(number)))
      #expect(calls.all[uuid(2)]?[bob]?.leaveReason == .busy)
    }
    #expect(throws: CallBook.Refusal.tooOften(59_990)) {
      try calls.apply(.invite(by: ada, [CallInvitation(bob, ring: uuid(70))]), to: uuid(2), at: at(50))
    }
  }

  @Test func `a group in which one may not be rung so soon is rung as a whole or not at all`() throws {
    var calls = Calls()
    for number in 0..<3 {
      _ = try calls.start(start(number * 1_000, ada, bob), at: at(0))
      try calls.apply(.leave(ada, nil, .userLeft), to: uuid(number * 1_000), at: at(0))
    }
    for _ in 0..<4 {
      #expect(throws: CallBook.Refusal.tooOften(59_000)) {
        try calls.start(start(9_000, ada, eve, zoe, bob), at: at(1_000))
      }
    }
    _ = try calls.start(start(9_000, ada, eve, zoe), at: at(1_000))
  }

  @Test func `recipients count once, and who calls oneself calls no one`() throws {
    var calls = Calls()
    _ = try calls.start(start(1, ada, bob, bob, ada, eve), at: at(0))
    #expect(calls.all[uuid(1)]?.people.map(\.id) == [ada, bob, eve])
    #expect(throws: CallBook.Refusal.call(.noRecipients)) { try calls.start(start(2, eve, eve), at: at(0)) }
  }

  @Test func `names that look the same are two people`() throws {
    var calls = Calls()
    _ = try calls.start(start(1, ada, PersonID("Jos\u{e9}"), PersonID("Jose\u{301}")), at: at(0))
    #expect(calls.all[uuid(1)]?.people.count == 3)
    #expect(throws: CallBook.Refusal.call(.unknown)) {
      try calls.apply(join(PersonID("\u{e1}da"), session: 9), to: uuid(1), at: at(1))
    }
  }

  @Test func `what is over with time is said of each call with how it stands then`() throws {
    var calls = Calls()
    _ = try calls.start(start(1, ada, bob), at: at(0))
    _ = try calls.start(start(2, eve, zoe), at: at(5_000))
    #expect(calls.open.compactMap(\.deadline).min() == 20_000)
    // No media of ada came.
    calls.advance(to: at(20_000))
    #expect(calls.last.map(\.after.id) == [uuid(1)] && calls.last[0].effects.last == .ended)
    #expect(calls.last[0].after.end?.outcome == .failed && calls.last[0].before?.isEnded == false)
    #expect(calls.open.count == 1)
    #expect(throws: CallBook.Refusal.call(.unknown)) {
      try calls.apply(.leave(PersonID("mallory"), nil, .userLeft), to: uuid(2), at: at(20_001))
    }
  }
}
