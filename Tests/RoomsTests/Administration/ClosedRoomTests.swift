import AccessTokens
import Model
import Synchronization
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
  func `a closed room ends at once, however long it would wait for a participant`(timeout: Int)
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

  @Test func `a room that is closing lets no one in, and another of its name may be made`() async throws {
    let server = try await server(departureTimeout: 3_600)
    let old = try #require(server.directory.room(of: "r"))
    let alice = try await server.join("alice")
    // On the way in: the directory has let it pass, and the room has not heard of it.
    let handle = try server.directory.registry.withRooms { rooms throws(JoinError) in
      try rooms.begin("bob", in: "r") { number in
        server.directory.make("r", RoomSettings(), number: number)
      }
    }
    #expect(handle === old)
    try await server.directory.close(room: "r")
    #expect(await alice.next(until: "closed") == "closed roomClosed")
    #expect(server.directory.room(of: "r") == nil && server.directory.remainders.rooms == 1)
    let (made, isNew) = try await server.directory.create("r", RoomSettings())
    #expect(isNew && made.info.id != alice.session.joined.room.id)
    let carol = try await server.join("carol")
    #expect(carol.session.joined.room.id == made.info.id)
    // The one on the way in leaves on arrival, and the old room goes with it.
    _ = try? await old.join(Newcomer(identity: "bob", grants: .join("r")))
    #expect(server.directory.remainders.rooms == 1 && server.directory.room(of: "r") !== old)
    let kinds = try server.directory.events.events(
      of: "r", life: alice.session.joined.room.id.text, after: nil
    ).events.map(\.kind)
    #expect(kinds.last == .roomFinished)
  }

  @Test func `one that is closed before it has begun never begins, and leaves its name to the next`()
    async throws
  {
    let journals = try await Journals()
    let first = try await journals.serve()
    let directory = first.server.directory
    let old = try directory.registry.withRooms { rooms throws(JoinError) in
      try rooms.begin("bob", in: "r") { directory.make("r", RoomSettings(), number: $0) }
    }
    try await directory.close(room: "r")
    let (made, isNew) = try await directory.create("r", RoomSettings(isLocked: true))
    #expect(isNew)
    // Made by request at the same time, and then on its way in.
    _ = await old.handle(.start)
    guard
      case .joinRefused(.noRoom) = await old.handle(
        .join(Newcomer(identity: "bob", grants: .join("r")), refused: nil))
    else {
      Issue.record("it is in")
      return
    }
    #expect(directory.remainders.rooms == 1)
    #expect(try directory.events.events(of: "r", after: nil).room.id == made.info.id)
    try await directory.synced()
    first.running.cancel()
    let second = try await journals.serve()
    defer { second.running.cancel() }
    let again = try #require(second.server.directory.room(of: "r"))
    #expect(again.id == made.info.id)
    #expect(await again.snapshot.settings.isLocked)
  }

  @Test func `an empty room that waits for a participant ends at once when it is closed`() async throws {
    let server = try await server(departureTimeout: 3_600)
    try await server.join("alice").session.leave()
    #expect(server.directory.room(of: "r") != nil)
    try await server.directory.close(room: "r")
    #expect(server.directory.room(of: "r") == nil)
    #expect(try kinds(server).last == .roomFinished)
    await #expect(throws: AdministrationError.unknownRoom) { try await server.directory.close(room: "r") }
  }
}
