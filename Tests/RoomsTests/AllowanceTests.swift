import Model
import Testing

@testable import Rooms

@Suite("Budgets that outlive a session", .timeLimit(.minutes(1)))
struct AllowanceTests {
  @Test func `a participant that joins and leaves repeatedly spends one budget`() async throws {
    let server = try TestServer(clock: StandingClock())
    let bob = try await server.join("bob")
    var rounds = 0
    do {
      while rounds < 200 {
        let alice = try await server.join("alice")
        _ = try await alice.offer([.audio, .video])
        await alice.session.leave()
        rounds += 1
      }
    } catch {
      #expect("\(error)" == "\(JoinError.tooOften)" || error is OfferError, "\(error)")
    }
    // Of 100: coming costs 1, the offer 1 and 1 for each track, going 1 and 1 for each track.
    #expect((10...15).contains(rounds))
    // Bob is let in as before, and spends its own.
    await bob.session.leave()
    _ = try await server.join("bob")
    #expect(server.directory.counts.refusedTooOften <= 1)
  }

  @Test func `a refused participant leaves no trace, and joins once its budget suffices`() async throws {
    let clock = StandingClock()
    let server = try TestServer(clock: clock)
    // The room stays.
    let bob = try await server.join("bob")
    for _ in 0..<200 {
      guard let alice = try? await server.join("alice") else { break }
      await alice.session.leave()
    }
    await #expect(throws: JoinError.tooOften) { _ = try await server.join("alice") }
    #expect(server.directory.remainders.sessions == 1)
    clock.advance(by: .seconds(1))
    _ = try await server.join("alice")
    try await bob.session.send(Array("x".utf8))
  }

  @Test func `a refused participant doesn't end the session that it would replace`() async throws {
    let server = try TestServer(clock: StandingClock())
    let bob = try await server.join("bob")
    var last: TestClient?
    for _ in 0..<200 {
      guard let alice = try? await server.join("alice") else { break }
      last = alice
    }
    await #expect(throws: JoinError.tooOften) { _ = try await server.join("alice") }
    try await bob.session.send(Array("x".utf8))
    let alice = try #require(last)
    #expect(await alice.next(until: "data") == "data x - true")
  }

  @Test func `a session that replaces another goes on with its budget`() async throws {
    let server = try TestServer(clock: StandingClock())
    var sent = 0
    do {
      for _ in 0..<10 {
        let alice = try await server.join("alice")
        for _ in 0..<50 {
          try await alice.session.send(Array("x".utf8))
          sent += 1
        }
      }
    } catch { #expect(error as? RequestError == .tooOften) }
    #expect(sent == 200)
  }

  @Test func `a page that is loaded again ten times is always let in`() async throws {
    let clock = StandingClock()
    let server = try TestServer(clock: clock)
    let bob = try await server.join("bob")
    for number in 0..<10 {
      let alice = try await server.join("alice")
      let tracks = try await alice.offer([.audio, .video]).tracks
      for track in tracks { try await alice.session.mute(track.track.text, true) }
      // Now and then the page goes without a word, and its next session replaces the last.
      if number % 2 == 0 { await alice.session.leave() }
    }
    await bob.session.leave()
  }
}

@Suite("Table of allowances", .timeLimit(.minutes(1)))
struct AllowanceTableTests {
  private struct Spent: Refilling, Equatable {
    var fullAt = Instant(nanoseconds: 0)
  }

  private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

  @Test func `an entry stays until it is full again, and no longer`() {
    var table = AllowanceTable<String, Spent>(capacity: 10)
    for number in 0..<5 { table.use("\(number)", now: at(0)) { $0.fullAt = at(Int64(number) + 1) } }
    #expect(table.count == 5)
    table.use("a", now: at(3)) { $0.fullAt = at(9) }
    #expect(table.count == 3)
    #expect(table.use("4", now: at(3)) { $0.fullAt } == at(5))
    #expect(table.use("0", now: at(3)) { $0 } == Spent())
  }

  @Test func `what is full leaves no entry`() {
    var table = AllowanceTable<String, Spent>(capacity: 10)
    table.use("a", now: at(1)) { _ in }
    #expect(table.count == 0)
  }

  @Test func `a full table drops the entry that owes least`() {
    var table = AllowanceTable<String, Spent>(capacity: 3)
    for (name, until) in [("a", 50), ("b", 20), ("c", 90), ("d", 70), ("e", 60)] {
      table.use(name, now: at(1)) { $0.fullAt = at(Int64(until)) }
    }
    #expect(table.count == 3)
    #expect(["c", "d", "e"].allSatisfy { table.use($0, now: at(1)) { $0.fullAt } > at(1) })
  }
}
