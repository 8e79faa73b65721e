import AccessTokens
import Model
import Testing

@testable import Rooms

/// Rooms whose time is over, that had something to be called for: none of them is called any more, so that none is kept for it.
@Suite("Rooms that are over", .timeLimit(.minutes(1)))
struct FinishedRoomTests {
  private let clock = StandingClock()

  /// A room that goes with the last who is in, and keeps one message for a day.
  private func room(
    grace: Duration = .seconds(15), _ adjust: (inout RoomPatch) -> Void = { _ in }
  ) async throws -> (server: TestServer, client: TestClient) {
    let server = try TestServer(grace: grace, clock: clock)
    let client = try await server.join("ada") { $0.roomAdmin = true }
    var patch = RoomPatch()
    patch.departureTimeout = .set(0)
    patch.dataHistory = .set(DataHistoryTerms(topics: ["chat"], max: 1, seconds: 86_400))
    adjust(&patch)
    _ = try await server.directory.administration(of: "r")?.change(patch)
    try await client.session.send([1], topic: "chat")
    #expect(server.directory.remainders.alarms == 1)
    return (server, client)
  }

  private func pass(_ time: Duration, _ server: TestServer) async {
    clock.advance(by: time)
    await server.directory.ring()
  }

  private func isOver(_ server: TestServer) -> Bool {
    server.directory.remainders.rooms == 0 && server.directory.remainders.alarms == 0
  }

  private func wait(_ identity: String, _ server: TestServer) async throws -> WaitingParticipant {
    let entry = try await server.directory.enter(
      room: "r", identity: identity, name: nil, grants: .join("r"), isAdmitted: false,
      patience: .seconds(600))
    guard case .waiting(let waiting) = entry else { throw JoinError.noRoom }
    return waiting
  }

  @Test func `one that kept a message is called no more once the last has left`() async throws {
    let (server, client) = try await room()
    await client.session.leave()
    #expect(isOver(server))
  }

  @Test func `nor where the last was given up as the room was called`() async throws {
    let (server, client) = try await room(grace: .seconds(4))
    await client.session.absent()
    await pass(.seconds(5), server)
    #expect(isOver(server))
  }

  @Test func `nor where one waited to be let in until its time was over`() async throws {
    let (server, client) = try await room { $0.admission = .set(true) }
    let guest = try await wait("guest", server)
    await client.session.leave()
    #expect(server.directory.remainders.rooms == 1 && server.directory.remainders.alarms == 1)
    await pass(.seconds(601), server)
    await #expect(throws: JoinError.notAdmitted) { _ = try await guest.outcome() }
    #expect(isOver(server))
  }

  @Test func `nothing is recorded of one behind its end, and its settings stand as they are`() {
    for end in [RoomInput.finish, .close(.roomClosed)] {
      let run = StateRun(settings: RoomSettings(departureTimeout: 0))
      run.handle(.start)
      run.handle(end)
      if case .close = end { run.handle(.finish) }
      let events = run.events.count
      var patch = RoomPatch()
      patch.isLocked = .set(true)
      guard case .administrationRefused(.unknownRoom) = run.handle(.administration(.change(patch))) else {
        Issue.record("a room that is over is changed")
        continue
      }
      let call = EventCall(id: "CA_1", callerId: "ada", path: "relay", media: "audio", people: [])
      guard case .administrationRefused(.unknownRoom) = run.handle(.called(.callEnded, call)) else {
        Issue.record("a call is said to end in a room that is over")
        continue
      }
      #expect(
        run.events.count == events && run.events.last?.kind == .roomFinished && !run.state.settings.isLocked)
    }
  }

  @Test func `nor one that is closed`() async throws {
    let (server, client) = try await room()
    try await server.directory.close(room: "r")
    #expect(isOver(server))
    await #expect(throws: RequestError.gone) {
      try await client.session.send([2], topic: "chat")
    }
    #expect(isOver(server))
  }
}
