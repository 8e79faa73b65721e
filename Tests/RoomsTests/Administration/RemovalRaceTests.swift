import AccessTokens
import Model
import Synchronization
import Testing

@testable import Rooms

@Suite("Removal and those who are on their way in", .timeLimit(.minutes(2)))
struct RemovalRaceTests {
  @Test func `a join that was let in before a removal is asked for again inside the room`() async throws {
    let server = try TestServer()
    let witness = try await server.join("witness")
    let issued = Int(server.directory.media.wallTime.milliseconds / 1_000)
    let room = try #require(server.directory.room(of: "r"))
    // Past the door, and behind the removal in the room's queue.
    try await server.directory.remove("eve", from: "r")
    await #expect(throws: JoinError.removed) {
      _ = try await room.join(Newcomer(identity: "eve", grants: .join("r"), issued: issued))
    }
    await #expect(throws: JoinError.removed) {
      _ = try await room.join(Newcomer(identity: "eve", grants: .join("r"), issued: nil))
    }
    _ = try await room.join(Newcomer(identity: "eve", grants: .join("r"), issued: issued + 10))
    #expect(await witness.next() == "3 participant.joined eve", "no other has been in")
  }

  @Test(.timeLimit(.minutes(1))) func `joins that race removals leave no removed participant in`()
    async throws
  {
    let server = try TestServer(participants: 100, peers: 200)
    let witness = try await server.join("witness")
    let issued = Int(server.directory.media.wallTime.milliseconds / 1_000) - 10
    for round in 0..<60 {
      let identity = "eve \(round)"
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          _ = try? await server.directory.join(
            room: "r", identity: identity, name: nil, grants: .join("r"), issued: issued)
        }
        group.addTask { try? await server.directory.remove(identity, from: "r") }
      }
      let room = try #require(server.directory.administration(of: "r"))
      #expect(await room.participants(after: nil, limit: 100).map(\.info.identity) == ["witness"])
    }
    await witness.session.leave()
    #expect(server.directory.remainders.sessions == 0 && server.directory.remainders.rooms == 0)
  }

  @Test func `a removal goes by the clock that tokens go by, also once that has been stepped`() async throws {
    let seconds = Mutex(1_000)
    let server = try TestServer(wallSeconds: { seconds.withLock { $0 } })
    // Stepped forward, back, and forward again.
    for (identity, now) in [("a", 1_000), ("b", 90_000), ("c", 400), ("d", 2_000_000)] {
      seconds.withLock { $0 = now }
      try await server.directory.remove(identity, from: "r")
      #expect(server.directory.forbids(identity, in: "r", issued: now), "a token of before")
      #expect(!server.directory.forbids(identity, in: "r", issued: now + 1), "a token of after")
    }
    // A renewed token is issued by the same clock.
    seconds.withLock { $0 += 10 }
    #expect(!server.directory.forbids("d", in: "r", issued: 2_000_010))
  }

  @Test func `an identity that is absent is removed as well, also from a room that isn't there`() async throws
  {
    let server = try TestServer()
    let issued = Int(server.directory.media.wallTime.milliseconds / 1_000)
    try await server.directory.remove("eve", from: "r")
    #expect(server.directory.room(of: "r") == nil)
    await #expect(throws: JoinError.removed) {
      _ = try await server.directory.join(
        room: "r", identity: "eve", name: nil, grants: .join("r"), issued: issued)
    }
    #expect(server.directory.room(of: "r") == nil && server.directory.remainders.sessions == 0)
    #expect(server.directory.events.size.rooms == 0, "no room was made for it")
    _ = try await server.join("ada")
  }
}
