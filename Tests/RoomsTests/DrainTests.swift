import Crypto
import Engine
import ICE
import Logging
import Model
import Testing

@testable import Rooms

@Suite("The end of a server", .timeLimit(.minutes(2)))
struct DrainTests {
  @Test func `participants learn the deadline of a drain, and no other joins`() async throws {
    let server = try TestServer()
    let alice = try await server.join("alice")
    let bob = try await server.join("bob", room: "other")
    await server.directory.drain(for: .seconds(30))
    #expect(await alice.next() == "draining")
    #expect(await bob.next() == "draining")
    await #expect(throws: JoinError.draining) { try await server.join("carol") }
    #expect(server.directory.counts.refusedDraining == 1)
    #expect(await !server.directory.isReady())
    // Those who are in go on.
    _ = try await alice.offer([.audio])
    #expect(await alice.next().hasPrefix("3 track.published"))
  }

  @Test func `it is empty when the last one has left`() async throws {
    let server = try TestServer()
    await server.directory.waitUntilEmpty()
    let alice = try await server.join("alice")
    let bob = try await server.join("bob", room: "other")
    await server.directory.drain(for: .seconds(30))
    async let empty: Void = server.directory.waitUntilEmpty()
    await alice.session.leave()
    #expect(server.directory.counts.participants == 1)
    await bob.session.leave(reason: .removed)
    await empty
    let counts = server.directory.counts
    #expect(counts.participants == 0 && counts.rooms == 0)
    #expect(counts.sessionsEnded == [.left: 1, .removed: 1])
    #expect(counts.sessionsStarted == 2 && counts.roomsStarted == 2)
  }

  @Test func `at the end all learn the reason`() async throws {
    let server = try TestServer()
    let alice = try await server.join("alice")
    await server.directory.drain(for: .zero)
    await server.directory.close()
    #expect(await alice.next(3) == ["draining", "closed serverShutdown", "end"])
    #expect(server.directory.counts.sessionsEnded == [.serverShutdown: 1])
    await server.directory.waitUntilEmpty()
  }

  @Test func `a server whose workers don't answer is not ready`() async throws {
    let engine = try MediaEngine(
      MediaEngine.Configuration(port: 0, workers: 2, peersPerWorker: 4, pinsThreads: false), clock: Clock(),
      dtls: try DTLSContext(certificate: try DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000)))
    let directory = RoomDirectory(
      media: MediaPlane(engine: engine, candidates: [], verification: .always, peerLimit: 1),
      limits: RoomDirectory.Limits(), log: Log(level: .error) { _ in })
    #expect(await !directory.isReady())
    try engine.start()
    #expect(await directory.isReady())
    engine.stop()
    #expect(await !directory.isReady())
  }

  @Test func `a participant refused for want of room is counted`() async throws {
    let server = try TestServer(participants: 1, rooms: 1)
    _ = try await server.join("alice")
    await #expect(throws: JoinError.full(limit: 1)) { try await server.join("bob") }
    await #expect(throws: JoinError.full(limit: 1)) { try await server.join("bob", room: "other") }
    #expect(server.directory.counts.refusedFull == 2 && server.directory.counts.sessionsStarted == 1)
  }
}
