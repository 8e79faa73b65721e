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

  /// Comes to wait, and no longer does: by whichever of the links, or by none.
  private func pass(_ run: StateRun, _ identity: String, by link: InvitationID? = nil) throws {
    let waiter = try #require(try run.wait(identity) { $0.invitation = link })
    run.handle(.stopWaiting(waiter.id, .left))
  }

  @Test func `a hundred may come to wait at once, and one a second, whatever identities they have`() throws {
    let (run, _) = try scene()
    for number in 0..<100 { try pass(run, "guest-\(number)", by: number % 2 == 0 ? Self.link : Self.other) }
    let (events, sessions) = (run.events.count, run.sessions)
    #expect(throws: JoinError.tooOften) { try run.wait("one-more") }
    #expect(run.events.count == events && run.sessions == sessions, "nothing is said of it")
    #expect(try run.wait("known") { $0.isAdmitted = true } == nil, "who needn't wait comes in")
    run.now = run.now + .seconds(1)
    try run.rebuild()
    #expect(try run.wait("a") != nil)
    #expect(throws: JoinError.tooOften) { try run.wait("b") }
  }

  @Test func `those of one link come at half of the room's pace, and keep no others out`() throws {
    let (run, _) = try scene()
    for number in 0..<75 { try pass(run, "guest-\(number)", by: Self.link) }
    #expect(throws: JoinError.tooOften) { try run.wait("guest") { $0.invitation = Self.link } }
    for second in 0..<600 {
      run.now = run.now + .seconds(1)
      if second % 60 == 0 { try run.rebuild() }
      // Ten of one link would take all that there is.
      var came = 0
      for number in 0..<10 where (try? pass(run, "guest-\(second)-\(number)", by: Self.link)) != nil {
        came += 1
      }
      #expect(came == second % 2, "\(second)")
      if second % 2 == 0 { try pass(run, "friend-\(second)", by: second % 4 == 0 ? Self.other : nil) }
    }
  }

  @Test func `one identity comes to wait five times at once, and then once in ten seconds`() throws {
    let (run, _) = try scene()
    for _ in 0..<5 { try pass(run, "guest") }
    let paces = run.state.newcomers.paces.all.full
    #expect(throws: JoinError.tooOften) { try run.wait("guest") }
    #expect(run.state.newcomers.paces.all.full == paces, "it takes nothing from others")
    run.now = run.now + .milliseconds(9_900)
    try run.rebuild()
    #expect(throws: JoinError.tooOften) { try run.wait("guest") { $0.invitation = Self.link } }
    run.now = run.now + .milliseconds(100)
    try pass(run, "guest")
    #expect(throws: JoinError.tooOften) { try run.wait("guest") }
    try pass(run, "other")
  }

  @Test func `links that were used are remembered within bounds, those longest that were used most`() throws {
    var paces = WaitingPaces()
    let now = Instant(nanoseconds: 1)
    for _ in 0..<75 { paces.take(Self.link, now: now) }
    for number in 0..<1_000 { paces.take(InvitationID(known: "IV_\(number)"), now: now) }
    let (count, left) = (paces.groups.count, paces.wait(for: Self.link, now: now + .seconds(1)))
    #expect(count <= WaitingPaces.groupLimit && left > .zero)
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
      run.now = run.now + .seconds(1)
      try pass(run, "guest-\(number)", by: number % 2 == 0 ? Self.link : Self.other)
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
