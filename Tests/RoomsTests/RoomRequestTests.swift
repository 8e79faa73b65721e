import AccessTokens
import Model
import Testing

@testable import Rooms

@Suite("Requests of participants", .timeLimit(.minutes(2)))
struct RoomRequestTests {
  @Test func `a mute is announced to all, is part of the state, and concerns one's own tracks alone`()
    async throws
  {
    let server = try TestServer()
    let alice = try await server.join("alice")
    let track = try #require(try await alice.offer([.audio]).tracks.first).track
    let bob = try await server.join("bob")
    await #expect(throws: RequestError.unknownTrack) { try await bob.session.mute(track.text, true) }
    try await alice.session.mute(track.text, true)
    try await alice.session.mute(track.text, true)
    try await alice.session.mute(track.text, false)
    #expect(await bob.next(2) == ["5 track.muted alice", "6 track.unmuted alice"])
    try await alice.session.mute(track.text, true)
    let late = try await server.join("late")
    #expect(late.session.joined.lastEvent == 8)
    #expect(late.session.joined.participants.first?.tracks.map(\.muted) == [true])
  }

  @Test func `its publisher learns of an administrator's mute and of its end, also while its own stands`()
    async throws
  {
    let server = try TestServer()
    let alice = try await server.join("alice")
    let track = try #require(try await alice.offer([.audio]).tracks.first).track.text
    let room = try #require(server.directory.administration(of: "r"))
    _ = await alice.next(until: "3 track.published")

    #expect(try await room.mute(track, of: "alice", true).mutedByAdmin)
    // Twice is once.
    _ = try await room.mute(track, of: "alice", true)
    await #expect(throws: RequestError.mutedByAdmin) { try await alice.session.mute(track, false) }
    // What no one else sees of it: the publisher's own mute beneath.
    try await alice.session.mute(track, true)
    #expect(try await room.mute(track, of: "alice", false).muted)
    #expect(await alice.nextMutes(2) == ["4 track.muted by admin", "5 track.muted"])

    _ = try await room.mute(track, of: "alice", true)
    await #expect(throws: RequestError.mutedByAdmin) { try await alice.session.mute(track, false) }
    _ = try await room.mute(track, of: "alice", false)
    #expect(await alice.nextMutes(2) == ["6 track.muted by admin", "7 track.muted"])
    try await alice.session.mute(track, false)
    _ = try await room.mute(track, of: "alice", true)
    #expect(await alice.nextMutes(2) == ["8 track.unmuted", "9 track.muted by admin"])
    #expect(try await !room.mute(track, of: "alice", false).muted)
    try await alice.session.mute(track, true)
    #expect(await alice.nextMutes(2) == ["10 track.unmuted", "11 track.muted"])
  }

  @Test func `an update that the token allows is announced to all that may see it`() async throws {
    let server = try TestServer()
    let alice = try await server.join("alice") { $0.canUpdateOwnMetadata = true }
    let bob = try await server.join("bob")
    await #expect(throws: RequestError.notAllowed("this (canUpdateOwnMetadata)")) {
      try await bob.session.update(ParticipantChange(name: "Bob"))
    }
    let name = #"<img src=x onerror="alert(1)">"#
    try await alice.session.update(
      ParticipantChange(name: name, metadata: "m", attributes: ["a": "1", "b": "2"]))
    // Nothing new is no event.
    try await alice.session.update(ParticipantChange(name: name, attributes: ["a": "1"]))
    try await alice.session.update(ParticipantChange(attributes: ["a": "", "c": "3"]))
    #expect(await bob.next(2) == ["4 participant.updated alice", "5 participant.updated alice"])
    let seen = try #require(try await server.join("late").session.joined.participants.first)
    #expect(seen.name == name && seen.metadata == "m" && seen.attributes == ["b": "2", "c": "3"])

    await #expect(throws: RequestError.tooLarge("metadata")) {
      try await alice.session.update(ParticipantChange(metadata: String(repeating: "x", count: 65_537)))
    }
    let many = Dictionary(uniqueKeysWithValues: (0..<257).map { ("k\($0)", "v") })
    await #expect(throws: RequestError.tooLarge("attributes")) {
      try await alice.session.update(ParticipantChange(attributes: many))
    }
    let ghost = try await server.join("ghost", hidden: true) { $0.canUpdateOwnMetadata = true }
    try await ghost.session.update(ParticipantChange(name: "Boo"))
    try await alice.session.update(ParticipantChange(name: "Alice"))
    #expect(await bob.next(2) == ["6 participant.joined late", "7 participant.updated alice"])
  }

  @Test func `messages reach all others, or those that are named, and never the sender`() async throws {
    let server = try TestServer()
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    let ghost = try await server.join("ghost", hidden: true)
    try await alice.session.send(Array("hi".utf8), topic: "chat")
    #expect(await bob.next() == "data hi chat true")
    #expect(await ghost.next() == "data hi chat true")
    try await alice.session.send(Array("x".utf8), to: ["ghost", "alice", "stranger"])
    #expect(await ghost.next() == "data x - true")
    // A hidden participant stays so.
    try await ghost.session.send(Array("boo".utf8))
    #expect(await bob.next() == "data boo - false")
    #expect(await alice.next(2) == ["3 participant.joined bob", "data boo - false"])
    let mute = try await server.join("mute") { $0.canPublishData = false }
    await #expect(throws: RequestError.notAllowed("messages (canPublishData)")) {
      try await mute.session.send(Array("hi".utf8))
    }
    await #expect(throws: RequestError.tooLarge("payload")) {
      try await alice.session.send(Array(repeating: 65, count: 16_387))
    }
  }

  @Test func `a message to an empty list is one to everybody`() async throws {
    let server = try TestServer()
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    try await alice.session.send(Array("x".utf8), to: [])
    try await alice.session.send(Array("y".utf8))
    #expect(await bob.next(2) == ["data x - true", "data y - true"])
  }

  @Test func `a flood is refused to its sender, and to no other`() async throws {
    let server = try TestServer(clock: StandingClock())
    let alice = try await server.join("alice")
    let track = try #require(try await alice.offer([.audio]).tracks.first).track
    let bob = try await server.join("bob")
    var refused = 0
    for number in 0..<400 {
      do throws(RequestError) { try await alice.session.send(Array("\(number)".utf8)) } catch {
        #expect(error == .tooOften)
        refused += 1
      }
      do throws(RequestError) { try await alice.session.mute(track.text, number % 2 == 0) } catch {
        #expect(error == .tooOften)
        refused += 1
      }
    }
    // 200 messages and 100 requests at once, of which coming took one and the offer two; the clock
    // stands.
    #expect(refused == 503)
    await #expect(throws: OfferError.self) { try await alice.offer([.video]) }
    try await bob.session.send(Array("x".utf8))
    #expect(await alice.next(until: "data") == "data x - true")
    // Bob wasn't thrown out for what alice did.
    #expect(await bob.next().hasPrefix("data 0"))
  }

  @Test func `events with a large state are bounded by its bytes as well`() async throws {
    let server = try TestServer(clock: StandingClock())
    let alice = try await server.join("alice") { $0.canUpdateOwnMetadata = true }
    let track = try #require(try await alice.offer([.audio]).tracks.first).track.text
    // Six bytes each in JSON.
    let metadata = String(repeating: "\u{1}", count: 40_000)
    var updates = 0
    do throws(RequestError) {
      while updates < 100 {
        try await alice.session.update(ParticipantChange(metadata: metadata + "\(updates)"))
        updates += 1
      }
    } catch {
      #expect(error == .tooOften)
    }
    // Coming took one request, the offer two, and each update 30.
    #expect(updates == 3)
    // Events that don't carry it cost one: six are left, since the update that was refused took one.
    for turn in 0..<6 { try await alice.session.mute(track, turn % 2 == 0) }
    await #expect(throws: RequestError.tooOften) { try await alice.session.mute(track, false) }
  }

  @Test func `large messages are bounded by their bytes as well`() async throws {
    let server = try TestServer(clock: StandingClock())
    let alice = try await server.join("alice")
    let large = Array(repeating: UInt8(65), count: 16_386)
    var sent = 0
    do throws(RequestError) {
      while sent < 200 {
        try await alice.session.send(large)
        sent += 1
      }
    } catch {
      #expect(error == .tooOften)
    }
    #expect(sent == 1_048_576 / 21_848)
  }

  @Test func `tracks that aren't there, or are another room's, can't be subscribed`() async throws {
    let server = try TestServer()
    let alice = try await server.join("alice")
    let own = try #require(try await alice.offer([.video]).tracks.first).track
    let stranger = try await server.join("stranger", room: "other")
    let foreign = try #require(try await stranger.offer([.video]).tracks.first).track
    let bob = try await server.join("bob")
    let slots = try await bob.offer(receivers: 1).slots
    for unknown in [foreign.text, "TR_unknown", "", bob.session.id.text] {
      await #expect(throws: RequestError.unknownTrack) { try await bob.session.native.subscribe(unknown) }
      await #expect(throws: RequestError.unknownTrack) { try await bob.session.native.unsubscribe(unknown) }
      await #expect(throws: RequestError.unknownTrack) { try await bob.session.mute(unknown, true) }
    }
    // One's own isn't received, and sound doesn't go into a picture's slot.
    await #expect(throws: RequestError.unknownTrack) { try await alice.session.native.subscribe(own.text) }
    for mid in [slots[0].mid, "nowhere"] {
      await #expect(throws: RequestError.unknownSlot) {
        try await bob.session.native.subscribe(own.text, mid: mid)
      }
    }
    try await bob.session.native.subscribe(own.text, mid: slots[1].mid)
    let deaf = try await server.join("deaf", subscribes: false)
    await #expect(throws: RequestError.notAllowed("subscribing (canSubscribe)")) {
      try await deaf.session.native.subscribe(own.text)
    }
    await bob.session.leave()
    await #expect(throws: RequestError.gone) { try await bob.session.native.subscribe(own.text) }
    await #expect(throws: RequestError.gone) { try await bob.session.send([]) }
  }

  @Test func `a hidden participant publishes nothing`() async throws {
    let server = try TestServer()
    let ghost = try await server.join("ghost", hidden: true)
    #expect(try await ghost.offer([.audio]).declined.map(\.code) == ["not-allowed"])
    #expect(await server.peers() == 0)
  }

  @Test func `a track may be muted from the start`() async throws {
    let server = try TestServer()
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    _ = try await alice.offer(
      [.audio], describing: [OfferedTrack(mid: "0", source: .microphone, muted: true)])
    _ = await bob.next()
    #expect(try await server.join("late").session.joined.participants.first?.tracks.map(\.muted) == [true])
  }

  @Test func `a participant that leaves while others come and go is forgotten by all`() async throws {
    let server = try TestServer(participants: 100, peers: 200)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<24 {
        group.addTask {
          guard let client = try? await server.join("p\(number % 12)") else { return }
          _ = try? await client.offer([.audio, .video], receivers: 2)
          if number % 3 == 0 { try? await client.session.send(Array("x".utf8)) }
          if number % 2 == 0 { await client.session.leave() }
          _ = try? await client.offer([.video])
        }
      }
    }
    let room = try #require(server.directory.room(of: "r"))
    #expect(await room.isConsistent)
    await server.directory.close()
    #expect(await room.isEmpty)
  }
}

extension Room {
  var isEmpty: Bool { members.isEmpty }

  /// No one is to get a track that isn't published, and all who may get all that are.
  var isConsistent: Bool {
    let published = Set(members.flatMap(\.published).map(\.info.id))
    return members.allSatisfy { member in
      let known = Set(member.native.slots.standings.keys)
      return known == published.subtracting(member.published.map(\.info.id))
        && member.info.tracks.map(\.id) == member.published.map(\.info.id)
    }
  }
}
