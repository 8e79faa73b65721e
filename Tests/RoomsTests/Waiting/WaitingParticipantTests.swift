import AccessTokens
import Model
import Testing

@testable import Rooms

@Suite("Sessions that wait, as front doors have them", .timeLimit(.minutes(2)))
struct WaitingParticipantTests {
  private func scene() async throws -> (TestServer, host: TestClient, RoomAdministration) {
    let server = try TestServer()
    _ = try await server.directory.create("r", RoomSettings(departureTimeout: 0, admission: true))
    let host = try await server.join("host") { $0.roomAdmin = true }
    return (server, host, try #require(server.directory.administration(of: "r")))
  }

  private func wait(
    _ identity: String, _ server: TestServer, issued: Int? = nil
  ) async throws -> WaitingParticipant {
    let entry = try await server.directory.enter(
      room: "r", identity: identity, name: nil, grants: .join("r"), issued: issued, isAdmitted: false,
      patience: .seconds(600))
    guard case .waiting(let waiting) = entry else { throw JoinError.noRoom }
    return waiting
  }

  @Test func `one that a host lets in is a session from there on`() async throws {
    let (server, host, room) = try await scene()
    let guest = try await wait("guest", server)
    #expect(server.directory.counts.participants == 1 && server.directory.counts.waiting == 1)
    let seen = await room.waiting()
    #expect(seen.map(\.identity) == ["guest"])
    try await host.session.admit(seen[0].id.text, true)
    let session = try await guest.outcome()
    #expect(session.joined.participants.map(\.identity) == ["host"])
    #expect(server.directory.counts.participants == 2 && server.directory.counts.waiting == 0)
    #expect(server.directory.counts.sessionsStarted == 2)
    await session.leave()
    #expect(server.directory.counts.participants == 1)
  }

  @Test func `one whose client has gone waits no longer, and one that came behind it does`() async throws {
    let (server, _, room) = try await scene()
    let early = try await wait("guest", server)
    let late = try await wait("guest", server)
    await #expect(throws: JoinError.waitingEnded(.duplicateIdentity)) { try await early.outcome() }
    await early.stop(.connectionLost)
    #expect(await room.waiting().count == 1)
    await late.stop(.connectionLost)
    await #expect(throws: JoinError.waitingEnded(.connectionLost)) { try await late.outcome() }
    #expect(await room.waiting().isEmpty && server.directory.counts.waiting == 0)
  }

  @Test func `one that is refused is removed, with its tokens of before`() async throws {
    let now = 1_800_000_000
    let server = try TestServer(wallSeconds: { now })
    _ = try await server.directory.create("r", RoomSettings(departureTimeout: 0, admission: true))
    let host = try await server.join("host") { $0.roomAdmin = true }
    let guest = try await wait("guest", server, issued: now - 10)
    let room = try #require(server.directory.administration(of: "r"))
    try await host.session.admit(try #require(await room.waiting().first).id.text, false)
    await #expect(throws: JoinError.waitingEnded(.removed)) { try await guest.outcome() }
    #expect(server.directory.forbids("guest", in: "r", issued: now - 10))
    await #expect(throws: JoinError.removed) { try await wait("guest", server, issued: now - 10) }
    _ = try await wait("guest", server, issued: now + 1)
    // And so by REST's word.
    try await server.directory.remove("guest", from: "r")
    #expect(await room.waiting().isEmpty)
  }

  @Test func `a door that can't wait hears so at once`() async throws {
    let (server, _, _) = try await scene()
    await #expect(throws: JoinError.admissionRequired) { _ = try await server.join("guest") }
    #expect(server.directory.counts.refusedNotAdmitted == 1 && server.directory.counts.participants == 1)
  }

  @Test func `those who wait don't hold up a server that stops`() async throws {
    let server = try TestServer()
    _ = try await server.directory.create("r", RoomSettings(departureTimeout: 0, admission: true))
    let guest = try await wait("guest", server)
    await server.directory.drain(for: .seconds(60))
    await server.directory.waitUntilEmpty()
    await #expect(throws: JoinError.waitingEnded(.serverShutdown)) { try await guest.outcome() }
  }

  @Test func `a room that is closed says so to those who wait`() async throws {
    let (server, _, _) = try await scene()
    let guest = try await wait("guest", server)
    try await server.directory.close(room: "r")
    await #expect(throws: JoinError.waitingEnded(.roomClosed)) { try await guest.outcome() }
    #expect(server.directory.remainders.rooms == 0 && server.directory.counts.waiting == 0)
  }
}
