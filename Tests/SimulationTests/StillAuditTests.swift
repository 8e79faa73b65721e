import Model
import Signalling
import SyntheticPeers
import Testing

@testable import Simulation

/// What is said of pictures that stand still while another viewer changes something.
@Suite("Pictures beside another viewer's change", .timeLimit(.minutes(1)))
struct StillAuditTests {
  private static func at(_ milliseconds: Int) -> Instant {
    Instant(nanoseconds: Int64(milliseconds) * 1_000_000)
  }

  /// A picture every 50 ms for ten seconds, but for those of one span.
  private static func audit(without span: Range<Int> = 0..<0) -> StillAudit {
    let moments = stride(from: 0, to: 10_000, by: 50).filter { !span.contains($0) }
    return StillAudit(moments.map(at), longest: .milliseconds(300))
  }

  private static let end = at(10_000)

  private static func isStill(_ audit: StillAudit, after change: Int, until end: Instant = end) -> Bool {
    audit.stillness(after: at(change), until: end) != nil
  }

  @Test func `pictures that move are right, whenever something changes`() {
    for change in stride(from: 100, to: 8_000, by: 130) {
      #expect(Self.audit().moved(until: Self.at(change)))
      #expect(!Self.isStill(Self.audit(), after: change))
    }
  }

  @Test func `a picture that stands still behind a change is found, with its span`() throws {
    let audit = Self.audit(without: 3_050..<3_400)
    for change in [1_100, 2_000, 3_000, 3_020] {
      let still = try #require(audit.stillness(after: Self.at(change), until: Self.end))
      #expect(still.from == Self.at(3_000) && still.until == Self.at(3_400))
    }
    // More than two seconds later, before it, and for no longer than it may.
    #expect(!Self.isStill(audit, after: 900))
    #expect(!Self.isStill(audit, after: 3_400))
    let short = Self.audit(without: 3_050..<3_300)
    #expect(!Self.isStill(short, after: 3_000))
  }

  @Test func `a picture that never moves again stands still until the end`() throws {
    let audit = Self.audit(without: 4_050..<10_000)
    let still = try #require(audit.stillness(after: Self.at(3_000), until: Self.end))
    #expect(still.from == Self.at(4_000) && still.until == Self.end)
    #expect(!Self.isStill(audit, after: 3_000, until: Self.at(4_200)))
  }

  @Test func `what stood still before a change is not of its doing`() {
    let audit = Self.audit(without: 3_050..<6_000)
    #expect(audit.moved(until: Self.at(3_300)) && !audit.moved(until: Self.at(3_301)))
    #expect(!StillAudit([], longest: .milliseconds(300)).moved(until: Self.at(100)))
    #expect(!Self.isStill(StillAudit([], longest: .milliseconds(300)), after: 100))
  }

  @Test func `a slow layer may stand for twice its interval`() {
    var video = LayeredVideo(
      encodings: [], structure: LayerStructure(codec: .vp8, temporalLayers: 3))
    video.interval = 66_666_667
    #expect(StillAudit.longest(video) == .nanoseconds(533_333_336))
    video.structure.temporalLayers = 1
    #expect(StillAudit.longest(video) == .milliseconds(300))
  }

  @Test func `changes are words of viewers and to publishers, in order, each once`() {
    let books = LayerBooks(LayerPlan(seed: 2))
    let (one, two) = (TrackName(0, 1), TrackName(1, 1))
    books.note(PictureWanted(quality: .low), of: two, by: 3, now: Self.at(500))
    books.note(PictureWanted(quality: .off), of: one, by: 3, now: Self.at(500))
    books.note(publish: one, rid: "q", isActive: false, now: Self.at(400))
    books.note(PictureWanted(quality: .high), of: one, by: 2, now: Self.at(500))
    #expect(books.changes.map(\.at) == [Self.at(400), Self.at(500), Self.at(500)])
    #expect(books.changes.map(\.by) == [0, 2, 3])
    #expect(books.wantsNothing(of: one, by: 3, from: Self.at(100), until: Self.at(600)))
    #expect(books.wantsNothing(of: one, by: 3, from: Self.at(600), until: Self.at(700)))
    #expect(!books.wantsNothing(of: one, by: 3, from: Self.at(100), until: Self.at(500)))
    #expect(!books.wantsNothing(of: two, by: 3, from: Self.at(100), until: Self.at(600)))
  }

  @Test func `a word of a pause counts until another ends it`() {
    let books = LayerBooks(LayerPlan(seed: 2))
    books.note(StreamBody(track: "t", state: .paused, reason: .bandwidth), to: 3, now: Self.at(500))
    books.note(StreamBody(track: "t", state: .active), to: 3, now: Self.at(900))
    let isActive = { books.isActive("t", to: 3, from: Self.at($0), until: Self.at($1)) }
    #expect(isActive(0, 400) && isActive(900, 2_000))
    #expect(!isActive(0, 600) && !isActive(600, 2_000))
    #expect(books.isActive("u", to: 3, from: Self.at(600), until: Self.at(700)))
  }
}
