import Model
import Testing

@testable import Engine

@Suite("When tracks of video are looked at", .timeLimit(.minutes(1)))
struct TrackGroupsTests {
  private let track = TrackKey(peer: PeerKey(rawValue: 1), index: 0)
  private let start = Instant(nanoseconds: 1_000_000_000)

  private func look(_ groups: inout TrackGroups, at now: Instant) {
    _ = groups.sample(now: now) { _ in nil }
  }

  @Test func `behind the last there is one more look, and then none`() {
    var groups = TrackGroups()
    #expect(groups.deadline == .never)
    groups.publish(track, encodings: 2, now: start)
    let first = groups.deadline
    #expect(first > start && first < .never)
    look(&groups, at: first)
    groups.publish(track, encodings: 0, now: first)
    let last = groups.deadline
    #expect(last > first && last < .never)
    look(&groups, at: last)
    #expect(groups.deadline == .never)
  }

  @Test func `one that comes and goes between two looks is followed by a look too`() {
    var groups = TrackGroups()
    groups.publish(track, encodings: 1, now: start)
    groups.remove(track)
    let due = groups.deadline
    #expect(due < .never)
    groups.publish(track, encodings: 1, now: start + .milliseconds(1))
    #expect(groups.deadline == due, "the look isn't put off")
    groups.remove(track)
    look(&groups, at: due)
    #expect(groups.deadline == .never)
  }
}
