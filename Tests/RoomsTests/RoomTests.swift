import AccessTokens
import Crypto
import ICE
import Model
import Negotiation
import Testing
import Wire

@testable import Rooms

@Suite("Rooms over a real media plane", .timeLimit(.minutes(2)))
struct RoomTests {
  typealias Server = TestServer
  typealias Client = TestClient

  @Test func `a participant that joins sees the others, and is seen, in numbered order`() async throws {
    let server = try Server()
    let alice = try await server.join("alice")
    #expect(alice.session.joined.participants.isEmpty && alice.session.joined.lastEvent == 2)
    let bob = try await server.join("bob")
    #expect(bob.session.joined.participants.map(\.identity) == ["alice"])
    #expect(bob.session.joined.room == alice.session.joined.room)
    #expect(await alice.next() == "3 participant.joined bob")
    await bob.session.leave()
    await bob.session.leave()
    #expect(await alice.next() == "4 participant.left bob")
    #expect(await bob.next(2) == ["closed left", "end"])
    let again = try await server.join("bob")
    #expect(await alice.next() == "5 participant.joined bob")
    #expect(again.session.id != bob.session.id)
  }

  @Test func `a published track goes into the slots of all that have one, and out again`() async throws {
    let server = try Server()
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    #expect(await alice.next() == "3 participant.joined bob")
    let slots = try await bob.offer(receivers: 1).slots
    #expect(await bob.next() == "answer 0 2")
    #expect(slots.count == 2 && slots.allSatisfy { $0.track == nil })
    let published = try await alice.offer([.audio, .video])
    #expect(published.tracks.count == 2 && published.slots.isEmpty && published.declined.isEmpty)
    #expect(await alice.next(3) == ["4 track.published alice", "5 track.published alice", "answer 2 0"])
    let mids = slots.map(\.mid)
    #expect(
      await bob.next(3) == [
        "4 track.published alice", "5 track.published alice", "slots \(mids[0])=x,\(mids[1])=x",
      ])
    // The microphone goes.
    _ = try await alice.offer(dropping: 1)
    #expect(await bob.next(2) == ["slots \(mids[0])=-", "6 track.unpublished alice"])
    await alice.session.leave()
    #expect(
      await bob.next(3) == ["slots \(mids[1])=-", "7 track.unpublished alice", "8 participant.left alice"])
  }

  @Test func `a latecomer gets the present tracks with its first offer, and is asked for missing sections`()
    async throws
  {
    let server = try Server()
    let alice = try await server.join("alice")
    _ = try await alice.offer([.audio, .video, .video])
    let bob = try await server.join("bob")
    #expect(bob.session.joined.participants.first?.tracks.count == 3)
    let answer = try await bob.offer(receivers: 1)
    #expect(answer.slots.allSatisfy { $0.track != nil } && Set(answer.slots.map(\.track)).count == 2)
    #expect(await bob.next(3) == ["answer 0 2", "stream waiting no-slot", "offerWanted 0 1"])
    let more = try await bob.offer(receivers: 1)
    #expect(more.slots.compactMap(\.track).count == 3)
    #expect(await bob.next(2) == ["answer 0 4", "stream active"])
  }

  @Test func `a participant that may not subscribe gets nothing, and a hidden one is not seen`() async throws
  {
    let server = try Server()
    let alice = try await server.join("alice")
    let ghost = try await server.join("ghost", hidden: true)
    let deaf = try await server.join("deaf", subscribes: false)
    #expect(await alice.next() == "3 participant.joined deaf")
    #expect(deaf.session.joined.participants.map(\.identity) == ["alice"])
    #expect(ghost.session.joined.participants.map(\.identity) == ["alice"])
    _ = try await deaf.offer(receivers: 1)
    #expect(await deaf.next() == "answer 0 2")
    _ = try await alice.offer([.audio])
    #expect(await deaf.next() == "4 track.published alice")
    await ghost.session.leave()
    await alice.session.leave()
    #expect(await deaf.next(2) == ["5 track.unpublished alice", "6 participant.left alice"])
  }

  @Test func `an identity that comes again ends its older session`() async throws {
    let server = try Server()
    let witness = try await server.join("witness")
    let old = try await server.join("alice")
    _ = try await old.offer([.audio])
    let new = try await server.join("alice")
    #expect(
      await witness.next(5) == [
        "3 participant.joined alice", "4 track.published alice", "5 track.unpublished alice",
        "6 participant.left alice", "7 participant.joined alice",
      ])
    var last = ""
    while let notice = Optional(await old.next()), notice != "end" { last = notice }
    #expect(last == "closed duplicateIdentity")
    #expect(new.session.joined.participants.map(\.identity) == ["witness"])
    await #expect(throws: OfferError.self) { try await old.offer([.audio]) }
  }

  @Test func `an offer that can't be read or answered changes nothing`() async throws {
    let server = try Server()
    let alice = try await server.join("alice")
    for text in ["", "v=0", "nonsense", String(repeating: "a=x\r\n", count: 50_000)] {
      await #expect(throws: OfferError.self) { _ = try await alice.session.native.offer(text, tracks: []) }
    }
    // Without sections there is nothing to connect for.
    let empty = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n"
    #expect(try await alice.session.native.offer(empty, tracks: []).tracks.isEmpty)
    #expect(await server.peers() == 0)
    _ = try await alice.offer([.audio])
    #expect(await server.peers() == 1)
  }

  @Test func `the media plane has a bound, and places come back`() async throws {
    let server = try Server(peers: 2)
    let clients = [try await server.join("a"), try await server.join("b"), try await server.join("c")]
    for client in clients.prefix(2) { _ = try await client.offer([.audio]) }
    do {
      _ = try await clients[2].offer([.audio])
      Issue.record("a third place")
    } catch OfferError.overloaded {}
    await clients[0].session.leave()
    // The place comes back when the media plane has said that the peer is gone.
    let late = try await server.join("d")
    var accepted = false
    for _ in 0..<500 where !accepted {
      do {
        _ = try await late.session.native.offer(Self.audioOffer, tracks: [])
        accepted = true
      } catch OfferError.overloaded {
        _ = await server.peers()
        await Task.yield()
      }
    }
    #expect(accepted)
  }

  @Test func `rooms and participants have bounds, and a room that is empty goes`() async throws {
    let server = try Server(participants: 2, rooms: 2)
    let a = try await server.join("a", room: "one")
    _ = try await server.join("b", room: "one")
    await #expect(throws: JoinError.full(limit: 2)) { _ = try await server.join("c", room: "one") }
    let other = try await server.join("a", room: "two")
    await #expect(throws: JoinError.full(limit: 2)) { _ = try await server.join("a", room: "three") }
    let id = other.session.joined.room.id
    await other.session.leave()
    #expect(try await server.join("a", room: "two").session.joined.room.id != id)
    await a.session.leave()
    #expect(try await server.join("c", room: "one").session.joined.participants.map(\.identity) == ["b"])
  }

  @Test func `an identity that joins again takes its own place in a full room, and no other`() async throws {
    let server = try Server(participants: 2, rooms: 1)
    let a = try await server.join("a")
    let b = try await server.join("b")
    let again = try await server.join("a")
    #expect(await a.next(until: "closed") == "closed duplicateIdentity")
    #expect(again.session.joined.participants.map(\.identity) == ["b"])
    await #expect(throws: JoinError.full(limit: 2)) { _ = try await server.join("c") }
    await b.session.leave()
    await b.session.leave()
    _ = try await server.join("c")
    await #expect(throws: JoinError.full(limit: 2)) { _ = try await server.join("b") }
    #expect(server.directory.counts.participants == 2)
  }

  @Test func `however many come as one at once, a full room ends with as many as it takes`() async throws {
    let server = try Server(participants: 2, rooms: 1)
    let b = try await server.join("b")
    _ = try await server.join("a")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { _ = try? await server.join("a") } }
    }
    let room = try #require(server.directory.room(of: "r"))
    #expect(await room.participants(after: nil, limit: 10).map(\.info.identity) == ["a", "b"])
    #expect(server.directory.counts.participants == 2)
    await b.session.leave()
    #expect(server.directory.counts.participants == 1)
  }

  @Test func `a session that is not read is ended, and closed is its last notice`() async throws {
    let server = try Server(participants: 5_000)
    let sleeper = try await server.join("sleeper")
    for number in 0..<NoticeMailbox.limit {
      let guest = try await server.join("guest\(number % 64)")
      if number % 2 == 0 { await guest.session.leave() }
    }
    var count = 0
    var last = ""
    var notice = await sleeper.next()
    while notice != "end" {
      count += 1
      last = notice
      notice = await sleeper.next()
    }
    #expect(count == NoticeMailbox.limit + 1)
    #expect(last == "closed connectionLost")
    // The room goes on without.
    #expect(
      try await server.join("new").session.joined.participants.contains { $0.identity == "sleeper" } == false)
  }

  @Test func `at shutdown all sessions are closed, and no participant joins`() async throws {
    let server = try Server()
    let alice = try await server.join("alice")
    _ = try await alice.offer([.audio])
    let bob = try await server.join("bob", room: "other")
    await server.directory.close()
    #expect(await bob.next(2) == ["closed serverShutdown", "end"])
    var last = ""
    while let notice = Optional(await alice.next()), notice != "end" { last = notice }
    #expect(last == "closed serverShutdown")
    await #expect(throws: JoinError.draining) { _ = try await server.join("carol") }
    #expect(await server.peers() == 0)
  }

  @Test func `a participant accepted before shutdown that arrives after it is closed as well`()
    async throws
  {
    let server = try Server()
    let alice = try await server.join("alice")
    let room = try #require(server.directory.room(of: "r"))
    _ = await room.handle(.close(.serverShutdown))
    let late = Client(try await room.join(Newcomer(identity: "late", grants: .join("r"))).session)
    #expect(await late.next(2) == ["closed serverShutdown", "end"])
    #expect(await alice.next(2) == ["closed serverShutdown", "end"])
  }

  /// What a browser's own negotiator would make of one microphone.
  static let audioOffer: String = {
    var negotiator = Negotiator(policy: .client)
    var random = RandomSource.system
    let offer = try? negotiator.offer(
      OfferPlan(tracks: [
        TrackAnnouncement(kind: .audio, ssrc: 77, cname: "c", streamID: "s", trackID: "t")
      ]),
      local: LocalTransport(
        credentials: ICECredentials(ufrag: "clientclient", password: "clientclientclientclient"),
        fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 7, count: 32)), candidates: [],
        isLite: false), random: &random)
    return offer?.text ?? ""
  }()
}
