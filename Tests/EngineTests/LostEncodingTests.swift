import Media
import Model
import Testing

@testable import Engine

@Suite("Encodings of other workers' publishers that stop", .timeLimit(.minutes(1)))
struct LostEncodingTests {
  private let track = TrackKey(peer: PeerKey(home: 1, serial: 7), index: 2)
  private let other = TrackKey(peer: PeerKey(home: 1, serial: 7), index: 3)
  private let now = Instant(nanoseconds: 5_000_000_000)

  /// What is said of a track of which these encodings come.
  private func layers(_ come: Bool...) -> TrackLayers {
    TrackLayers(
      encodings: come.map { isActive in
        var encoding = EncodingLayers()
        encoding.isActive = isActive
        return encoding
      })
  }

  @Test func `those who are shown one that stops are looked at as soon as that is heard, once`() {
    var groups = TrackGroups()
    groups.hear(track, layers(true, true, true), now: now)
    groups.hear(other, layers(true, true), now: now)
    #expect(groups.lostDeadline == .never && groups.takeLost().isEmpty)
    groups.hear(track, layers(true, true, false), now: now + .milliseconds(20))
    groups.hear(track, layers(true, false, false), now: now + .milliseconds(30))
    #expect(groups.lostDeadline == now + .milliseconds(20))
    #expect(groups.takeLost() == [track.track])
    #expect(groups.lostDeadline == .never && groups.takeLost().isEmpty)
  }

  @Test
  func `one that begins is no hurry, nor is a track of which nothing comes, nor one that is heard of first`()
  {
    var groups = TrackGroups()
    groups.hear(track, layers(true, false), now: now)
    groups.hear(track, layers(true, true), now: now)
    groups.hear(track, layers(false, false), now: now)
    groups.hear(other, layers(false, true), now: now)
    #expect(groups.lostDeadline == .never && groups.takeLost().isEmpty)
  }

  @Test func `of several tracks each is named`() {
    var groups = TrackGroups()
    for key in [track, other] {
      groups.hear(key, layers(true, true), now: now)
      groups.hear(key, layers(true, false), now: now)
    }
    #expect(groups.takeLost() == [track.track, other.track])
  }
}
