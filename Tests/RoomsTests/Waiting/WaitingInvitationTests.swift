import AccessTokens
import Model
import Testing

@testable import Rooms

@Suite("Those who wait by an invitation", .timeLimit(.minutes(1)))
struct WaitingInvitationTests {
  private static let first = InvitationID(known: "IV_1")
  private static let second = InvitationID(known: "IV_2")

  /// A host is in; two wait by an invitation each, and one by none.
  private func scene() throws -> (run: StateRun, host: StateClient, waiting: [Waiter]) {
    let run = StateRun(settings: WaitingRoomTests.asking)
    let host = try run.join("host") { $0.roomAdmin = true }
    var waiting: [Waiter] = []
    let coming: [(String, InvitationID?)] = [
      ("invited", Self.first), ("friend", Self.second), ("stranger", nil),
    ]
    for (identity, invitation) in coming {
      waiting.append(try #require(try run.wait(identity) { $0.invitation = invitation }))
    }
    return (run, host, waiting)
  }

  private func waiting(_ run: StateRun) -> [String] { run.state.waiting.map(\.newcomer.identity) }

  private func refusal(_ reply: RoomReply) -> RequestError? {
    if case .refused(let error) = reply { error } else { nil }
  }

  @Test func `one that is revoked ends their wait, and no other's`() throws {
    let (run, _, _) = try scene()
    run.revoked = [Self.first]
    run.handle(.invitationEnded)
    #expect(waiting(run) == ["friend", "stranger"])
    #expect(run.done.last == "turned away invited revoked")
    #expect(run.events.last?.waiting?.reason == .removed)
    #expect(run.events.map(\.id) == Array(1...run.events.count) && run.sessions == 1)
  }

  @Test(arguments: ["removed", "refused"])
  func `where somebody is put out it is asked which invitations go with that`(how: String) throws {
    let (run, host, waiting) = try scene()
    run.revoked = [Self.second]
    if how == "removed" {
      run.handle(.administration(.remove("maker")))
      #expect(self.waiting(run) == ["invited", "stranger"])
    } else {
      #expect(refusal(host.ask(.admit(waiting[2].id.text, false))) == nil)
      #expect(self.waiting(run) == ["invited"])
    }
    #expect(run.done.last == "turned away friend revoked")
    #expect(run.events.map(\.id) == Array(1...run.events.count))
  }

  @Test func `no host lets one in whose invitation holds no more by then`() throws {
    let (run, host, waiting) = try scene()
    run.revoked = [Self.first, Self.second]
    #expect(refusal(host.ask(.admit(waiting[0].id.text, true))) == .unknownParticipant)
    let reply = run.handle(.administration(.admit("friend", nil)))
    guard case .administrationRefused(.unknownParticipant) = reply else {
      Issue.record("\(reply)")
      return
    }
    #expect(self.waiting(run) == ["stranger"] && run.state.members.map(\.identity) == ["host"])
    #expect(run.events.compactMap(\.waiting?.reason) == [.removed, .removed] && run.sessions == 1)
  }

  @Test func `a room that asks no more doesn't let them in`() throws {
    let (run, _, _) = try scene()
    run.revoked = [Self.first]
    var patch = RoomPatch()
    patch.admission = .set(false)
    run.handle(.administration(.change(patch)))
    #expect(run.state.members.map(\.identity) == ["host", "friend", "stranger"] && run.state.waiting.isEmpty)
    #expect(run.events.compactMap(\.waiting?.reason) == [.removed, .admitted, .admitted])
    #expect(run.done.contains("turned away invited revoked") && run.sessions == 3)
  }

  @Test func `one that comes by none that holds is refused, and gives its place back`() throws {
    let (run, _, _) = try scene()
    run.sessions += 1
    let late = Newcomer(identity: "late", grants: .join("r"), invitation: Self.first)
    guard case .joinRefused(.revoked) = run.handle(.join(late, refused: .revoked)) else {
      Issue.record("it is let in")
      return
    }
    #expect(run.sessions == 1 && run.state.waiting.count == 3)
  }

  @Test func `bytes have the invitation, and those of the build before are read without`() throws {
    let (run, _, _) = try scene()
    let bytes = run.state.bytes
    try run.rebuild()
    #expect(run.state.bytes == bytes)
    #expect(run.state.waiting.map(\.newcomer.invitation) == [Self.first, Self.second, nil])
    // Of the one that has none the last byte says that it is absent.
    var writer = StateWriter()
    run.state.waiting[2].encode(into: &writer)
    let whole = writer.bytes
    #expect(whole.first == 2 && whole.last == 0)
    var reader = StateReader([1] + whole.dropFirst().dropLast())
    let former = try WaitingSession(from: &reader)
    try reader.finish()
    #expect(former.id == run.state.waiting[2].id && former.newcomer.invitation == nil)
    #expect(former.newcomer.identity == "stranger")
  }
}

@Suite("Those who wait by an invitation, at a server", .timeLimit(.minutes(2)))
struct ServedInvitationTests {
  private let now = 1_800_000_000

  private func terms(_ secret: String, of inviter: String) -> Invitation.Terms {
    Invitation.Terms(
      code: Array(secret.utf8), grants: .join("r"), isAdmitted: false, uses: 9, apiKey: "key",
      inviter: inviter, inviterIssued: now - 5)
  }

  private func enter(
    _ identity: String, by invitation: Invitation, _ server: TestServer
  ) async throws -> RoomEntry {
    try await server.directory.enter(
      room: "r", identity: identity, name: nil, grants: .join("r"), issued: now, isAdmitted: false,
      patience: .seconds(600), invitation: invitation.id.text)
  }

  private func wait(
    _ identity: String, by invitation: Invitation, _ server: TestServer
  ) async throws -> WaitingParticipant {
    guard case .waiting(let waiting) = try await enter(identity, by: invitation, server) else {
      throw JoinError.noRoom
    }
    return waiting
  }

  @Test func `their wait ends with it and with the removal of its maker, and none comes in behind that`()
    async throws
  {
    let server = try TestServer(wallSeconds: { [now] in now })
    let directory = server.directory
    _ = try await directory.create("r", RoomSettings(departureTimeout: 0, admission: true))
    let host = try await server.join("host") { $0.roomAdmin = true }
    let (first, second) = (
      try directory.invite(terms("a", of: "ann"), for: 600, to: "r"),
      try directory.invite(terms("b", of: "bob"), for: 600, to: "r")
    )
    let early = try await wait("early", by: first, server)
    let late = try await wait("late", by: second, server)
    try await directory.revoke(first.id.text, of: "r")
    await #expect(throws: JoinError.revoked) { _ = try await early.outcome() }
    #expect(directory.counts.waiting == 1)
    try await directory.remove("bob", from: "r")
    await #expect(throws: JoinError.revoked) { _ = try await late.outcome() }
    #expect(directory.counts.waiting == 0 && directory.counts.participants == 1)

    // The door had asked a moment before.
    for invitation in [first, second] {
      await #expect(throws: JoinError.revoked) { _ = try await enter("guest", by: invitation, server) }
      let room = try #require(directory.room(of: "r"))
      let guest = Newcomer(identity: "guest", grants: .join("r"), issued: now, invitation: invitation.id)
      await #expect(throws: JoinError.revoked) { _ = try await room.join(guest) }
    }
    #expect(directory.counts.refusedRemoved == 4)
    await host.session.leave()
  }

  @Test func `a host that refuses one that has invited others ends their wait with it`() async throws {
    let server = try TestServer(wallSeconds: { [now] in now })
    let directory = server.directory
    _ = try await directory.create("r", RoomSettings(departureTimeout: 0, admission: true))
    let host = try await server.join("host") { $0.roomAdmin = true }
    let invitation = try directory.invite(terms("a", of: "ann"), for: 600, to: "r")
    let ann = try await wait("ann", by: invitation, server)
    let guest = try await wait("guest", by: invitation, server)
    let room = try #require(directory.administration(of: "r"))
    let id = try #require(await room.waiting().first).id.text
    try await host.session.admit(id, false)
    await #expect(throws: JoinError.waitingEnded(.removed)) { _ = try await ann.outcome() }
    await #expect(throws: JoinError.revoked) { _ = try await guest.outcome() }
    #expect(await room.waiting().isEmpty)
  }
}
