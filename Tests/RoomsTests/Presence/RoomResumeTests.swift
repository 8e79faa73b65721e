import AccessTokens
import Engine
import Model
import Peer
import Synchronization
import Testing

@testable import Rooms

extension Room {
  fileprivate func peer(of id: ParticipantID) -> PeerKey? { member(id)?.native.peer }
}

@Suite("Sessions that outlive their socket", .timeLimit(.minutes(2)))
struct RoomResumeTests {
  let clock = StandingClock()

  /// Lets time go by in steps as the server's own sampling does.
  func pass(_ time: Duration, _ server: TestServer) async {
    for _ in 0..<Int(time / .milliseconds(200)) {
      clock.advance(by: .milliseconds(200))
      await server.directory.ring()
    }
  }

  /// The member's media, as the media plane tells of it.
  func sample(_ client: TestClient, _ server: TestServer, heard: Instant) async throws {
    let room = try #require(server.directory.room(of: "r"))
    let key = try #require(await room.peer(of: client.session.id))
    let quality = PeerQuality(loss: 0, roundTrip: .milliseconds(10), lastHeard: heard)
    await room.take([PeerSample(peer: key, quality: quality, levels: [])], now: clock.now)
  }

  @Test func `coming back is paid for by what was missed, so it isn't heard again and again`() async throws {
    let server = try TestServer(clock: clock)
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    let track = try #require(try await bob.offer([.audio]).tracks.first?.track)
    let room = try #require(server.directory.administration(of: "r"))
    let notices = bob.session.notices
    let reader = Task { for await _ in notices {} }
    defer { reader.cancel() }
    await alice.session.absent()
    for number in 0..<800 { _ = try await room.mute(track.text, of: "bob", number % 2 == 0) }
    var rounds = 0
    while rounds < 50 {
      await alice.session.absent()
      do throws(RequestError) { try await alice.session.present(after: 4) } catch {
        #expect(error == .tooOften)
        break
      }
      rounds += 1
    }
    #expect((1...3).contains(rounds), "each is about 40 requests, of 100 at once")
    // Who has missed nothing pays for one.
    #expect(await alice.next(until: "resumed") == "resumed 804")
    try await alice.session.present(after: 804)
    // The session is still there, and later it can be gone on with.
    clock.advance(by: .seconds(5))
    await alice.session.absent()
    try await alice.session.present(after: 4)
    #expect(server.directory.counts.participants == 2)
  }

  @Test func `a client that resumes gets what it missed, and the state as it is now`() async throws {
    let server = try TestServer(clock: clock)
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    _ = try await alice.offer([.audio], receivers: 1)
    #expect(await alice.next(until: "answer") == "answer 1 2")
    await alice.session.absent()

    _ = try await bob.offer([.video, .video, .video])
    let tracks = try await bob.offer().tracks.map(\.track)
    try await bob.session.mute(tracks[0].text, true)
    try await alice.session.present(after: 4)
    #expect(await alice.next(until: "resumed") == "resumed 8")
    let state = try #require(alice.resumed)
    #expect(state.lastEvent == 8)
    #expect(state.missed.map(\.id) == [5, 6, 7, 8])
    #expect(
      state.missed.map(\.kind) == [.trackPublished, .trackPublished, .trackPublished, .trackMuted])
    #expect(state.transports.map(\.id) == [.first] && state.transports[0].tracks.count == 1)
    #expect(state.transports[0].slots.map(\.track) == [nil, tracks[0]])
    var said: [String] = []
    for notice in state.notices {
      switch notice {
      case .on(.first, .streams(let changes)):
        for (track, state) in changes {
          let isWaiting = if case .waiting = state { true } else { false }
          said.append("\(isWaiting ? "waiting" : "\(state)") \(tracks.firstIndex(of: track) ?? -1)")
        }
      case .on(.first, .offerWanted(let audio, let video)): said.append("offerWanted \(audio) \(video)")
      case .speakers(let speakers): said.append("speakers \(speakers.count)")
      default: said.append("\(notice)")
      }
    }
    #expect(
      said.sorted() == ["active 0", "offerWanted 0 2", "speakers 0", "waiting 1", "waiting 2"])
    // From here on it goes on as before.
    try await bob.session.mute(tracks[0].text, false)
    #expect(await alice.next() == "9 track.unmuted bob")
  }

  @Test func `a socket that breaks is not announced; its participant's leaving is, after the grace`()
    async throws
  {
    let server = try TestServer(grace: .seconds(4), clock: clock)
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    #expect(await alice.next() == "3 participant.joined bob")
    await bob.session.absent()
    await pass(.milliseconds(3_800), server)
    try await bob.session.present(after: 3)
    await pass(.seconds(20), server)
    await bob.session.absent()
    await pass(.milliseconds(3_800), server)
    #expect(server.directory.counts.participants == 2)
    await pass(.milliseconds(400), server)
    #expect(await alice.next() == "4 participant.left bob")
    #expect(await bob.next(until: "closed") == "closed connectionLost")
    await #expect(throws: RequestError.gone) { try await bob.session.present(after: 3) }
    #expect(server.directory.counts.sessionsEnded == [.connectionLost: 1])
    #expect(server.directory.remainders.alarms == 0)
  }

  @Test func `a resumption at the very end of the grace either holds or doesn't, never both`() async throws {
    var (held, gone) = (0, 0)
    let server = try TestServer(grace: .seconds(1), clock: clock)
    for turn in 0..<100 {
      let alice = try await server.join("alice")
      await alice.session.absent()
      clock.advance(by: .seconds(1))
      async let rung: Void = server.directory.ring()
      if turn % 2 == 0 { await Task.yield() }
      do {
        try await alice.session.present(after: 2)
        held += 1
        await rung
        clock.advance(by: .seconds(10))
        await server.directory.ring()
        #expect(server.directory.counts.participants == 1)
        #expect(await alice.next() == "resumed 2")
        await alice.session.leave()
      } catch {
        gone += 1
        await rung
        #expect(server.directory.counts.participants == 0)
        #expect(await alice.next(2) == ["closed connectionLost", "end"])
      }
    }
    #expect(held + gone == 100)
  }

  @Test func `a participant that joins while the last one's grace ends is in a room that stands`()
    async throws
  {
    let server = try TestServer(grace: .seconds(1), clock: clock)
    for turn in 0..<200 {
      let alice = try await server.join("alice")
      await alice.session.absent()
      clock.advance(by: .seconds(2))
      async let rung: Void = server.directory.ring()
      if turn % 2 == 0 { await Task.yield() }
      let bob = try await server.join("bob")
      await rung
      #expect(await alice.next(until: "closed") == "closed connectionLost")
      // Either bob found ada and saw it go, or the room is new; and then it is the one that the next finds.
      let carol = try await server.join("carol")
      #expect(carol.session.joined.room.id == bob.session.joined.room.id)
      #expect(carol.session.joined.participants.map(\.identity) == ["bob"])
      let log = try server.directory.events.events(of: "r", after: nil)
      #expect(log.room.id == bob.session.joined.room.id && log.events.map(\.id) == Array(1...log.lastEvent))
      await carol.session.leave()
      await bob.session.leave()
      #expect(server.directory.counts.participants == 0 && server.directory.room(of: "r") == nil)
    }
  }

  @Test func `a client that missed more than is kept, or more than fits a message, has to join again`()
    async throws
  {
    let server = try TestServer(events: EventLog.Limits(events: 20), clock: clock)
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    let track = try #require(try await bob.offer([.audio]).tracks.first?.track)
    for turn in 0..<30 {
      clock.advance(by: .seconds(1))
      try await bob.session.mute(track.text, turn % 2 == 0)
    }
    await #expect(throws: RequestError.gone) { try await alice.session.present(after: 3) }
    try await alice.session.present(after: 14)
    // A number that was never reached is a mistake.
    await #expect(throws: RequestError.gone) { try await alice.session.present(after: 1_000) }

    let patient = try TestServer(clock: clock)
    let carol = try await patient.join("carol")
    let dave = try await patient.join("dave") { $0.canUpdateOwnMetadata = true }
    let large = String(repeating: "x", count: 60_000)
    for turn in 0..<40 {
      clock.advance(by: .seconds(1))
      try await dave.session.update(ParticipantChange(metadata: large + "\(turn)"))
    }
    await #expect(throws: RequestError.gone) { try await carol.session.present(after: 3) }
    try await carol.session.present(after: 20)
    #expect(await carol.next(until: "resumed") == "resumed 43")
  }

  @Test func `a participant lost at the moment of another's return is announced after it`() async throws {
    let server = try TestServer(grace: .seconds(4), clock: clock)
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    _ = try await bob.offer([.audio])
    await bob.session.absent()
    clock.advance(by: .seconds(3))
    await alice.session.absent()
    clock.advance(by: .seconds(2))
    try await alice.session.present(after: 4)
    #expect(await alice.next(until: "resumed") == "resumed 4")
    #expect(alice.resumed?.missed.isEmpty == true)
    #expect(await alice.next(2) == ["5 track.unpublished bob", "6 participant.left bob"])
  }

  @Test func `a client that resumes gets no events from before its joining`() async throws {
    let server = try TestServer(clock: clock)
    let alice = try await server.join("alice")
    _ = try await alice.offer([.audio])
    let bob = try await server.join("bob")
    try await bob.session.present(after: 0)
    #expect(await bob.next() == "resumed 4")
    #expect(bob.resumed?.missed.isEmpty == true)
  }

  @Test func `while the server drains those inside come back`() async throws {
    let server = try TestServer(clock: clock)
    let alice = try await server.join("alice")
    await server.directory.drain(for: .seconds(30))
    await alice.session.absent()
    try await alice.session.present(after: 2)
    #expect(await alice.next(2) == ["draining", "resumed 2"])
    let notices = try #require(alice.resumed?.notices)
    #expect(notices.contains { if case .draining = $0 { true } else { false } })
  }

  @Test func `an absent client that joins again is one participant, and its older session ends first`()
    async throws
  {
    let server = try TestServer(clock: clock)
    let witness = try await server.join("witness")
    let old = try await server.join("alice")
    await old.session.absent()
    let new = try await server.join("alice")
    #expect(
      await witness.next(3) == [
        "3 participant.joined alice", "4 participant.left alice", "5 participant.joined alice",
      ])
    #expect(new.session.joined.participants.map(\.identity) == ["witness"])
    #expect(await old.next(until: "closed") == "closed duplicateIdentity")
    await #expect(throws: RequestError.gone) { try await old.session.present(after: 3) }
    await pass(.seconds(20), server)
    #expect(server.directory.counts.participants == 2)
  }

  @Test func `a removed participant does not resume`() async throws {
    let server = try TestServer(clock: clock)
    let alice = try await server.join("alice")
    await alice.session.absent()
    await alice.session.leave(reason: .removed)
    await #expect(throws: RequestError.gone) { try await alice.session.present(after: 2) }
  }

  @Test func `silent media is announced to all once, restarted, and ends the session`() async throws {
    let server = try TestServer(clock: clock)
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    _ = try await bob.offer([.audio])
    #expect(await bob.next(until: "answer") == "answer 1 0")
    let begin = clock.now
    for _ in 0..<6 {
      try await sample(bob, server, heard: begin)
      clock.advance(by: .seconds(2))
    }
    try await sample(bob, server, heard: begin)
    #expect(await alice.next(until: "5") == "5 participant.reconnecting bob")
    #expect(await bob.next(until: "5") == "5 participant.reconnecting bob")
    // The socket breaks and comes back: that there is to be a restart is said again.
    clock.advance(by: .seconds(4))
    try await sample(bob, server, heard: begin)
    #expect(await bob.next(until: "restart") == "restartWanted")
    try await bob.session.present(after: 4)
    #expect(await bob.next(until: "resumed") == "resumed 5")
    #expect(
      bob.resumed?.notices.contains { if case .restartWanted = $0 { true } else { false } } == true)
    // It helps.
    try await sample(bob, server, heard: clock.now)
    #expect(await alice.next(until: "6") == "6 participant.reconnected bob")
    // And then nothing comes any more.
    let end = clock.now
    for _ in 0..<24 {
      clock.advance(by: .seconds(1))
      try await sample(bob, server, heard: end)
    }
    #expect(server.directory.counts.participants == 2)
    await pass(.milliseconds(1_200), server)
    #expect(await alice.next(until: "7") == "7 participant.reconnecting bob")
    #expect(await alice.next(until: "9") == "9 participant.left bob")
    #expect(await bob.next(until: "closed") == "closed connectionLost")
  }
}
