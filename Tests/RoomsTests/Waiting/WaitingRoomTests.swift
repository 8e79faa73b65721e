import AccessTokens
import Model
import Testing

@testable import Rooms

@Suite("A room that asks its hosts whom to let in", .timeLimit(.minutes(1)))
struct WaitingRoomTests {
  static let asking = RoomSettings(departureTimeout: 0, admission: true)

  private func host(_ run: StateRun) throws -> StateClient { try run.join("host") { $0.roomAdmin = true } }

  /// Somebody who is in, and is no host.
  private func member(_ run: StateRun, _ identity: String = "member") throws -> StateClient {
    var newcomer = Newcomer(identity: identity, grants: .join("r"))
    newcomer.isAdmitted = true
    return try run.join(newcomer)
  }

  private func refusal(_ reply: RoomReply) -> RequestError? {
    if case .refused(let error) = reply { error } else { nil }
  }

  private func change(_ run: StateRun, _ adjust: (inout RoomPatch) -> Void) {
    var patch = RoomPatch()
    adjust(&patch)
    run.handle(.administration(.change(patch)))
  }

  private func isIn(_ identity: String, _ run: StateRun) -> Bool { run.state.member(of: identity) != nil }

  /// The kinds of the events that it has heard of.
  private func heard(_ client: StateClient) -> [String] {
    client.notices.compactMap { if case .event(let event) = $0 { event.kind.rawValue } else { nil } }
  }

  // MARK: - Waiting

  @Test func `who waits is no participant, takes no place, and is known to hosts alone`() throws {
    let run = StateRun(settings: Self.asking)
    let (host, member) = (try host(run), try member(run))
    let guest = try #require(try run.wait("guest") { $0.name = "Gus" })
    #expect(guest.identity == "guest" && guest.name == "Gus")
    #expect(guest.until == guest.since.advanced(by: .seconds(600)))
    let snapshot = run.state.snapshot(now: run.now)
    #expect(snapshot.participants == 2 && snapshot.waiting == 1 && run.sessions == 2)
    #expect(heard(host).last == "participant.waiting")
    #expect(heard(member) == [])
    #expect(run.events.last?.waiting == EventWaiting(waiter: guest))
    // A host that comes later finds it waiting, and no one else does.
    let second = try run.join("second") { $0.roomAdmin = true }
    #expect(run.joined[second.id]?.waiting == [guest])
    let late = try self.member(run, "late")
    #expect(run.joined[late.id] != nil && run.joined[late.id]?.waiting == nil)
  }

  @Test func `as a room is opened, what is due by then has its events in their order`() throws {
    let run = StateRun(settings: Self.asking)
    let host = try host(run)
    _ = try run.wait("early")
    run.now = run.now + .seconds(300)
    _ = try run.wait("late")
    // The time of the first is over; nothing has looked after that yet.
    run.now = run.now + .seconds(301)
    change(run) { $0.admission = .set(false) }
    #expect(isIn("late", run) && !isIn("early", run) && run.state.waiting.isEmpty)
    let kinds = heard(host)
    #expect(kinds.filter { $0 == "participant.joined" }.count == 1, "\(kinds)")
  }

  @Test func `a token that says so, and one that runs the room, needn't wait`() throws {
    let run = StateRun(settings: Self.asking)
    #expect(try run.wait("admin") { $0.grants.roomAdmin = true } == nil)
    #expect(try run.wait("known") { $0.isAdmitted = true } == nil)
    #expect(try run.wait("stranger") != nil)
    #expect(run.state.members.map(\.identity) == ["admin", "known"])
  }

  @Test func `a door that can't wait is refused, and so is a transport without a socket`() throws {
    let run = StateRun(settings: Self.asking)
    #expect(throws: JoinError.admissionRequired) { try run.join("guest") }
    let error = #expect(throws: StandaloneError.self) { try run.whip("cam", [.video]) }
    guard case .joining(.admissionRequired)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // Also where one of its name is in: admission is a session's.
    _ = try member(run, "cam")
    #expect(throws: StandaloneError.self) { try run.whip("cam", [.video]) }
    _ = try run.whip("admin", [.video]) { $0.roomAdmin = true }
  }

  @Test func `fifty wait and no more, and who comes again takes the place of its own`() throws {
    let run = StateRun(settings: Self.asking)
    for number in 0..<50 { _ = try run.wait("guest \(number)") }
    #expect(throws: JoinError.full(limit: 50)) { try run.wait("one too many") }
    let first = run.waiting[0]
    let again = try #require(try run.wait("guest 0"))
    #expect(again.id != first.id && run.state.waiting.count == 50)
    #expect(run.done.contains("turned away guest 0 \(JoinError.waitingEnded(.duplicateIdentity))"))
    // The end of the socket that went is not the end of the one that followed it.
    run.handle(.stopWaiting(first.id, .connectionLost))
    #expect(run.state.waiting.contains { $0.id == again.id })
  }

  @Test func `one waits for ten minutes at most, or as long as its token holds`() throws {
    let run = StateRun(settings: Self.asking)
    _ = try run.wait("patient")
    _ = try run.wait("brief", patience: .seconds(30))
    #expect(run.alarm == run.now + .seconds(30))
    run.now = run.now + .seconds(30)
    run.handle(.alarm)
    #expect(run.state.waiting.map(\.newcomer.identity) == ["patient"])
    run.now = run.now + .seconds(570)
    run.handle(.alarm)
    #expect(run.state.waiting.isEmpty && run.alarm == .never)
    #expect(run.events.compactMap(\.waiting?.reason) == [.timedOut, .timedOut])
    #expect(run.done.last == "turned away patient notAdmitted")
  }

  @Test func `coming to wait again and again is paid for`() throws {
    let run = StateRun(settings: Self.asking)
    var rounds = 0
    let error = #expect(throws: JoinError.self) {
      while rounds < 100 {
        let waiter = try #require(try run.wait("restless"))
        run.handle(.stopWaiting(waiter.id, .left))
        rounds += 1
      }
    }
    #expect(error == .tooOften && rounds == 5)
    #expect(run.state.waiting.isEmpty && run.sessions == 0)
  }

  // MARK: - Hosts decide

  @Test func `a host lets one in, whose event others have without having heard that it waited`() throws {
    let run = StateRun(settings: Self.asking)
    let (host, member) = (try host(run), try member(run))
    let guest = try #require(try run.wait("guest"))
    #expect(refusal(member.ask(.admit(guest.id.text, true))) == .notAllowed("this (roomAdmin)"))
    #expect(refusal(host.ask(.admit("WT_other", true))) == .unknownParticipant)
    #expect(refusal(host.ask(.admit(guest.id.text, true))) == nil)
    #expect(isIn("guest", run) && run.state.waiting.isEmpty && run.sessions == 3)
    #expect(run.done.contains("admitted guest true"))
    #expect(heard(member) == ["participant.joined"])
    #expect(heard(host).suffix(3) == ["participant.waiting", "participant.joined", "waiting.ended"])
    #expect(run.events.last?.waiting?.reason == .admitted)
    #expect(run.events.map(\.id) == Array(1...run.events.count), "numbers have no gap")
    #expect(refusal(host.ask(.admit(guest.id.text, true))) == .unknownParticipant)
  }

  @Test func `who runs the room lets an identity in, by the session that was seen if it says which`() throws {
    let run = StateRun(settings: Self.asking)
    let seen = try #require(try run.wait("guest"))
    let now = try #require(try run.wait("guest"))
    func admit(_ id: WaitingID?) -> AdministrationError? {
      let reply = run.handle(.administration(.admit("guest", id)))
      if case .administrationRefused(let error) = reply { return error } else { return nil }
    }
    #expect(admit(seen.id) == .unknownParticipant)
    #expect(admit(now.id) == nil && isIn("guest", run))
    #expect(admit(nil) == .unknownParticipant)
  }

  @Test func `one that is refused is removed`() throws {
    let run = StateRun(settings: Self.asking)
    let host = try host(run)
    let guest = try #require(try run.wait("guest"))
    #expect(refusal(host.ask(.admit(guest.id.text, false))) == nil)
    let end = "turned away guest \(JoinError.waitingEnded(.removed))"
    #expect(run.done.suffix(3) == ["forbid guest", "wait over", end])
    #expect(run.events.last?.waiting?.reason == .removed)
    // By REST its removal is remembered before the room hears of it.
    _ = try run.wait("other")
    run.handle(.administration(.remove("other")))
    #expect(run.state.waiting.isEmpty && run.events.last?.waiting?.reason == .removed)
  }

  @Test func `a host hears why one can't come in, which goes on waiting`() throws {
    let run = StateRun(settings: RoomSettings(departureTimeout: 0, maxParticipants: 1, admission: true))
    let host = try host(run)
    let guest = try #require(try run.wait("guest"))
    #expect(refusal(host.ask(.admit(guest.id.text, true))) == .joining(.full(limit: 1)))
    change(run) { $0.maxParticipants = .set(9) }
    run.seats = 1
    #expect(refusal(host.ask(.admit(guest.id.text, true))) == .joining(.full(limit: 1)))
    #expect(run.state.waiting.map(\.id) == [guest.id] && run.sessions == 1)
    run.seats = 2
    #expect(refusal(host.ask(.admit(guest.id.text, true))) == nil && isIn("guest", run))
  }

  // MARK: - What keeps them out changes

  @Test func `a room that asks no more lets them in as they came, as many as it has places`() throws {
    let run = StateRun(settings: RoomSettings(departureTimeout: 0, maxParticipants: 3, admission: true))
    _ = try host(run)
    for identity in ["a", "b", "c", "d"] { _ = try run.wait(identity) }
    change(run) { $0.admission = .set(false) }
    #expect(run.state.members.map(\.identity) == ["host", "a", "b"])
    #expect(run.state.waiting.isEmpty && run.sessions == 3)
    #expect(run.events.compactMap(\.waiting?.reason) == [.admitted, .admitted, .refused, .refused])
    #expect(run.done.last == "turned away d full(limit: 3)")
    #expect(run.events.map(\.id) == Array(1...run.events.count))
  }

  @Test func `a locked room lets no new session in, and who is in comes back`() throws {
    let run = StateRun(settings: RoomSettings(departureTimeout: 0))
    let ada = try run.join("ada")
    change(run) { $0.isLocked = .set(true) }
    #expect(run.state.info.isLocked && run.kinds().last == "room.updated")
    #expect(throws: JoinError.locked) { try run.join("bob") }
    #expect(throws: JoinError.locked) { try run.join("ada") }
    #expect(throws: StandaloneError.self) { try run.whip("ada", [.video]) }
    ada.ask(.absent)
    #expect(refusal(ada.ask(.present(after: 0))) == nil && isIn("ada", run))
    _ = try run.join("boss") { $0.roomAdmin = true }
    change(run) { $0.isLocked = .remove }
    _ = try run.join("bob")
  }

  @Test func `those who wait as a room is locked wait on, and no host lets them in until it isn't`() throws {
    let run = StateRun(settings: Self.asking)
    let host = try host(run)
    let guest = try #require(try run.wait("guest"))
    change(run) { $0.isLocked = .set(true) }
    #expect(throws: JoinError.locked) { try run.wait("late") }
    #expect(refusal(host.ask(.admit(guest.id.text, true))) == .joining(.locked))
    change(run) { $0.admission = .set(false) }
    #expect(run.state.waiting.count == 1)
    change(run) { $0.isLocked = .set(false) }
    #expect(isIn("guest", run))
  }

  // MARK: - What ends it

  @Test func `a session that comes in ends the wait of an earlier one of its name`() throws {
    let run = StateRun(settings: Self.asking)
    let early = try #require(try run.wait("guest"))
    let late = try member(run, "guest")
    #expect(run.state.waiting.isEmpty && late.member != nil)
    #expect(run.events.contains { $0.waiting?.reason == .duplicateIdentity })
    // Nothing that is said of the earlier one concerns the later.
    run.handle(.stopWaiting(early.id, .connectionLost))
    let host = try host(run)
    #expect(refusal(host.ask(.admit(early.id.text, true))) == .unknownParticipant)
    #expect(late.member != nil)
  }

  @Test(
    arguments: [(.roomClosed, .roomClosed, .noRoom), (.serverShutdown, .serverShutdown, .draining)]
      as [(LeaveReason, WaitingEndReason, JoinError)])
  func `who waits goes with the room, and no one waits in one that is over`(
    reason: LeaveReason, end: WaitingEndReason, refused: JoinError
  ) throws {
    let run = StateRun(settings: Self.asking)
    _ = try run.wait("guest")
    run.handle(.close(reason))
    #expect(run.state.waiting.isEmpty && run.events.last?.waiting?.reason == end)
    #expect(run.done.last == "turned away guest \(JoinError.waitingEnded(reason))")
    #expect(throws: refused) { try run.wait("late") }
  }

  @Test func `who waits as the server drains hears that it stops`() throws {
    let run = StateRun(settings: Self.asking)
    _ = try run.wait("guest")
    run.handle(.drain(until: WallTime(milliseconds: 5)))
    #expect(run.state.waiting.isEmpty && run.events.last?.waiting?.reason == .serverShutdown)
    #expect(throws: JoinError.draining) { try run.wait("late") }
  }

  // MARK: - Coming back, and going on from bytes

  @Test func `a host that comes back has missed who waits, and others have missed nothing`() throws {
    let run = StateRun(settings: Self.asking)
    let (host, member) = (try host(run), try member(run))
    for client in [host, member] { client.ask(.absent) }
    _ = try run.wait("guest")
    for (client, kinds) in [(host, ["participant.waiting"]), (member, [])] {
      client.ask(.present(after: 3))
      let states = client.notices.compactMap { if case .resumed(let state) = $0 { state } else { nil } }
      let state = try #require(states.last)
      #expect(state.missed.map(\.kind.rawValue) == kinds && state.lastEvent == 4)
    }
  }

  @Test func `a room goes on from its bytes with who waits`() throws {
    let run = StateRun(settings: Self.asking)
    let guest = try #require(try run.wait("guest") { $0.metadata = "m" })
    let bytes = run.state.bytes
    try run.rebuild()
    #expect(run.state.bytes == bytes && run.state.waiting.map(\.waiter) == [guest])
    let host = try host(run)
    #expect(refusal(host.ask(.admit(guest.id.text, true))) == nil)
    #expect(run.state.members.last?.metadata == "m")
    for count in 0..<bytes.count {
      #expect(throws: StateError.self) {
        _ = try RoomState.rewritten(Array(bytes.prefix(count)), now: run.now)
      }
    }
  }
}
