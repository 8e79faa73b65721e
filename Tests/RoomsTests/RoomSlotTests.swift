import Model
import Peer
import Testing

@testable import Engine
@testable import Rooms

extension Room {
  /// The media plane's samples: who is how loud (decibels below overload), everybody else as quiet as can be.
  func hear(_ attenuations: [String: UInt8] = [:], after seconds: Int, quality: PeerQuality? = nil) {
    let moment = now + .seconds(seconds)
    take(
      members.compactMap { member in
        guard let peer = member.native.peer else { return nil }
        return PeerSample(
          peer: peer,
          quality: quality ?? PeerQuality(loss: 0, roundTrip: .milliseconds(20), lastHeard: moment),
          levels: member.published.filter { $0.info.kind == .audio }.map {
            ($0.key, TrackLevel(attenuation: attenuations[member.info.identity] ?? 127, lastPacket: moment))
          })
      }, now: moment)
  }

  /// Who is shown to whom, by identity, pair by pair: the owners of the tracks in the member's slots.
  func shown(to identity: String) -> [String] {
    guard let member = members.first(where: { $0.info.identity == identity }) else { return [] }
    let slots = member.native.slots.slots
    let pairs = slots.map(\.streamID).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    return pairs.flatMap { pair in
      slots.filter { $0.streamID == pair }.map { slot in
        members.first { $0.published.contains { $0.info.id == slot.track } }?.info.identity ?? "-"
      }
    }
  }

  /// What plays in whose sections.
  func assignment(of identity: String) -> [String: TrackID] {
    guard let member = members.first(where: { $0.info.identity == identity }) else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: member.native.slots.slots.compactMap { slot in slot.track.map { (slot.mid, $0) } }
    )
  }

  func start(_ identity: String, index: UInt16, codec: CodecFormat) {
    guard let key = members.first(where: { $0.info.identity == identity })?.native.peer else { return }
    var events = PeerEvents(peer: key)
    events.startedTracks[index] = codec
    handle(events)
  }
}

@Suite("Slots of a room", .timeLimit(.minutes(2)))
struct RoomSlotTests {
  @Test func `a subscriber stays in a room of more tracks than a session queues notices`()
    async throws
  {
    let server = try TestServer()
    var readers: [Task<Void, Never>] = []
    for number in 0..<36 {
      let publisher = try await server.join("publisher \(number)", subscribes: false)
      _ = try await publisher.offer(Array(repeating: .audio, count: 32))
      let notices = publisher.session.notices
      readers.append(Task { for await _ in notices {} })
    }
    defer { for reader in readers { reader.cancel() } }
    let subscriber = try await server.join("subscriber")
    #expect(subscriber.known.count == 36 * 32 && subscriber.known.count > NoticeMailbox.limit)
    // Nothing is read before all is said.
    _ = try await subscriber.offer(receivers: 1)
    #expect(await subscriber.next(until: "answer").hasPrefix("answer"))
    #expect(
      await subscriber.next(36 * 32 - 1) == Array(repeating: "stream waiting no-slot", count: 36 * 32 - 1))
    #expect(await subscriber.session.grants() != nil, "the session goes on")
    #expect(subscriber.strangers.isEmpty)
  }

  @Test func `nine participants with two pairs each get the announced tracks, and the speaker's`()
    async throws
  {
    let server = try TestServer()
    var clients: [TestClient] = []
    for number in 0..<9 {
      let client = try await server.join("p\(number)")
      _ = try await client.offer([.audio, .video], receivers: 2)
      clients.append(client)
    }
    let room = try #require(server.directory.room(of: "r"))
    #expect(await room.shown(to: "p0") == ["p1", "p1", "p2", "p2"])
    #expect(await room.shown(to: "p8") == ["p0", "p0", "p1", "p1"])
    // The seventh speaks up; a moment is not enough, and who has just come in stays for a while.
    await room.hear(["p7": 20], after: 0)
    #expect(await room.shown(to: "p0") == ["p1", "p1", "p2", "p2"])
    for step in 4..<8 { await room.hear(["p7": 20], after: step) }
    #expect(await room.shown(to: "p0") == ["p7", "p7", "p2", "p2"])
    #expect(await room.shown(to: "p7") == ["p0", "p0", "p1", "p1"])
    // Then another, and the first speaker keeps its place.
    for step in 9..<14 { await room.hear(["p7": 20, "p4": 30], after: step) }
    #expect(await room.shown(to: "p0") == ["p7", "p7", "p4", "p4"])
    #expect(Set(await room.shown(to: "p1")) == ["p7", "p4"])

    try await clients[8].session.send(Array("mark".utf8))
    try await clients[0].session.send(Array("mark".utf8), to: ["p8"])
    for (number, client) in clients.enumerated() {
      _ = await client.next(until: "data mark")
      #expect(client.strangers.isEmpty, "p\(number) was given tracks that it didn't know")
      #expect(client.shown == (await room.assignment(of: "p\(number)")) && client.shown.count == 4)
    }
  }

  @Test func `a slot changes its source without an offer, and the media plane gets the change`() async throws
  {
    let server = try TestServer()
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    let carol = try await server.join("carol")
    _ = try await carol.offer(receivers: 1)
    _ = try await alice.offer([.video])
    _ = try await bob.offer([.video])
    #expect(await carol.next(until: "slots").contains("=x"))
    let shown = try #require(carol.shown.values.compactMap(\.self).first)
    // Asked for by name: it takes the only slot.
    #expect(await carol.next(until: "stream") == "stream waiting no-slot")
    let other = try #require(carol.known.first { $0 != shown })
    try await carol.session.native.subscribe(other.text)
    #expect(await carol.next(until: "slots").contains("=x"))
    #expect(carol.shown.values.contains(other) && !carol.shown.values.contains(shown))
    try await carol.session.native.unsubscribe(other.text)
    _ = await carol.next(until: "slots")
    #expect(carol.shown.values.contains(shown))
    #expect(carol.strangers.isEmpty)
  }

  @Test func `what is asked for is asked once, and more of it only where more is needed`() async throws {
    let server = try TestServer()
    let bob = try await server.join("bob")
    _ = try await bob.offer(receivers: 1)
    for name in ["a", "b", "c"] { _ = try await server.join(name).offer([.audio, .video]) }
    #expect(await bob.next(until: "offerWanted") == "offerWanted 1 1")
    #expect(await bob.next(until: "offerWanted") == "offerWanted 1 1")
    // Bob adds them all, and nothing more is said.
    _ = try await bob.offer(receivers: 2)
    #expect(await bob.next(until: "answer") == "answer 0 6")
    for _ in 0..<4 { #expect(await bob.next() == "stream active") }
    await bob.session.leave()
    #expect(await bob.next() == "closed left")
  }

  @Test func `a codec that a subscriber lacks pauses the track, and only there`() async throws {
    let server = try TestServer()
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    _ = try await bob.offer(receivers: 1)
    _ = try await alice.offer([.video])
    #expect(await bob.next(until: "slots").contains("=x"))
    let room = try #require(server.directory.room(of: "r"))
    // The publisher sends what only others can decode.
    await room.start("alice", index: 0, codec: .opus)
    #expect(await bob.next(until: "slots").contains("=-"))
    #expect(await bob.next() == "stream paused codec")
    await room.start("alice", index: 0, codec: .vp8)
    #expect(await bob.next(until: "slots").contains("=x"))
    #expect(await bob.next() == "stream active")
  }

  @Test func `speakers are announced when they change, and levels alone are not`() async throws {
    let server = try TestServer()
    let alice = try await server.join("alice")
    _ = try await alice.offer([.audio])
    let bob = try await server.join("bob")
    let room = try #require(server.directory.room(of: "r"))
    for step in 0..<10 { await room.hear(["alice": 20], after: step) }
    #expect(await bob.next(2) == ["quality excellent", "speakers 1"])
    for step in 10..<20 { await room.hear([:], after: step) }
    #expect(await bob.next() == "speakers 0")
    // Who is muted is silent, whatever the microphone says.
    for step in 20..<25 { await room.hear(["alice": 20], after: step) }
    #expect(await bob.next() == "speakers 1")
    let track = try #require(bob.known.first)
    try await alice.session.mute(track.text, true)
    #expect(await bob.next() == "5 track.muted alice")
    for step in 26..<32 { await room.hear(["alice": 20], after: step) }
    #expect(await bob.next() == "speakers 0")
  }

  @Test func `quality is announced when it changes, by loss and round trip, and of no hidden participant`()
    async throws
  {
    let server = try TestServer()
    let alice = try await server.join("alice")
    _ = try await alice.offer([.audio])
    let ghost = try await server.join("ghost", hidden: true)
    _ = try await ghost.offer(receivers: 1)
    _ = await ghost.next()
    let room = try #require(server.directory.room(of: "r"))
    func measured(_ loss: Double, _ roundTrip: Int, heard: Int) async -> PeerQuality {
      PeerQuality(
        loss: UInt16(loss * 655.35), roundTrip: .milliseconds(roundTrip),
        lastHeard: await room.now + .seconds(heard))
    }
    await room.hear(after: 0, quality: measured(0, 20, heard: 0))
    #expect(await ghost.next() == "quality excellent")
    await room.hear(after: 1, quality: measured(3, 20, heard: 1))
    await room.hear(after: 3, quality: measured(3, 20, heard: 3))
    #expect(await ghost.next() == "quality good")
    await room.hear(after: 6, quality: measured(0, 400, heard: 6))
    #expect(await ghost.next() == "quality poor")
    // All is lost at once, good news take their time.
    await room.hear(after: 7, quality: measured(60, 20, heard: 7))
    #expect(await ghost.next() == "quality lost")
    await room.hear(after: 8, quality: measured(0, 20, heard: 8))
    await room.hear(after: 10, quality: measured(0, 20, heard: 10))
    #expect(await ghost.next() == "quality excellent")
    await room.hear(after: 30, quality: measured(0, 20, heard: 20))
    #expect(await ghost.next() == "quality lost")
    // Who comes now hears it at once.
    #expect(await (try await server.join("late")).next() == "quality lost")
  }

  @Test func `a room's bit rates are those of its participants, and none is left of one that has gone`()
    async throws
  {
    let server = try TestServer()
    let alice = try await server.join("alice")
    _ = try await alice.offer([.audio])
    let bob = try await server.join("bob")
    _ = try await bob.offer(receivers: 1)
    _ = try await server.join("silent")
    let room = try #require(server.directory.room(of: "r"))
    #expect(await room.snapshot.bitrates == Bitrates())
    let quality = PeerQuality(
      loss: 0, roundTrip: .zero, lastHeard: await room.now, bitrates: Bitrates(received: 1_000, sent: 30))
    await room.hear(after: 0, quality: quality)
    #expect(await room.snapshot.bitrates == Bitrates(received: 2_000, sent: 60))
    #expect(try await room.participant("bob").bitrates == Bitrates(received: 1_000, sent: 30))
    #expect(try await room.participant("silent").bitrates == Bitrates())
    await bob.session.leave()
    #expect(await room.snapshot.bitrates == Bitrates(received: 1_000, sent: 30))
  }

  @Test func `a track whose packets cease is paused, and one that is muted is not`() async throws {
    let server = try TestServer()
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    _ = try await bob.offer(receivers: 1)
    _ = try await alice.offer([.audio])
    _ = await bob.next(until: "slots")
    let room = try #require(server.directory.room(of: "r"))
    await room.start("alice", index: 0, codec: .opus)
    await room.silence(seconds: 2)
    await room.silence(seconds: 4)
    #expect(await bob.next(until: "stream") == "stream paused no-media")
    await room.hear(after: 5)
    #expect(await bob.next(until: "stream") == "stream active")
    let track = try #require(bob.known.first)
    try await alice.session.mute(track.text, true)
    await room.silence(seconds: 9)
    try await alice.session.mute(track.text, false)
    #expect(await bob.next(until: "5 track.muted").hasPrefix("5"))
    #expect(await bob.next() == "6 track.unmuted alice")
  }
}

extension Room {
  /// Samples in which every track's last packet came long ago.
  func silence(seconds: Int) {
    let (start, moment) = (now, now + .seconds(seconds))
    take(
      members.compactMap { member in
        guard let peer = member.native.peer else { return nil }
        return PeerSample(
          peer: peer, quality: PeerQuality(loss: 0, roundTrip: .zero, lastHeard: moment),
          levels: member.published.map { ($0.key, TrackLevel(attenuation: nil, lastPacket: start)) })
      }, now: moment)
  }
}
