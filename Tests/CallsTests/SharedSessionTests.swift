import Foundation
import Testing

@testable import Calls

@Suite("A shared session", .timeLimit(.minutes(1)))
struct SharedSessionTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  private func at(_ milliseconds: Int64) -> CallTime {
    CallTime(wall: 1_790_000_000_000 + milliseconds, steady: milliseconds)
  }

  private func session() -> SharedSession {
    SharedSession(
      CallUUID(random: (0, 1)), of: CallUUID(random: (0, 2)), experience: "story", by: ada, at: at(0))
  }

  @Test func `events of people and of the server are numbered together, and only participants append`() throws
  {
    var session = session()
    let first = try session.append(by: ada)
    let joined = try session.join(bob, at: at(1))
    let second = try session.append(by: bob)
    #expect([first, joined[0].seq, second] == [1, 2, 3] && joined[0].type == "system.joined")
    #expect(try session.join(bob, at: at(2)).isEmpty && session.lastSeq == 3)
    #expect(throws: SharedSessionRefusal.notAllowed) { try session.append(by: eve) }
    #expect(session.lastSeq == 3)
  }

  @Test
  func `an owner who leaves is followed by the longest present who accepts, each asked for five seconds`()
    throws
  {
    var session = session()
    _ = try session.join(bob, at: at(1))
    _ = try session.join(eve, at: at(2))
    let said = session.leave(ada, at: at(1_000))
    #expect(said.map(\.type) == ["system.left", "system.ownerLeft"] && session.status == .degraded)
    #expect(session.offer?.to == bob && session.offer?.until == 6_000)
    #expect(throws: SharedSessionRefusal.notAllowed) { try session.answerOffer(true, by: eve, at: at(2_000)) }
    _ = session.advance(to: at(6_000))
    #expect(session.offer?.to == eve && session.deadline == 11_000)
    // Who declines is asked again once all were.
    _ = try session.answerOffer(false, by: eve, at: at(7_000))
    #expect(session.offer?.to == bob)
    let taken = try session.answerOffer(true, by: bob, at: at(8_000))
    #expect(taken.map(\.what) == [.ownerChanged(bob)] && session.status == .active && session.deadline == nil)
  }

  @Test func `without an owner for a minute it ends, also with no one in it`() throws {
    var session = session()
    _ = try session.join(bob, at: at(1))
    _ = session.leave(ada, at: at(1_000))
    for second in stride(from: 6_000, to: 61_000, by: 5_000) {
      #expect(session.advance(to: at(Int64(second))).isEmpty)
    }
    #expect(session.advance(to: at(61_000)).map(\.what) == [.ended] && session.endedAt != nil)
    #expect(throws: SharedSessionRefusal.ended) { try session.append(by: bob) }
    var empty = self.session()
    _ = empty.leave(ada, at: at(0))
    #expect(empty.offer == nil && empty.deadline == 60_000)
    _ = try empty.join(eve, at: at(10_000))
    #expect(empty.offer?.to == eve)
  }

  @Test func `only its owner keeps snapshots, hands it over and ends it`() throws {
    var session = session()
    _ = try session.join(bob, at: at(1))
    #expect(throws: SharedSessionRefusal.notAllowed) { try session.keepSnapshot(upTo: 0, by: bob) }
    #expect(throws: SharedSessionRefusal.beyondLast(1)) { try session.keepSnapshot(upTo: 2, by: ada) }
    try session.keepSnapshot(upTo: 1, by: ada)
    #expect(throws: SharedSessionRefusal.staleSnapshot(1)) { try session.keepSnapshot(upTo: 0, by: ada) }
    #expect(session.snapshotSeq == 1 && self.session().snapshotSeq == nil)
    #expect(throws: SharedSessionRefusal.notAllowed) { try session.end(by: bob, at: at(3)) }
    #expect(throws: SharedSessionRefusal.notAllowed) { try session.handOver(to: eve, by: ada) }
    #expect(try session.handOver(to: bob, by: ada).map(\.what) == [.ownerChanged(bob)])
    #expect(throws: SharedSessionRefusal.notAllowed) { try session.end(by: ada, at: at(3)) }
    #expect(try session.end(by: bob, at: at(4)).map(\.type) == ["system.ended"])
    #expect(session.callEnded(at: at(5)).isEmpty)
  }

  @Test func `what is asked again is done already, and only what is new is refused`() throws {
    var session = session()
    _ = try session.join(bob, at: at(1))
    _ = try session.handOver(to: bob, by: ada)
    #expect(try session.handOver(to: bob, by: ada).isEmpty && session.owner == bob)
    #expect(throws: SharedSessionRefusal.notAllowed) { try session.handOver(to: ada, by: ada) }
    #expect(throws: SharedSessionRefusal.notAllowed) { try session.handOver(to: bob, by: eve) }
    _ = session.leave(bob, at: at(2))
    _ = try session.answerOffer(true, by: ada, at: at(3))
    #expect(try session.answerOffer(true, by: ada, at: at(4)).isEmpty && session.owner == ada)
    #expect(try session.answerOffer(false, by: ada, at: at(4)).isEmpty && session.owner == ada)
  }

  @Test func `events wait for a snapshot within bounds of number and bytes`() throws {
    var terms = SharedSessionTerms()
    (terms.events, terms.eventBytes) = (3, 100)
    var session = SharedSession(
      CallUUID(random: (0, 1)), of: CallUUID(random: (0, 2)), experience: "story", by: ada, terms: terms,
      at: at(0))
    #expect(throws: SharedSessionRefusal.full) { try session.append(by: ada, bytes: 101) }
    for _ in 0..<3 { _ = try session.append(by: ada, bytes: 30) }
    #expect(throws: SharedSessionRefusal.full) { try session.append(by: ada) }
    #expect(try session.join(bob, at: at(1)).count == 1, "the server's own are always there")
    try session.keepSnapshot(upTo: 4, by: ada)
    #expect(throws: SharedSessionRefusal.full) { try session.append(by: ada, bytes: 11) }
    session.noteGone(90)
    #expect(try session.append(by: ada, bytes: 100) == 5)
    session.noteGone(1_000)
    #expect(session.eventBytes == 0)
  }

  @Test func `types of the server's own are known by their bytes, whatever characters those make`() {
    for type in ["system.", "system.left", "system.\u{301}left", "system.\u{200D}"] {
      #expect(SystemEvent.isReserved(type), "\(type)")
    }
    for type in ["system", "System.left", "s\u{301}ystem.left", "xsystem.left", ""] {
      #expect(!SystemEvent.isReserved(type), "\(type)")
    }
  }

  @Test func `one who is alone and declines isn't asked again at once`() throws {
    var session = session()
    _ = try session.join(bob, at: at(1))
    _ = session.leave(ada, at: at(1_000))
    for _ in 0..<10 { _ = try session.answerOffer(false, by: bob, at: at(2_000)) }
    #expect(session.offer == SharedSession.Offer(to: bob, until: 6_000))
    _ = session.advance(to: at(6_000))
    #expect(session.offer == SharedSession.Offer(to: bob, until: 11_000))
  }

  @Test func `it goes on in another process as it stood`() throws {
    var session = session()
    _ = try session.join(bob, at: at(1))
    _ = try session.append(by: bob)
    _ = session.leave(ada, at: at(1_000))
    let bytes = try JSONEncoder().encode(session)
    let now = CallTime(wall: at(3_000).wall, steady: 70)
    let read = try JSONDecoder().decode(SharedSession.self, from: bytes)
      .carried(from: at(0).offset, to: now, terms: SharedSessionTerms())
    #expect(read.lastSeq == session.lastSeq && read.participants == [bob] && read.status == .degraded)
    #expect(read.offer == SharedSession.Offer(to: bob, until: 70 + 3_000) && read.deadline == 70 + 3_000)
  }
}
