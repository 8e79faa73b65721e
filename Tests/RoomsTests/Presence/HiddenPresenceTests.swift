import Engine
import Model
import Peer
import Testing

@testable import Rooms

/// What a room tells by itself, of who is hidden: nothing.
@Suite("Who is hidden, by samples of the media plane", .timeLimit(.minutes(2)))
struct HiddenPresenceTests {
  let clock = StandingClock()

  private func peer(_ identity: String, _ room: Room) async throws -> PeerKey {
    try #require(await room.peer(named: identity))
  }

  @Test func `quality, loss and return of a hidden participant are not announced, and its own side goes on`()
    async throws
  {
    let server = try TestServer(clock: clock)
    let witness = try await server.join("witness")
    let ghost = try await server.join("ghost", hidden: true)
    _ = try await ghost.offer(receivers: 1)
    let room = try #require(server.directory.room(of: "r"))
    let key = try await peer("ghost", room)
    func sample(loss: UInt16, heard: Instant) async {
      let quality = PeerQuality(loss: loss, roundTrip: .milliseconds(20), lastHeard: heard)
      await room.take(
        [
          PeerSample(
            peer: key, quality: quality,
            levels: [(TrackKey(peer: key, index: 0), TrackLevel(attenuation: 0, lastPacket: heard))])
        ], now: clock.now)
    }
    for loss in [0, 2_000, 40_000, 0] as [UInt16] {
      clock.advance(by: .seconds(3))
      await sample(loss: loss, heard: clock.now)
    }
    await ghost.session.absent()
    clock.advance(by: .seconds(9))
    await sample(loss: 0, heard: clock.now + .seconds(-9))
    await server.directory.ring()
    try await ghost.session.present(after: 0)
    await sample(loss: 0, heard: clock.now)
    await ghost.session.absent()
    for _ in 0..<200 {
      clock.advance(by: .milliseconds(200))
      await server.directory.ring()
    }
    #expect(await room.participants(after: nil, limit: 9).map(\.info.identity) == ["witness"])
    try await witness.session.send(Array("x".utf8))
    let late = try await server.join("late")
    #expect(await witness.next() == "3 participant.joined late")
    #expect(late.session.joined.participants.map(\.identity) == ["witness"])
    // A client that resumes hears of no one more.
    await witness.session.absent()
    try await witness.session.present(after: 2)
    #expect(await witness.next(until: "resumed") == "resumed 3")
    #expect(witness.resumed?.missed.compactMap(\.participant?.identity) == ["late"])
    let said = witness.resumed?.notices.map { notice in
      if case .speakers(let speakers) = notice { "speakers \(speakers.count)" } else { "\(notice)" }
    }
    #expect(said == ["speakers 0"])
  }

  @Test func `a participant that resumes learns nothing of a hidden participant's quality`()
    async throws
  {
    let server = try TestServer(clock: clock)
    let witness = try await server.join("witness")
    let ghost = try await server.join("ghost", hidden: true)
    let seen = try await server.join("seen")
    _ = try await ghost.offer(receivers: 1)
    _ = try await seen.offer(receivers: 1)
    let room = try #require(server.directory.room(of: "r"))
    await room.hear(
      after: 0, quality: PeerQuality(loss: 0, roundTrip: .milliseconds(20), lastHeard: clock.now))
    #expect(await witness.next(until: "quality") == "quality excellent")
    try await witness.session.present(after: 2)
    _ = await witness.next(until: "resumed")
    let qualities = witness.resumed?.notices.compactMap { notice in
      if case .quality(let changed) = notice { changed.map(\.participant) } else { nil }
    }
    #expect(qualities == [[seen.session.id]])
  }
}

extension Room {
  fileprivate func peer(named identity: String) -> PeerKey? {
    members.first { $0.info.identity == identity }?.native.peer
  }
}
