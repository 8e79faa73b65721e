import AccessTokens
import Model
import Testing

@testable import Engine
@testable import Rooms

/// What the media plane is to know of tracks that their packets don't say.
@Suite("Traits of tracks", .timeLimit(.minutes(1)))
struct TraitsTests {
  private func traits(_ run: StateRun, _ key: TrackKey) -> TrackTraits? {
    for case .describe(key, let traits) in run.commands.reversed() { return traits }
    return nil
  }

  private func permit(_ run: StateRun, _ allowed: Bool) {
    var patch = ParticipantPatch()
    patch.permissions.canPublish = .set(allowed)
    run.handle(.administration(.changeParticipant("ada", patch)))
  }

  @Test func `a section that was withdrawn has the traits of the track that it is published as again`() throws
  {
    let run = StateRun()
    let ada = try run.join("ada")
    let screen = OfferedTrack(mid: "0", source: .screenShare, encrypted: true)
    _ = try ada.offer([.video], describing: [screen])
    let key = try #require(ada.transport()?.published.first?.key)
    #expect(traits(run, key) == [.screen, .encrypted])
    permit(run, false)
    #expect(ada.tracks.isEmpty)
    permit(run, true)
    _ = try ada.offer(describing: [OfferedTrack(mid: "0", source: .camera)])
    #expect(ada.transport()?.published.map(\.key) == [key])
    #expect(traits(run, key) == [])
  }

  @Test func `of a new section whose track has none nothing is said`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let key = try #require(ada.transport()?.published.first?.key)
    #expect(traits(run, key) == nil)
  }

  @Test func `what a client says of its encodings' sizes goes with what is agreed on, and no further`() throws
  {
    let run = StateRun()
    let ada = try run.join("ada")
    let layers = [
      OfferedLayer(rid: nil, picture: PictureSize(width: 640, height: 360)),
      OfferedLayer(rid: "unknown", picture: PictureSize(width: 1, height: 1)),
    ]
    _ = try ada.offer([.video], describing: [OfferedTrack(mid: "0", source: .camera, layers: layers)])
    let key = try #require(ada.transport()?.published.first?.key)
    let sizes = { (media: AgreedMedia?) in media?.receive.first?.encodings.map(\.picture) }
    #expect(sizes(run.agreed[key.peer]) == [PictureSize(width: 640, height: 360)])
    _ = try ada.offer(describing: [
      OfferedTrack(
        mid: "0", source: .camera, layers: [OfferedLayer(rid: "f", picture: PictureSize(width: 9, height: 9))]
      )
    ])
    for case .apply(_, let media) in run.commands {
      #expect(sizes(media) == [PictureSize()], "of another name")
    }
  }

  private func resized(_ run: StateRun, _ key: TrackKey) -> [[PictureSize]] {
    run.commands.compactMap { if case .resize(key, let sizes) = $0 { sizes } else { nil } }
  }

  @Test func `sizes that change behind the offer are passed on, of a track of one's own alone`() throws {
    let run = StateRun()
    let (ada, bob) = (try run.join("ada"), try run.join("bob"))
    _ = try ada.offer([.audio, .video])
    _ = try bob.offer([.video])
    let own = try #require(ada.transport()?.published)
    let camera = try #require(own.first { $0.info.kind == .video })
    let sound = try #require(own.first { $0.info.kind == .audio })
    func say(_ track: TrackID, _ layers: [OfferedLayer]) -> RequestError? {
      if case .refused(let error) = ada.ask(.resize(track.text, layers, on: .first)) { error } else { nil }
    }
    let size = PictureSize(width: 640, height: 360)
    let layers = [OfferedLayer(rid: nil, picture: size)]
    #expect(say(camera.info.id, layers) == nil)
    #expect(resized(run, camera.key) == [[size]])
    // Encodings that it doesn't have, none, and sound have no size.
    #expect(say(camera.info.id, [OfferedLayer(rid: "f", picture: size)]) == nil)
    #expect(say(camera.info.id, []) == nil && say(sound.info.id, layers) == nil)
    #expect(say(bob.tracks[0].id, layers) == .unknownTrack)
    permit(run, false)
    #expect(say(camera.info.id, layers) == .unknownTrack)
    #expect(run.commands.count { if case .resize = $0 { true } else { false } } == 1)
  }

  @Test func `sizes are said no more often than other requests`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let track = ada.tracks[0].id.text
    let layers = [OfferedLayer(rid: nil, picture: PictureSize(width: 640, height: 360))]
    var said = 0
    while said < 1_000, case .done = ada.ask(.resize(track, layers, on: .first)) { said += 1 }
    #expect((80...100).contains(said), "\(said) at once")
    guard case .refused(.tooOften) = ada.ask(.resize(track, layers, on: .first)) else {
      Issue.record("it is charged")
      return
    }
    // A stranger's guesses are charged as well.
    guard case .refused(.tooOften) = ada.ask(.resize("TR_x", layers, on: .first)) else {
      Issue.record("what is refused is charged")
      return
    }
  }
}
