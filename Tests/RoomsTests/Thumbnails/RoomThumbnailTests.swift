import AccessTokens
import Model
import Peer
import Testing

@testable import Engine
@testable import Rooms

@Suite("Of which tracks there are thumbnails, how often, and who learns of them", .timeLimit(.minutes(1)))
struct RoomThumbnailTests {
  /// Somebody publishes a picture and sound; packets have come.
  private func scene(
    codec: CodecFormat? = CodecFormat(.vp8), isEncrypted: Bool = false
  ) throws -> (run: StateRun, ada: StateClient, sound: String, picture: String) {
    let run = StateRun()
    let ada = try run.join("ada")
    let described = [
      OfferedTrack(mid: "0", source: .microphone),
      OfferedTrack(mid: "1", source: .camera, encrypted: isEncrypted),
    ]
    try ada.offer([.audio, .video], describing: described)
    let published = try #require(ada.transport()?.published)
    for track in published {
      guard let codec = track.info.kind == .video ? codec : CodecFormat.opus else { continue }
      var events = PeerEvents(peer: track.key.peer)
      events.startedTracks[track.key.index] = codec
      run.handle(.media(events))
    }
    let sound = try #require(published.first { $0.info.kind == .audio }?.info.id.text)
    let picture = try #require(published.first { $0.info.kind == .video }?.info.id.text)
    return (run, ada, sound, picture)
  }

  /// Why there is none; nil: there may be one.
  private func refusal(_ run: StateRun, _ track: String, of identity: String = "ada") -> AdministrationError?
  {
    do throws(AdministrationError) {
      _ = try run.state.pictured(track, of: identity)
      return nil
    } catch { return error }
  }

  @Test func `everybody in the room learns of it, with the track and its publisher`() throws {
    let (run, ada, _, picture) = try scene()
    let bob = try run.join("bob")
    let before = run.events.count
    guard case .done = run.handle(.administration(.thumbnail(track: picture, of: "ada"))) else {
      Issue.record("it is refused")
      return
    }
    #expect(run.kinds(after: before) == ["thumbnail.taken"])
    let event = try #require(run.events.last)
    #expect(event.track?.id.text == picture && event.participant?.identity == "ada")
    for client in [ada, bob] {
      let heard = client.notices.count {
        if case .event(let event) = $0 { event.kind == .thumbnailTaken } else { false }
      }
      #expect(heard == 1)
    }
  }

  @Test func `there is none of sound, of what is encrypted or muted, and of what none has come`() throws {
    let (run, ada, sound, picture) = try scene()
    #expect(refusal(run, picture) == nil)
    #expect(refusal(run, sound) == .noThumbnail("it is sound"))
    #expect(refusal(run, "TR_none") == .unknownTrack)
    #expect(refusal(run, picture, of: "bob") == .unknownParticipant)
    for isAdmin in [true, false] {
      if isAdmin {
        run.handle(.administration(.mute(track: picture, of: "ada", true)))
      } else {
        ada.ask(.mute(picture, true))
      }
      #expect(refusal(run, picture) == .noThumbnail("it is muted"))
      let before = run.events.count
      guard
        case .administrationRefused(.noThumbnail) = run.handle(
          .administration(.thumbnail(track: picture, of: "ada")))
      else {
        Issue.record("one is given of a track that has been muted since")
        return
      }
      #expect(run.events.count == before)
      if isAdmin {
        run.handle(.administration(.mute(track: picture, of: "ada", false)))
      } else {
        ada.ask(.mute(picture, false))
      }
    }
    #expect(refusal(run, picture) == nil)

    let secret = try scene(isEncrypted: true)
    #expect(refusal(secret.run, secret.picture) == .noThumbnail("its frames are encrypted end to end"))
    let silent = try scene(codec: nil)
    #expect(refusal(silent.run, silent.picture) == .noThumbnail("nothing has come of it yet"))
    try ada.offer(stops: true)
    #expect(refusal(run, picture) == .unknownTrack)
  }

  @Test(arguments: [Codec.vp8, .vp9, .h264, .h265, .av1])
  func `there are those of codecs that a browser decodes by themselves`(codec: Codec) throws {
    let (run, _, _, picture) = try scene(codec: CodecFormat(codec))
    let wanted: AdministrationError? =
      [.vp8, .vp9, .h264].contains(codec)
      ? nil
      : .noThumbnail("it is \(codec.encodingName); there are thumbnails of VP8, VP9 and H264")
    #expect(refusal(run, picture) == wanted)
  }

  @Test func `of a track there is one in two seconds, and publishers are asked twice and then every four`() {
    var paces = ThumbnailPaces()
    var random = RandomSource.seeded(state: 1)
    let (first, second) = (TrackID(&random), TrackID(&random))
    var now = Instant(nanoseconds: 1_000_000_000)
    let atOnce = [first, first, second].map { paces.take($0, for: 1, now: now)?.asks }
    #expect(atOnce == [true, nil, true])
    var asked: [Bool?] = []
    for _ in 0..<6 {
      now = now + .milliseconds(1_990)
      let isTooSoon = paces.take(first, for: 1, now: now) == nil
      #expect(isTooSoon)
      now = now + .milliseconds(10)
      asked.append(paces.take(first, for: 1, now: now)?.asks)
    }
    #expect(asked == [true, true, false, true, false, true])
  }

  @Test func `of a room there are sixteen at once and eight a second, and what is over is forgotten`() {
    var paces = ThumbnailPaces()
    var random = RandomSource.seeded(state: 1)
    var now = Instant(nanoseconds: 1_000_000_000)
    let tracks = (0..<40).map { _ in TrackID(&random) }
    let taken = tracks.count { paces.take($0, for: 1, now: now) != nil }
    #expect(taken == 16)
    for track in tracks { paces.noteSaid(track, for: 1, now: now) }
    for round in 0..<80 {
      now = now + .milliseconds(125)
      let turn = paces.take(tracks[(round + 16) % 40], for: 1, now: now)
      #expect(turn?.isSaid == false)
    }
    for _ in 0..<2_000 {
      now = now + .seconds(2)
      let turn = paces.take(TrackID(&random), for: 1, now: now)
      #expect(turn?.asks == true)
    }
    #expect(paces.count <= 256)
  }

  @Test
  func `of who looks at a track it is said once in a minute, and no more than the events that are kept`() {
    var paces = ThumbnailPaces()
    var random = RandomSource.seeded(state: 1)
    let (first, second) = (TrackID(&random), TrackID(&random))
    var now = Instant(nanoseconds: 1_000_000_000)
    var said: [Bool?] = []
    func look(_ track: TrackID, _ taker: Int) {
      let turn = paces.take(track, for: taker, now: now)
      said.append(turn?.isSaid)
      if turn?.isSaid == true { paces.noteSaid(track, for: taker, now: now) }
      now = now + .seconds(2)
    }
    for (track, taker) in [(first, 1), (first, 1), (first, 2), (second, 1), (second, 1)] {
      look(track, taker)
    }
    #expect(said == [true, false, true, true, false])
    now = now + .seconds(60)
    look(first, 1)
    #expect(said.last == true)

    // Everybody in a room of thousands is looked at, for an hour.
    let start = now
    said = []
    while now - start < .seconds(3_600) {
      look(TrackID(&random), 1)
      now = now + .milliseconds(-1_875)
    }
    let (heard, refused) = (said.count { $0 == true }, said.count { $0 == nil })
    #expect((1_800...1_900).contains(heard) && refused > 20_000, "\(heard)")
  }

  @Test func `so many are taken at the same time, of all rooms together and of one`() {
    let desk = ThumbnailDesk()
    let now = Instant(nanoseconds: 1_000_000_000)
    for taker in 0..<4 { #expect(desk.begin(of: 1, for: taker, now: now)) }
    #expect(!desk.begin(of: 1, for: 50, now: now), "others are left theirs")
    for index in 4..<ThumbnailDesk.atOnce { #expect(desk.begin(of: UInt64(index), for: index, now: now)) }
    #expect(!desk.begin(of: 99, for: 99, now: now))
    desk.end(of: 1, for: 0)
    #expect(desk.begin(of: 1, for: 0, now: now) && !desk.begin(of: 99, for: 99, now: now))
    desk.end(of: 5, for: 5)
    #expect(!desk.begin(of: 1, for: 50, now: now) && desk.begin(of: 99, for: 99, now: now))
  }

  @Test func `one who has rooms of which no key frame comes leaves others theirs`() {
    let desk = ThumbnailDesk()
    let now = Instant(nanoseconds: 1_000_000_000)
    let taken = (UInt64(0)..<16).count { desk.begin(of: $0, for: 1, now: now) }
    #expect(taken == ThumbnailDesk.atOnceOfTaker && desk.begin(of: 20, for: 2, now: now))
    desk.end(of: 0, for: 1)
    #expect(desk.begin(of: 21, for: 1, now: now) && !desk.begin(of: 22, for: 1, now: now))
  }

  @Test func `one who asks for many takes a part of what the server gives, whatever rooms they are of`() {
    let desk = ThumbnailDesk()
    var now = Instant(nanoseconds: 1_000_000_000)
    func taken(by taker: Int) -> Int {
      (0..<40).count { number in
        let room = UInt64(number)
        guard desk.mayAsk(taker, now: now), desk.begin(of: room, for: taker, now: now) else { return false }
        desk.end(of: room, for: taker)
        return true
      }
    }
    let atOnce = [taken(by: 1), taken(by: 2), taken(by: 1)]
    #expect(atOnce == [16, 16, 0])
    now = now + .seconds(1)
    let later = taken(by: 1)
    #expect(later == 4)
  }

  @Test func `one who asks too often spends nothing of what others may take of the same room`() async throws {
    let frame = KeyFrame(format: .vp8, bytes: [1], arrival: Instant(nanoseconds: 0))
    let server = try TestServer(clock: StandingClock(), keyFrame: { _ in frame })
    let ada = try await server.join("ada")
    _ = try await ada.offer([.video])
    let room = try #require(server.directory.room(of: "r"))
    let track = try #require(await room.members[0].published.first)
    var events = PeerEvents(peer: track.key.peer)
    events.startedTracks[track.key.index] = .vp8
    await room.handle(events)
    func ask(_ track: String, for taker: Int) async -> String {
      do throws(AdministrationError) {
        let found = try await server.directory.thumbnail(of: track, by: "ada", in: "r", for: taker)
        return "\(found.bytes)"
      } catch { return "\(error)" }
    }
    var answers: [String] = []
    for _ in 0..<17 { answers.append(await ask("TR_none", for: 1)) }
    #expect(answers == Array(repeating: "unknownTrack", count: 16) + ["tooOften"], "whatever is asked for")
    #expect(await ask(track.info.id.text, for: 1) == "tooOften")
    #expect(await ask(track.info.id.text, for: 2) == "[1]")
  }

  @Test
  func `a key frame that comes too late, is too large or of a track that is muted meanwhile isn't given`()
    async throws
  {
    let server = try TestServer(keyFrame: { track in
      guard track.index > 0 else { return nil }
      let bytes = Array(repeating: UInt8(1), count: track.index == 1 ? RoomDirectory.thumbnailBytes + 1 : 1)
      return KeyFrame(format: .vp8, bytes: bytes, arrival: Instant(nanoseconds: 0))
    })
    let ada = try await server.join("ada")
    _ = try await ada.offer([.video, .video, .video])
    let room = try #require(server.directory.room(of: "r"))
    let published = await room.members[0].published
    for track in published {
      var events = PeerEvents(peer: track.key.peer)
      events.startedTracks[track.key.index] = .vp8
      await room.handle(events)
    }
    var found: [String] = []
    for track in published {
      do throws(AdministrationError) {
        let frame = try await server.directory.thumbnail(
          of: track.info.id.text, by: "ada", in: "r", for: 1)
        found.append("\(frame.bytes)")
      } catch { found.append("\(error)") }
    }
    #expect(
      found == ["late", "noThumbnail(\"its key frames have more than 512 KiB\")", "[1]"])
    await #expect(throws: AdministrationError.tooOften) {
      try await server.directory.thumbnail(of: published[2].info.id.text, by: "ada", in: "r", for: 1)
    }
    await #expect(throws: AdministrationError.unknownRoom) {
      try await server.directory.thumbnail(of: published[2].info.id.text, by: "ada", in: "none", for: 1)
    }
  }
}
