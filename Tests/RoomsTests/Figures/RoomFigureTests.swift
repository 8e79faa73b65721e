import AccessTokens
import Model
import Peer
import Testing

@testable import Engine
@testable import Rooms

@Suite("How those in a room do, by samples of the media plane", .timeLimit(.minutes(1)))
struct RoomFigureTests {
  private let run = StateRun()
  private var samples: [PeerSample] = []

  /// Who publishes a picture and a voice, and what the media plane says of it.
  private mutating func publish(
    _ identity: String, loss: UInt16, roundTrip: Int, received: Int
  ) throws -> TrackKey {
    let client = try run.join(identity)
    try client.offer([.audio, .video])
    let published = try #require(client.transport()?.published)
    var events = PeerEvents(peer: published[0].key.peer)
    for track in published {
      events.startedTracks[track.key.index] = track.info.kind == .audio ? .opus : .vp8
    }
    run.handle(.media(events))
    let quality = PeerQuality(
      loss: loss, roundTrip: .milliseconds(roundTrip), lastHeard: run.now,
      bitrates: Bitrates(received: received, sent: received / 2))
    samples.append(PeerSample(peer: published[0].key.peer, quality: quality, levels: []))
    return try #require(published.first { $0.info.kind == .video }?.key)
  }

  private func page(_ adjust: (inout PeopleListing) -> Void = { _ in }) -> [String] {
    var listing = PeopleListing()
    adjust(&listing)
    let (ids, _) = run.state.figurePage(listing, limit: 100)
    return run.state.figures(ids, []).map(\.name.identity)
  }

  @Test
  mutating func `each has rates, the worst loss and round trip, and its tracks with what comes of them`()
    throws
  {
    let picture = try publish("ada", loss: 655, roundTrip: 40, received: 1_000)
    _ = try run.join("ghost") { $0.hidden = true }
    run.handle(.samples(samples))
    let ids = run.state.figurePage(PeopleListing(), limit: 10).ids
    #expect(run.state.figureQuestion(about: ids).published == [picture])
    var large = EncodingLayers()
    (large.isActive, large.picture) = (true, PictureSize(width: 640, height: 360))
    large.layers = [
      LayerRate(
        spatial: 0, temporal: 0, rate: 400_000, peak: 400_000, picture: large.picture, frameRate: 30)
    ]
    var answer = WorkerExplanation()
    answer.layers[picture] = TrackLayers(encodings: [large])
    let found = run.state.figures(ids, [nil, answer])
    try #require(found.map(\.name.identity) == ["ada", "ghost"])
    #expect(found[0].bitrates == Bitrates(received: 1_000, sent: 500) && !found[0].isHidden)
    #expect(found[0].loss.map { abs($0 - 0.01) < 0.001 } == true && found[0].roundTrip == .milliseconds(40))
    #expect(found[0].tracks.map(\.codec) == [.opus, .vp8])
    #expect(found[0].tracks.map(\.layers) == [nil, TrackLayers(encodings: [large])])
    #expect(found[1].isHidden && found[1].loss == nil && found[1].roundTrip == nil && found[1].tracks.isEmpty)
    let room = run.state.snapshot(now: run.now)
    #expect(room.roundTrip == .milliseconds(40) && room.loss == found[0].loss && room.speaking == 0)
  }

  @Test mutating func `a room has the worst of all its transports and the sum of what they carry`() throws {
    _ = try publish("ada", loss: 655, roundTrip: 40, received: 1_000)
    _ = try publish("bob", loss: 0, roundTrip: 90, received: 300)
    _ = try run.join("cid")
    run.handle(.samples(samples))
    let room = run.state.snapshot(now: run.now)
    #expect((room.participants, room.publishers, room.tracks) == (3, 2, 4))
    #expect(room.bitrates == Bitrates(received: 1_300, sent: 650))
    #expect(room.loss == 655 / 65_536 && room.roundTrip == .milliseconds(90))
    var worse = run.state.members[1].transports
    worse += run.state.members[0].transports
    worse.append(Transport(id: worse[0].id, role: worse[0].role))
    for transports in [worse, worse.reversed()] {
      let sums = TransportSums(transports)
      #expect((sums.publishers, sums.tracks) == (1, 4) && sums.bitrates == room.bitrates)
      #expect(sums.loss == room.loss && sums.roundTrip == room.roundTrip)
    }
    let unknown = TransportSums(run.state.members[2].transports)
    #expect(unknown.loss == nil && unknown.roundTrip == nil && unknown.publishers == 0)
  }

  @Test
  mutating func `people are searched for by identity and name, and put into the order that is asked for`()
    throws
  {
    _ = try publish("bob", loss: 10, roundTrip: 20, received: 3_000)
    run.now = run.now + .seconds(1)
    _ = try publish("ada", loss: 30, roundTrip: 10, received: 1_000)
    run.now = run.now + .seconds(1)
    _ = try publish("cid", loss: 20, roundTrip: 30, received: 2_000)
    var patch = ParticipantPatch()
    patch.name = .set("Ärlich Bobson")
    run.handle(.administration(.changeParticipant("cid", patch)))
    run.handle(.samples(samples))
    #expect(page() == ["ada", "bob", "cid"])
    #expect(page { $0.isDescending = true } == ["cid", "bob", "ada"])
    #expect(page { $0.search = "BOB" } == ["bob", "cid"])
    #expect(page { $0.search = "äRL" } == ["cid"] && page { $0.search = "none" } == [])
    #expect(page { $0.order = .joined } == ["bob", "ada", "cid"])
    #expect(page { ($0.order, $0.isDescending) = (.received, true) } == ["bob", "cid", "ada"])
    #expect(page { $0.order = .sent } == ["ada", "cid", "bob"])
    #expect(page { $0.order = .loss } == ["bob", "cid", "ada"])
    #expect(page { $0.order = .roundTrip } == ["ada", "bob", "cid"])
  }

  @Test mutating func `a page takes in no one more once it has so many tracks, and says that there are more`()
    throws
  {
    for number in 0..<3 { _ = try publish("p\(number)", loss: 0, roundTrip: 1, received: 1) }
    // Two tracks each.
    for (limit, tracks, count) in [(2, 400, 2), (3, 400, 3), (3, 3, 2), (3, 2, 1), (3, 5, 3)] {
      let (ids, hasMore) = run.state.figurePage(PeopleListing(), limit: limit, tracks: tracks)
      #expect(ids.count == count && hasMore == (count < 3), "\(limit), \(tracks)")
    }
  }

  @Test mutating func `those who are asked for by their ids are in it, and their tracks count first`() throws
  {
    for number in 0..<5 { _ = try publish("p\(number)", loss: 0, roundTrip: 1, received: 1) }
    let ids = run.state.members.map(\.id)
    // Two tracks each.
    for (wanted, limit, tracks, found, hasMore) in [
      ([4], 2, 400, [0, 1, 4], true), ([1], 2, 400, [0, 1], true), ([4, 3], 3, 400, [0, 1, 2, 3, 4], false),
      ([4], 4, 400, [0, 1, 2, 3, 4], false), ([4], 2, 4, [0, 4], true), ([4, 3], 2, 4, [3, 4], true),
      ([1], 2, 2, [1], true), ([2], 1, 1, [2], true),
    ] {
      let (page, more) = run.state.figurePage(
        PeopleListing(), including: wanted.map { ids[$0] }, limit: limit, tracks: tracks)
      #expect(page == found.map { ids[$0] } && more == hasMore, "\(wanted), \(limit), \(tracks)")
    }
    var listing = PeopleListing()
    listing.search = "none"
    let gone = ParticipantID(known: "PA_gone")
    let (page, more) = run.state.figurePage(listing, including: [ids[2], gone], limit: 2)
    #expect(page == [ids[2]] && !more, "who isn't there isn't, and who is not found is")
  }

  @Test func `pages of a list follow each other in either order, also where values are the same`() {
    let items = [("b", 2), ("a", 2), ("c", 1), ("d", 3)].map {
      Placed(place: ListPlace(value: $0.1, name: $0.0), item: $0.0)
    }
    for (isDescending, wanted) in [(false, "cabd"), (true, "dbac")] {
      var after: ListPlace?
      var found = ""
      while let next = items.page(after: after, isDescending: isDescending, limit: 1).first {
        found += next.item
        after = next.place
      }
      #expect(found == wanted)
    }
  }
}

@Suite("How rooms are listed", .timeLimit(.minutes(1)))
struct RoomListingTests {
  @Test func `they are searched for and ordered by name, age, people and rates`() async throws {
    let server = try TestServer()
    for name in ["beta", "Alpha", "gamma"] { _ = try await server.directory.create(name, RoomSettings()) }
    _ = try await server.join("ada", room: "gamma")
    _ = try await server.join("bob", room: "gamma")
    _ = try await server.join("cid", room: "Alpha")
    func names(_ adjust: (inout RoomListing) -> Void) async -> [String] {
      var listing = RoomListing()
      adjust(&listing)
      return await server.directory.rooms(listing, after: nil, limit: 10).map(\.item.info.name)
    }
    #expect(await names { _ in } == ["Alpha", "beta", "gamma"])
    #expect(await names { $0.search = "A" } == ["Alpha", "beta", "gamma"])
    #expect(await names { $0.search = "alp" } == ["Alpha"])
    #expect(await names { $0.order = .created } == ["beta", "Alpha", "gamma"])
    #expect(
      await names { ($0.order, $0.isDescending) = (.participants, true) } == ["gamma", "Alpha", "beta"])
    #expect(server.directory.roomCount == 3 && server.directory.bitrates == Bitrates())
  }

  @Test func `what flows in rooms orders them, and is forgotten with their media`() throws {
    var directory = DirectoryState<Int>(limits: .init(rooms: 9, participants: 9, makesRooms: true))
    for name in ["a", "b"] {
      _ = try directory.create(name, patience: 9, now: Instant(nanoseconds: 0)) { Int($0) }
    }
    var ended = directory.note([2: Bitrates(received: 5, sent: 7)])
    #expect(ended.isEmpty)
    #expect(directory.listed.first { $0.name == "b" }?.bitrates == Bitrates(received: 5, sent: 7))
    #expect(directory.listed.first { $0.name == "a" }?.bitrates == Bitrates())
    #expect(directory.bitrates == Bitrates(received: 5, sent: 7) && directory.listedCount == 2)
    ended = directory.note([:])
    #expect(directory.bitrates == Bitrates() && ended == [2], "which is to hear of it")
    ended = directory.note([:])
    #expect(ended.isEmpty, "once")
  }
}
