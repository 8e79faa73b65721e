import Model
import Negotiation
import Testing

@testable import Simulation
@testable import SyntheticPeers

@Suite("What the rules say that a participant may", .timeLimit(.minutes(1)))
struct PermissionLedgerTests {
  private static func at(_ moment: Int64) -> Instant { Instant(nanoseconds: moment) }

  private static func section(
    _ mid: String, _ ssrc: UInt32, _ kind: MediaKind = .audio, as source: String? = nil, isMuted: Bool = false
  ) -> OfferedSection {
    OfferedSection(
      mid: mid, isStopped: false,
      publication: Publication(
        announcement: TrackAnnouncement(kind: kind, ssrc: ssrc, cname: "c", streamID: "s", trackID: "t"),
        source: source, isMuted: isMuted))
  }

  private static func offer(
    _ ledger: PermissionLedger, _ id: Int, _ sections: [OfferedSection], tracks: [String: String], now: Int64
  ) -> [String] {
    ledger.note(PermissionLedger.Offer(sections: sections, stopped: []), id: id)
    return ledger.noteAnswer(id, tracks: tracks, declined: [], now: at(now))
  }

  private static func problem(_ ledger: PermissionLedger, _ ssrc: UInt32, at moment: Int64) -> String? {
    ledger.publications[ssrc]?.problem(reached: [at(moment)], departed: at(moment))
  }

  @Test func `a source needs a section of its kind, and to be named`() {
    var allowance = Allowance()
    #expect(allowance.mayPublish("camera", in: .video) && !allowance.mayPublish("camera", in: .audio))
    #expect(allowance.mayPublish("unknown", in: .audio) && !allowance.mayPublish("hologram", in: .video))
    allowance.sources = ["microphone"]
    #expect(allowance.mayPublish("microphone", in: .audio) && !allowance.mayPublish("unknown", in: .audio))
    allowance.isHidden = true
    #expect(!allowance.mayPublish("microphone", in: .audio))
  }

  @Test func `what is published against the rules is found, and what is missing`() {
    var allowance = Allowance()
    allowance.sources = ["camera"]
    let ledger = PermissionLedger(allowance, now: Self.at(0))
    let sections = [Self.section("0", 1), Self.section("1", 2, .video)]
    let found = Self.offer(ledger, 1, sections, tracks: ["0": "TR_a"], now: 10)
    #expect(
      found.count == 2 && found[0].contains("not allowed") && found[1].contains("though camera is allowed"))
  }

  @Test func `packets count by when they reached the server, and the moment of a change excuses both`() {
    let ledger = PermissionLedger(Allowance(), now: Self.at(0))
    #expect(Self.offer(ledger, 1, [Self.section("0", 1)], tracks: ["0": "TR_a"], now: 10).isEmpty)
    #expect(Self.problem(ledger, 1, at: 9) != nil && Self.problem(ledger, 1, at: 10) == nil)
    var without = Allowance()
    without.canPublish = false
    ledger.permit(without, now: Self.at(20))
    #expect(Self.problem(ledger, 1, at: 20) == nil && Self.problem(ledger, 1, at: 21) != nil)
    // Allowed again it isn't published before an offer says so.
    ledger.permit(Allowance(), now: Self.at(30))
    #expect(Self.problem(ledger, 1, at: 35) != nil)
    #expect(Self.offer(ledger, 2, [Self.section("0", 1)], tracks: ["0": "TR_b"], now: 40).isEmpty)
    #expect(Self.problem(ledger, 1, at: 41) == nil)
  }

  @Test func `an administrator's mute outlives its track, until it is lifted`() {
    let ledger = PermissionLedger(Allowance(), now: Self.at(0))
    _ = Self.offer(ledger, 1, [Self.section("0", 1)], tracks: ["0": "TR_a"], now: 10)
    #expect(ledger.mute("TR_a", byAdmin: true, now: Self.at(20)))
    #expect(Self.problem(ledger, 1, at: 20) == nil && Self.problem(ledger, 1, at: 21) != nil)
    _ = Self.offer(ledger, 2, [Self.section("0", 2)], tracks: ["0": "TR_b"], now: 30)
    #expect(Self.problem(ledger, 2, at: 31) != nil && ledger.mutedByAdmin == ["TR_b"])
    ledger.mute("TR_b", byAdmin: false, now: Self.at(40))
    #expect(Self.problem(ledger, 2, at: 41) == nil)
    _ = Self.offer(ledger, 3, [Self.section("0", 3)], tracks: ["0": "TR_c"], now: 50)
    #expect(Self.problem(ledger, 3, at: 51) == nil)
  }

  @Test func `of a mute that was asked for twice the first answer counts`() {
    let ledger = PermissionLedger(Allowance(), now: Self.at(0))
    _ = Self.offer(ledger, 1, [Self.section("0", 1)], tracks: ["0": "TR_a"], now: 10)
    ledger.noteMute("TR_a", id: 2, now: Self.at(20))
    #expect(Self.problem(ledger, 1, at: 25) != nil)
    ledger.noteUnmute("TR_a", id: 3, now: Self.at(30))
    ledger.noteMute("TR_a", id: 2, now: Self.at(35))
    #expect(Self.problem(ledger, 1, at: 40) == nil)
  }

  @Test func `a grant's loss holds at every moment but that of the change`() {
    let ledger = PermissionLedger(Allowance(), now: Self.at(0))
    var without = Allowance()
    without.canSubscribe = false
    ledger.permit(without, now: Self.at(20))
    ledger.permit(Allowance(), now: Self.at(30))
    #expect([10, 20, 30, 35].allSatisfy { ledger.maySubscribe(at: Self.at($0)) })
    #expect(!ledger.maySubscribe(at: Self.at(25)))
  }
}

@Suite("Who gets the slots", .timeLimit(.minutes(1)))
struct SlotFairnessTests {
  private static func track(
    _ id: String, _ owner: String, _ source: String = "camera", order: Int
  ) -> SlotFairness.Track {
    SlotFairness.Track(id: id, owner: owner, kind: .video, source: source, order: order, isWanted: nil)
  }

  private let tracks = [
    track("a1", "a", "screen_share", order: 0), track("a2", "a", "screen_share", order: 1),
    track("b1", "b", order: 2), track("c1", "c", order: 3), track("c2", "c", order: 4),
  ]

  @Test func `one screen of each, then everybody's first before anybody's second`() {
    #expect(SlotFairness.problem(tracks, slots: ["a1", "b1"]) == "")
    #expect(SlotFairness.problem(tracks, slots: ["a1", "c1", "b1"]) == "")
    #expect(SlotFairness.problem(tracks, slots: ["a1", "a2"])?.contains("of b, its track 1, waits") == true)
    #expect(SlotFairness.problem(tracks, slots: ["b1", "c1"])?.contains("screen_share of a") == true)
    #expect(SlotFairness.problem(tracks, slots: ["a1", "c1", "c2"])?.contains("of c, its track 2") == true)
  }

  @Test func `what was asked for comes before all, and what was given up is no matter`() {
    var tracks = tracks
    tracks[4].isWanted = true
    #expect(SlotFairness.problem(tracks, slots: ["c2"]) == "")
    #expect(SlotFairness.problem(tracks, slots: ["a1"]) != "")
    tracks[0].isWanted = false
    // The other screen is the first now.
    #expect(SlotFairness.problem(tracks, slots: ["c2", "a2"]) == "")
  }

  @Test func `nothing waits beside an empty slot`() {
    #expect(SlotFairness.problem(tracks, slots: ["a1", nil])?.contains("is empty") == true)
    #expect(SlotFairness.problem(tracks, slots: ["a1", "a2", "b1", "c1", "c2", nil]) == nil)
  }
}
