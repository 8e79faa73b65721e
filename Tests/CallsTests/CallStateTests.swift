import Foundation
import Testing

@testable import Calls

@Suite("A call of its people", .timeLimit(.minutes(1)))
struct CallStateTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  private func uuid(_ number: Int) -> CallUUID { CallUUID(random: (high: 0, low: UInt64(number))) }
  private func at(_ milliseconds: Int64) -> CallTime {
    CallTime(wall: 1_790_000_000_000 + milliseconds, steady: milliseconds)
  }

  private func call(_ others: PersonID..., path: CallPath = .relay) throws -> CallState {
    var start = CallState.Start(
      id: uuid(1), caller: ada, device: DeviceID("ada1"), session: uuid(2),
      recipients: others.enumerated().map { CallInvitation($1, ring: uuid(10 + $0)) }, media: .audio)
    start.path = path
    return try CallState.start(start, at: at(0)).0
  }

  private func join(_ person: PersonID, _ device: Int = 1, session: Int, takeover: Bool = false) -> CallEvent
  {
    .join(person, DeviceID(person.text + "\(device)"), session: uuid(session), takeover: takeover)
  }

  @Test func `media of a session before the device joined again still ends the call when it goes`() throws {
    var call = try call(bob)
    _ = call.apply(join(bob, session: 50), at: at(100))
    for (person, session) in [(ada, 2), (bob, 50)] {
      _ = call.apply(.mediaCame(person, session: uuid(session)), at: at(200))
    }
    _ = call.apply(join(bob, session: 51), at: at(300))
    _ = call.apply(join(ada, session: 3), at: at(300))
    #expect(call.deadline == nil)
    _ = call.apply(.mediaWent(bob, session: uuid(50)), at: at(400))
    _ = call.apply(.mediaWent(ada, session: uuid(2)), at: at(400))
    #expect(call.deadline == 400 + CallTerms().grace)
    _ = call.apply(.time, at: at(400 + CallTerms().grace))
    #expect(call.end?.outcome == .answered)
  }

  @Test func `a device that joins again has the whole time for its media again`() throws {
    var call = try call(bob)
    _ = call.apply(join(bob, session: 50), at: at(0))
    _ = call.apply(.mediaCame(ada, session: uuid(2)), at: at(100))
    _ = call.apply(join(bob, session: 51), at: at(19_900))
    #expect(call.deadline == 39_900)
  }

  @Test func `what a device says that isn't the one in the call takes no one out of it`() throws {
    var call = try call(bob, eve)
    _ = call.apply(join(bob, session: 50), at: at(100))
    // It declined as the other one answered.
    #expect(call.apply(.leave(bob, DeviceID("bob2"), .rejected), at: at(150)).effects.isEmpty)
    #expect(call.active == [ada, bob])
    let moved = call.apply(join(bob, 2, session: 51, takeover: true), at: at(200)).effects
    #expect(moved == [.close(bob, session: uuid(50), .movedElsewhere)])
    #expect(call.apply(.leave(bob, DeviceID("bob1"), .userLeft), at: at(250)).effects.isEmpty)
    #expect(call.active == [ada, bob])
    _ = call.apply(.leave(bob, DeviceID("bob2"), .userLeft), at: at(300))
    #expect(call.active == [ada])
  }

  @Test func `people have their time to come back after a restart, however long the server was gone`() throws
  {
    var call = try call(bob, eve)
    _ = call.apply(join(bob, session: 50), at: at(1_000))
    _ = call.apply(.mediaCame(bob, session: uuid(50)), at: at(1_500))
    let bytes = try JSONEncoder().encode(call)
    // Ada's media was awaited until 20 s, eve's ring until 30 s. The clock begins at 7 again.
    let now = CallTime(wall: at(40_000).wall, steady: 7)
    var back = try JSONDecoder().decode(CallState.self, from: bytes).carried(
      from: at(0).offset, to: now, terms: CallTerms())
    let effects = back.apply(.restart, at: now).effects
    #expect(effects == [.ringEnded(eve, ring: uuid(11), .timedOut, except: nil), .updated])
    #expect(back.active == [ada, bob] && back.deadline == 7 + 30_000)
    var alone = try self.call(bob)
    _ = alone.apply(join(bob, session: 50), at: at(0))
    _ = alone.apply(.leave(bob, nil, .networkError), at: at(1_000))
    var again = alone.carried(
      from: at(0).offset, to: CallTime(wall: at(90_000).wall, steady: 0), terms: CallTerms())
    _ = again.apply(.restart, at: CallTime(wall: at(90_000).wall, steady: 0))
    #expect(!again.isEnded && again.deadline == 30_000)
  }

  @Test func `a call that is written down goes on in another process with the same moments`() throws {
    var call = try call(bob, eve)
    _ = call.apply(join(bob, session: 50), at: at(1_000))
    _ = call.apply(.mediaCame(bob, session: uuid(50)), at: at(2_000))
    let bytes = try JSONEncoder().encode(call)
    let now = CallTime(wall: at(12_000).wall, steady: 7)
    let read = try JSONDecoder().decode(CallState.self, from: bytes).carried(
      from: at(0).offset, to: now, terms: CallTerms())
    #expect(read.deadline == 7 + 8_000 && read[eve]?.ring?.until == 7 + 18_000)
    #expect(read.carried(from: now.offset, to: at(2_000), terms: CallTerms()) == call)
  }

  @Test func `where the clock was set back nothing takes longer than it may`() throws {
    var call = try call(bob)
    _ = call.apply(join(bob, session: 50), at: at(0))
    _ = call.apply(.leave(bob, nil, .networkError), at: at(0))
    let now = CallTime(wall: at(-3_600_000).wall, steady: 0)
    let read = call.carried(from: at(0).offset, to: now, terms: CallTerms())
    #expect(try #require(read.deadline) <= 60_000)
  }

  @Test func `media that its room has waited for is waited for no longer here`() throws {
    var call = try call(bob)
    _ = call.apply(join(bob, session: 50), at: at(100))
    for (person, session) in [(ada, 2), (bob, 50)] {
      _ = call.apply(.mediaCame(person, session: uuid(session)), at: at(200))
    }
    // It went, as a page that loads again does, and has its time to come back.
    _ = call.apply(.mediaWent(bob, session: uuid(50)), at: at(300))
    #expect(call.deadline == 300 + CallTerms().grace)
    // Known later: it was lost long ago.
    _ = call.apply(.mediaWent(bob, session: uuid(50), isLost: true), at: at(400))
    #expect(call.deadline == 400 + CallTerms().afterRoom)
    _ = call.apply(.mediaWent(ada, session: uuid(2), isLost: true), at: at(500))
    #expect(call.deadline == 400 + CallTerms().afterRoom)
  }

  @Test func `a direct call is connected when two people say so, and its people are there by their events`()
    throws
  {
    var call = try call(bob, path: .direct)
    _ = call.apply(join(bob, session: 50), at: at(100))
    for (person, session) in [(ada, 2), (bob, 50)] {
      _ = call.apply(.mediaCame(person, session: uuid(session)), at: at(200))
    }
    #expect(call.connectedAt == nil && call.deadline == nil)
    _ = call.apply(.saidConnected(ada, DeviceID("ada1")), at: at(300))
    _ = call.apply(.saidConnected(bob, DeviceID("bob2")), at: at(350))
    #expect(call.connectedAt == nil)
    _ = call.apply(.saidConnected(bob, DeviceID("bob1")), at: at(400))
    #expect(call.connectedAt == at(400))
    _ = call.apply(.mediaWent(bob, session: uuid(50)), at: at(500))
    #expect(call.deadline == 45_500)
  }

  @Test func `what people don't see is no news to them`() throws {
    var call = try call(bob, eve)
    _ = call.apply(join(bob, session: 50), at: at(100))
    #expect(call.apply(.mediaCame(bob, session: uuid(50)), at: at(200)).effects.isEmpty)
    #expect(call.apply(.mediaWent(bob, session: uuid(50)), at: at(300)).effects.isEmpty)
    #expect(call.apply(join(bob, session: 51), at: at(400)).effects.isEmpty)
    let before = call.updatedAt
    #expect(call.apply(.change(by: bob, CallChange(metadata: "x")), at: at(500)).effects == [.updated])
    #expect(call.updatedAt > before && call.metadata == "x")
    #expect(call.apply(.change(by: bob, CallChange(metadata: "x")), at: at(600)).effects.isEmpty)
    #expect(call.apply(.change(by: eve, CallChange(metadata: "y")), at: at(600)).refusal == .notAllowed)
    #expect(call.apply(.change(by: bob, CallChange(metadata: .some(nil))), at: at(700)).effects == [.updated])
    #expect(call.metadata == nil)
  }

  @Test func `what the server alone may say of one who leaves isn't taken from a client`() throws {
    for reason in [LeaveReason.cancelled, .busy, .removed] {
      var call = try call(bob)
      #expect(call.apply(.leave(bob, nil, reason), at: at(1)).refusal == .notAllowed && call.invited == [bob])
    }
  }

  @Test func `the call ends when the only other one who ever was in it hangs up, and others were only rung`()
    throws
  {
    var call = try call(bob, eve)
    _ = call.apply(join(bob, session: 50), at: at(100))
    _ = call.apply(.leave(eve, nil, .rejected), at: at(200))
    let effects = call.apply(.leave(bob, nil, .userLeft), at: at(300)).effects
    #expect(effects.last == .ended && call.end?.by == bob)
  }

  @Test func `one whom an admin removes after having left is barred, and left when it did`() throws {
    var call = try call(bob, eve)
    _ = call.apply(join(bob, session: 50), at: at(100))
    _ = call.apply(.leave(bob, nil, .userLeft), at: at(200))
    #expect(call.apply(.remove(bob), at: at(900)).effects == [.revoke(bob), .updated])
    #expect(call[bob]?.leftAt == at(200).wall)
    #expect(call.apply(join(bob, session: 51), at: at(1_000)).refusal == .removed)
    _ = call.apply(.invite(by: ada, [CallInvitation(bob, ring: uuid(99))]), at: at(1_100))
    #expect(call[bob]?.ring == nil)
  }

  @Test func `each one's history is of what became of it for them`() throws {
    var call = try call(bob, eve)
    // Bob's media never comes, and bob goes before the others talk.
    _ = call.apply(join(bob, session: 50), at: at(100))
    _ = call.apply(.mediaCame(ada, session: uuid(2)), at: at(200))
    _ = call.apply(.leave(bob, nil, .userLeft), at: at(300))
    _ = call.apply(join(eve, session: 60), at: at(400))
    _ = call.apply(.mediaCame(eve, session: uuid(60)), at: at(500))
    #expect(call.outcome(for: bob) == .failed && call.outcome(for: eve) == nil)
    _ = call.apply(.leave(eve, nil, .userLeft), at: at(600))
    #expect(call.outcome(for: eve) == .answered && call.outcome(for: bob) == .failed)
  }

  @Test func `one who waits in vain has not hung up`() throws {
    var call = try call(bob)
    _ = call.apply(.mediaCame(ada, session: uuid(2)), at: at(100))
    _ = call.apply(.time, at: at(30_000))
    #expect(call.end?.outcome == .missed && call[ada]?.leaveReason == .timedOut)
    #expect(call.outcome(for: ada) == .missed && call.outcome(for: bob) == .missed)
  }
}
