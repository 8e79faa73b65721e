import AccessTokens
import Model
import Testing

@testable import Rooms

@Suite("Those who are kept out, and those who go on waiting", .timeLimit(.minutes(1)))
struct WaitingRefusalTests {
  private func scene() throws -> (run: StateRun, host: StateClient) {
    let run = StateRun(settings: WaitingRoomTests.asking)
    return (run, try run.join("host") { $0.roomAdmin = true })
  }

  private func refusal(_ reply: RoomReply) -> RequestError? {
    if case .refused(let error) = reply { error } else { nil }
  }

  private func refuse(_ run: StateRun, _ identity: String, _ id: WaitingID? = nil) -> AdministrationError? {
    let reply = run.handle(.administration(.refuse(identity, id)))
    if case .administrationRefused(let error) = reply { return error } else { return nil }
  }

  @Test(arguments: [true, false])
  func `refusing one that waits ends no session of its name that is in, nor its tokens`(byHost: Bool) throws {
    let (run, host) = try scene()
    _ = try run.wait("guest") { $0.isAdmitted = true }
    let guest = try #require(run.state.members.last)
    let waiter = try #require(try run.wait("guest"))
    if byHost {
      #expect(refusal(host.ask(.admit(waiter.id.text, false))) == nil)
    } else {
      #expect(refuse(run, "guest", waiter.id) == nil)
    }
    #expect(run.state.waiting.isEmpty && run.state.member(guest.id) != nil && run.sessions == 2)
    #expect(run.done.last == "turned away guest notAdmitted")
    #expect(!run.done.contains("forbid guest"))
    #expect(run.events.last?.waiting?.reason == .refused)
  }

  @Test func `who runs the room refuses an identity that waits, by the session that was seen`() throws {
    let (run, _) = try scene()
    let seen = try #require(try run.wait("guest"))
    let now = try #require(try run.wait("guest"))
    #expect(refuse(run, "guest", seen.id) == .unknownParticipant && run.state.waiting.count == 1)
    #expect(refuse(run, "guest", now.id) == nil && run.state.waiting.isEmpty)
    #expect(run.done.contains("forbid guest"))
    // Who is in and doesn't wait is not refused.
    #expect(refuse(run, "host") == .unknownParticipant && run.state.members.count == 1)
  }

  /// All of an identity's requests but what it takes to come to wait.
  private func spend(_ run: StateRun, _ identity: String) throws {
    for _ in 0..<4 { run.handle(.stopWaiting(try #require(try run.wait(identity)).id, .left)) }
    // At the door where no one waits each costs one.
    for _ in 0..<50 { #expect(throws: StandaloneError.self) { try run.whip(identity, [.video]) } }
  }

  @Test func `one that has spent too much to come in goes on waiting, and comes in a little later`() throws {
    let (run, host) = try scene()
    try spend(run, "guest")
    let guest = try #require(try run.wait("guest"))
    let other = try #require(try run.wait("other"))
    let count = run.events.count
    #expect(refusal(host.ask(.admit(guest.id.text, true))) == .joining(.tooOften))
    #expect(run.state.waiting.map(\.id) == [guest.id, other.id], "in its place among the others")
    #expect(run.sessions == 1 && run.events.count == count)
    run.now = run.now + .seconds(1)
    #expect(refusal(host.ask(.admit(guest.id.text, true))) == nil)
    #expect(run.state.members.map(\.identity) == ["host", "guest"] && run.sessions == 2)
    #expect(run.events.last?.waiting?.reason == .admitted)
  }

  @Test func `where hosts are asked no more, one that can't pay hears why it isn't in`() throws {
    let (run, _) = try scene()
    try spend(run, "guest")
    _ = try run.wait("guest")
    var patch = RoomPatch()
    patch.admission = .set(false)
    run.handle(.administration(.change(patch)))
    #expect(run.state.waiting.isEmpty && run.done.last == "turned away guest tooOften" && run.sessions == 1)
    #expect(run.events.last?.waiting?.reason == .refused)
  }

  @Test func `where as many wait as may, one more is refused, and who needn't wait comes in`() throws {
    let (run, _) = try scene()
    run.waitingSeats = 2
    let first = try #require(try run.wait("a"))
    _ = try run.wait("b")
    let count = run.events.count
    #expect(throws: JoinError.full(limit: 2)) { try run.wait("c") }
    #expect(run.sessions == 1 && run.state.waiting.count == 2 && run.events.count == count)
    #expect(try run.wait("known") { $0.isAdmitted = true } == nil)
    let again = try #require(try run.wait("a"))
    #expect(again.id != first.id && run.state.waiting.map(\.newcomer.identity) == ["b", "a"])
    #expect(run.events.map(\.id) == Array(1...run.events.count))
  }
}
