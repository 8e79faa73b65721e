import Testing

@testable import Rooms

@Suite("Settings of a room", .timeLimit(.minutes(1)))
struct RoomSettingsTests {
  @Test func `a room is made with no more metadata than it may be given later`() async throws {
    let server = try TestServer()
    var settings = server.directory.defaults
    settings.metadata = String(repeating: "x", count: ParticipantChange.metadataLimit + 1)
    await #expect(throws: AdministrationError.tooLarge("metadata")) {
      _ = try await server.directory.create("r", settings)
    }
    #expect(server.directory.remainders.rooms == 0)
    settings.metadata?.removeLast()
    #expect(try await server.directory.create("r", settings).isNew)
    var patch = RoomPatch()
    patch.metadata = .set(String(repeating: "x", count: ParticipantChange.metadataLimit + 1))
    let room = try #require(server.directory.administration(of: "r"))
    await #expect(throws: AdministrationError.tooLarge("metadata")) { _ = try await room.change(patch) }
  }
}
