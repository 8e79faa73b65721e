import Model
import Testing

@testable import Rooms

@Suite("Rooms that are closed", .timeLimit(.minutes(2)))
struct ClosedRoomTests {
  let clock = StandingClock()

  private func server(departureTimeout: Int) async throws -> TestServer {
    let server = try TestServer(clock: clock)
    var settings = server.directory.defaults
    settings.departureTimeout = departureTimeout
    settings.emptyTimeout = departureTimeout
    _ = try await server.directory.create("r", settings)
    return server
  }

  private func kinds(_ server: TestServer) throws -> [RoomEvent.Kind] {
    try server.directory.events.events(of: "r", after: nil).events.map(\.kind)
  }

  @Test(arguments: [0, 1, 3_600])
  func `a room that is closed goes at once, however long it would wait for somebody`(timeout: Int)
    async throws
  {
    let server = try await server(departureTimeout: timeout)
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    try await server.directory.close(room: "r")
    #expect(server.directory.room(of: "r") == nil)
    #expect(await alice.next(until: "closed") == "closed roomClosed")
    #expect(await bob.next(until: "closed") == "closed roomClosed")
    let left = server.directory.remainders
    #expect(left.rooms == 0 && left.sessions == 0 && left.alarms == 0)
    #expect(try kinds(server).last == .roomFinished)
    // Who comes now comes to another room, of which the old one's time says nothing.
    let again = try await server.join("alice")
    #expect(again.session.joined.room.id != alice.session.joined.room.id)
    clock.advance(by: .seconds(timeout + 1))
    await server.directory.sweep()
    #expect(server.directory.room(of: "r") != nil)
  }

  @Test func `an empty room that waits for somebody goes at once when it is closed`() async throws {
    let server = try await server(departureTimeout: 3_600)
    try await server.join("alice").session.leave()
    #expect(server.directory.room(of: "r") != nil)
    try await server.directory.close(room: "r")
    #expect(server.directory.room(of: "r") == nil)
    #expect(try kinds(server).last == .roomFinished)
    await #expect(throws: AdministrationError.unknownRoom) { try await server.directory.close(room: "r") }
  }
}
