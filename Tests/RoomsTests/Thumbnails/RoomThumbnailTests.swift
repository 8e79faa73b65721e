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
    let atOnce = [first, first, second].map { paces.take($0, now: now) }
    #expect(atOnce == [true, nil, true])
    var asked: [Bool?] = []
    for _ in 0..<6 {
      now = now + .milliseconds(1_990)
      let isTooSoon = paces.take(first, now: now) == nil
      #expect(isTooSoon)
      now = now + .milliseconds(10)
      asked.append(paces.take(first, now: now))
    }
    #expect(asked == [true, true, false, true, false, true])
  }

  @Test func `of a room there are sixteen at once and eight a second, and what is over is forgotten`() {
    var paces = ThumbnailPaces()
    var random = RandomSource.seeded(state: 1)
    var now = Instant(nanoseconds: 1_000_000_000)
    let taken = (0..<40).count { _ in paces.take(TrackID(&random), now: now) != nil }
    #expect(taken == 16)
    for _ in 0..<2_000 {
      now = now + .milliseconds(125)
      let asks = paces.take(TrackID(&random), now: now)
      #expect(asks == true)
    }
    #expect(paces.count <= 256)
  }

  @Test func `so many are taken at the same time, of all rooms together and of one`() {
    let desk = ThumbnailDesk()
    let now = Instant(nanoseconds: 1_000_000_000)
    for _ in 0..<4 { #expect(desk.begin(of: 1, now: now)) }
    #expect(!desk.begin(of: 1, now: now), "others are left theirs")
    for index in 4..<UInt64(ThumbnailDesk.atOnce) { #expect(desk.begin(of: index, now: now)) }
    #expect(!desk.begin(of: 99, now: now))
    desk.end(of: 1)
    #expect(desk.begin(of: 1, now: now) && !desk.begin(of: 99, now: now))
    desk.end(of: 5)
    #expect(!desk.begin(of: 1, now: now) && desk.begin(of: 99, now: now))
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
        let frame = try await server.directory.thumbnail(of: track.info.id.text, by: "ada", in: "r")
        found.append("\(frame.bytes)")
      } catch { found.append("\(error)") }
    }
    #expect(
      found == ["late", "noThumbnail(\"its key frames have more than 512 KiB\")", "[1]"])
    await #expect(throws: AdministrationError.tooOften) {
      try await server.directory.thumbnail(of: published[2].info.id.text, by: "ada", in: "r")
    }
    await #expect(throws: AdministrationError.unknownRoom) {
      try await server.directory.thumbnail(of: published[2].info.id.text, by: "ada", in: "none")
    }
  }
}
