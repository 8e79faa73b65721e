import Model
import Testing

@testable import Engine
@testable import Rooms

/// What the media plane hears of a subscriber's slots, and in which order.
@Suite("Commands about slots", .timeLimit(.minutes(1)))
struct SlotCommandTests {
  @Test func `how a track is shown is said before the slot goes on to it`() throws {
    let run = StateRun()
    let (ada, bob) = (try run.join("ada"), try run.join("bob"))
    _ = try ada.offer([.video])
    _ = try bob.offer([.video])
    let eve = try run.join("eve")
    _ = try eve.offer([.video], receivers: 1)
    let tracks = try [ada, bob].map { try #require($0.tracks.first).id }
    let shown = try #require(eve.transport()?.slots.slots.first { $0.kind == .video }?.track)
    let other = try #require(tracks.first { $0 != shown })
    var off = PicturePreference()
    off.quality = .off
    eve.ask(.view([(other.text, off)], on: .first))
    let before = run.commands.count
    eve.ask(.unsubscribe(shown.text, on: .first))
    let news = run.commands.dropFirst(before)
    let said = news.firstIndex { if case .prefer(_, _, off) = $0 { true } else { false } }
    let goesOn = news.firstIndex { if case .assign(_, _, .some) = $0 { true } else { false } }
    #expect(try #require(said) < #require(goesOn))
    #expect(eve.transport()?.slots.slots.first { $0.kind == .video }?.track == other)
  }
}
