import AccessTokens
import Model
import Testing

@testable import Rooms

/// Those outside come again and again, by links and identities of their own: what it costs those inside, and those who wait beside them.
@Suite("A flood of those who wait", .timeLimit(.minutes(1)))
struct WaitingFloodTests {
  private static let link = InvitationID(known: "IV_1")
  private static let other = InvitationID(known: "IV_2")

  private func scene() throws -> (run: StateRun, host: StateClient) {
    let run = StateRun(settings: WaitingRoomTests.asking)
    return (run, try run.join("host") { $0.roomAdmin = true })
  }

  private func refusal(_ reply: RoomReply) -> RequestError? {
    if case .refused(let error) = reply { error } else { nil }
  }

  private func waiting(_ run: StateRun) -> [String] { run.state.waiting.map(\.newcomer.identity) }

  // MARK: - Pace

  @Test func `a hundred may come to wait at once, and two a second, whatever identities they have`() throws {
    let (run, _) = try scene()
    for number in 0..<100 {
      let waiter = try #require(try run.wait("guest-\(number)"))
      run.handle(.stopWaiting(waiter.id, .left))
    }
    let (events, sessions) = (run.events.count, run.sessions)
    #expect(throws: JoinError.tooOften) { try run.wait("one-more") }
    #expect(run.events.count == events && run.sessions == sessions, "nothing is said of it")
    #expect(try run.wait("known") { $0.isAdmitted = true } == nil, "who needn't wait comes in")
    run.now = run.now + .seconds(1)
    try run.rebuild()
    #expect(try run.wait("a") != nil && run.wait("b") != nil)
    #expect(throws: JoinError.tooOften) { try run.wait("c") }
  }

  /// As many events as a client may miss are those that are for it.
  @Test func `who comes back has missed nothing of those who wait, however many do, unless it is a host`()
    throws
  {
    let (run, host) = try scene()
    var newcomer = Newcomer(identity: "member", grants: .join("r"))
    newcomer.isAdmitted = true
    let member = try run.join(newcomer)
    let seen = run.events.count
    for number in 0..<501 {
      run.now = run.now + .milliseconds(500)
      let waiter = try #require(try run.wait("guest-\(number)"))
      run.handle(.stopWaiting(waiter.id, .left))
    }
    #expect(run.events.count == seen + 1_002)
    #expect(refusal(member.ask(.present(after: seen))) == nil)
    guard case .resumed(let state)? = member.notices.last else {
      Issue.record("it is not resumed: \(member.notices.count)")
      return
    }
    #expect(state.missed.isEmpty && state.lastEvent == run.events.count)
    #expect(refusal(host.ask(.present(after: seen))) == .gone, "more than it may miss are for a host")
  }

  // MARK: - Places

  /// Fills all places: so many by the link, the others by none.
  private func fill(_ run: StateRun, byLink count: Int) throws {
    for number in 0..<RoomState.waitingLimit {
      _ = try run.wait("w-\(number)") { if number < count { $0.invitation = Self.link } }
    }
  }

  @Test func `of one link that has more than half of the places the newest gives way to others`() throws {
    let (run, _) = try scene()
    try fill(run, byLink: 27)
    for identity in ["stranger", "friend"] {
      _ = try run.wait(identity) { if identity == "friend" { $0.invitation = Self.other } }
    }
    #expect(run.state.waiting.count == RoomState.waitingLimit)
    #expect(!waiting(run).contains("w-26") && !waiting(run).contains("w-25") && waiting(run).contains("w-24"))
    #expect(waiting(run).suffix(2) == ["stranger", "friend"])
    #expect(run.done.contains("turned away w-26 full(limit: 50)"))
    #expect(run.events.compactMap(\.waiting?.reason) == [.refused, .refused])
    // With half of them it keeps no others out.
    #expect(throws: JoinError.full(limit: RoomState.waitingLimit)) { try run.wait("late") }
    #expect(run.events.map(\.id) == Array(1...run.events.count))
  }

  @Test func `none gives way to another of its own link, nor where all have come by none`() throws {
    for count in [30, 0] {
      let (run, _) = try scene()
      try fill(run, byLink: count)
      let before = waiting(run)
      #expect(throws: JoinError.full(limit: RoomState.waitingLimit)) {
        try run.wait("late") { if count > 0 { $0.invitation = Self.link } }
      }
      #expect(waiting(run) == before)
    }
  }

  @Test func `one that waits by a link that has too many comes again in its own place`() throws {
    let (run, _) = try scene()
    try fill(run, byLink: 40)
    _ = try run.wait("w-3") { $0.invitation = Self.link }
    #expect(waiting(run).count == RoomState.waitingLimit && waiting(run).last == "w-3")
    #expect(run.events.compactMap(\.waiting?.reason) == [.duplicateIdentity])
  }

  // MARK: - Refusals that can't be remembered

  @Test(arguments: [true, false])
  func `a host hears that who is refused may come again, where no more removals are remembered`(byHost: Bool)
    throws
  {
    let (run, host) = try scene()
    run.remembersRemovals = false
    let guest = try #require(try run.wait("guest"))
    if byHost {
      #expect(refusal(host.ask(.admit(guest.id.text, false))) == .unremembered)
    } else {
      let reply = run.handle(.administration(.refuse("guest", nil)))
      guard case .administrationRefused(.full) = reply else {
        Issue.record("\(reply)")
        return
      }
    }
    #expect(run.state.waiting.isEmpty && run.events.last?.waiting?.reason == .removed, "it waits no longer")
  }
}
