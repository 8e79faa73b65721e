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
}
