import FoundationEssentials
import Testing

@testable import Calls

@Suite("Calls beside each other", .timeLimit(.minutes(1)))
struct CallBookTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  private func uuid(_ number: Int) -> CallUUID { CallUUID(random: (high: 0, low: UInt64(number))) }
  private func at(_ milliseconds: Int64) -> CallTime {
    CallTime(wall: 1_790_000_000_000 + milliseconds, steady: milliseconds)
  }

  private func start(_ number: Int, _ caller: PersonID, _ others: PersonID...) -> CallBook.Start {
    CallBook.Start(
      id: uuid(number), caller: caller, device: DeviceID(caller.text), session: uuid(number + 100),
      recipients: others.enumerated().map { CallInvitation($1, ring: uuid(number + 200 + $0)) }, media: .audio
    )
  }

  private func join(_ person: PersonID, session: Int) -> CallEvent {
    .join(person, DeviceID(person.text), session: uuid(session), takeover: false)
  }

  @Test func `who is called by the one whom it calls at this moment joins that call`() throws {
    var book = CallBook()
    _ = try book.start(start(1, bob, ada), at: at(0))
    let answer = try book.start(start(2, ada, bob), at: at(100))
    #expect(answer.isMerged && answer.call == uuid(1) && book.calls.count == 1)
    #expect(book.calls[uuid(1)]?.active == [bob, ada])
  }

  @Test(arguments: ["a group", "another", "over", "silent"])
  func `only a call of two that rings here is joined so`(what: String) throws {
    var book = CallBook()
    var first = start(1, bob, ada)
    if what == "a group" { first = start(1, bob, ada, eve) }
    if what == "silent" { first.recipients[0].isSilent = true }
    _ = try book.start(first, at: at(0))
    let second = what == "another" ? start(2, ada, eve) : start(2, ada, bob)
    let answer = try book.start(second, at: at(what == "over" ? 30_000 : 100))
    #expect(!answer.isMerged && answer.call == uuid(2))
  }

  @Test func `who is in another call isn't rung, and who is only rung is`() throws {
    var book = CallBook()
    _ = try book.start(start(1, ada, bob), at: at(0))
    // Bob is rung by ada, and in no call yet.
    let second = try book.start(start(2, eve, bob), at: at(100))
    #expect(book.calls[second.call]?[bob]?.ring != nil)
    _ = try book.apply(join(bob, session: 50), to: uuid(1), at: at(200))
    let third = try book.start(start(3, PersonID("zoe"), bob), at: at(300))
    #expect(third.changes[0].effects == [.close(PersonID("zoe"), session: uuid(103), .callEnded), .ended])
    #expect(book.calls[uuid(3)] == nil)
    var terms = CallBook.Terms()
    terms.ringsBusy = true
    var other = CallBook(terms: terms)
    _ = try other.start(start(1, ada, bob), at: at(0))
    _ = try other.apply(join(bob, session: 50), to: uuid(1), at: at(200))
    let rung = try other.start(start(2, eve, bob), at: at(300))
    #expect(other.calls[rung.call]?[bob]?.ring?.isBusy == true)
  }

  @Test func `ten calls a minute and three rings of the same person are enough`() throws {
    var book = CallBook()
    for number in 0..<3 {
      _ = try book.start(start(number * 1_000, ada, bob), at: at(Int64(number)))
      _ = try book.apply(.leave(ada, nil, .userLeft), to: uuid(number * 1_000), at: at(Int64(number)))
    }
    #expect(throws: CallBook.Refusal.tooOften(59_990)) { try book.start(start(4_000, ada, bob), at: at(10)) }
    for number in 4..<10 { _ = try book.start(start(number * 1_000, ada, PersonID("\(number)")), at: at(20)) }
    #expect(throws: CallBook.Refusal.tooOften(59_970)) {
      try book.start(start(20_000, ada, PersonID("x")), at: at(30))
    }
    _ = try book.start(start(20_000, ada, bob), at: at(60_010))
  }

  @Test func `an id that was given out is taken, and recipients count once`() throws {
    var book = CallBook()
    let answer = try book.start(start(1, ada, bob, bob, ada, eve), at: at(0))
    #expect(book.calls[answer.call]?.people.map(\.id) == [ada, bob, eve])
    #expect(throws: CallBook.Refusal.idTaken) { try book.start(start(1, eve, bob), at: at(0)) }
    #expect(throws: CallBook.Refusal.call(.noRecipients)) { try book.start(start(2, eve, eve), at: at(0)) }
  }

  @Test func `what is over with time is said of each call, and none is kept behind its end`() throws {
    var book = CallBook()
    _ = try book.start(start(1, ada, bob), at: at(0))
    _ = try book.start(start(2, eve, PersonID("zoe")), at: at(5_000))
    #expect(book.deadline == 20_000)
    // No media of ada came.
    let first = book.advance(to: at(20_000))
    #expect(first.map(\.call) == [uuid(1)] && first[0].effects.last == .ended)
    #expect(book.calls.count == 1 && book.calls(of: ada).isEmpty && book.deadline == 25_000)
    let refused = { (book: CallBook) in
      var book = book
      return try book.apply(
        .leave(PersonID("mallory"), nil, .userLeft), to: self.uuid(2), at: self.at(20_001)
      ).refusal
    }
    #expect(try refused(book) == .unknown)
  }

  @Test func `a call that is written down goes on in another process with the same moments`() throws {
    var book = CallBook()
    _ = try book.start(start(1, ada, bob, eve), at: at(0))
    _ = try book.apply(join(bob, session: 50), to: uuid(1), at: at(1_000))
    _ = try book.apply(.mediaCame(bob, session: uuid(50)), to: uuid(1), at: at(2_000))
    let call = try #require(book.calls[uuid(1)])
    let bytes = try JSONEncoder().encode(call.kept(at: at(2_000)))
    // Its clock begins again: ten seconds later it stands at 7.
    let now = CallTime(wall: at(12_000).wall, steady: 7)
    let read = try JSONDecoder().decode(CallState.self, from: bytes).restored(at: now, terms: CallTerms())
    #expect(read.deadline == 7 + 8_000 && read[eve]?.ring?.until == 7 + 18_000)
    #expect(read.kept(at: now) == call.kept(at: at(2_000)))
    var back = CallBook()
    back.restore(read)
    _ = try back.apply(.restart, to: uuid(1), at: now)
    #expect(back.calls[uuid(1)]?[bob]?.session?.media == .gone(until: 7 + 30_000))
    let until: Int64 = 7 + 18_000
    #expect(back.calls[uuid(1)]?[eve]?.ring?.until == until)
  }
}
