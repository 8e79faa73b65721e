import AccessTokens
import Congestion
import Engine
import Model
import Testing

@testable import Rooms

@Suite("The one reason why a track comes as it does", .timeLimit(.minutes(1)))
struct StreamJudgeTests {
  private static let key = PeerKey(home: 0, serial: 1)
  private static let track = TrackKey(peer: PeerKey(home: 0, serial: 2), index: 1)

  private static func option(_ encoding: UInt8, _ width: UInt16, _ height: UInt16) -> LayerOption {
    LayerOption(encoding: encoding, width: width, height: height, rate: 100_000, peak: 100_000)
  }

  /// A picture that comes as well as it can.
  private func judge(
    _ kind: MediaKind = .video, _ change: (inout StreamJudge, inout SlotExplanation) -> Void
  ) -> StreamReason {
    var peer = PeerExplanation(peer: Self.key, roundTrip: .milliseconds(20))
    peer.takesMedia = true
    peer.target = 420_000
    peer.acknowledged = 99_000
    var slot = SlotExplanation(slot: 0, track: Self.track)
    slot.sent = Self.option(2, 1_280, 720)
    slot.best = Self.option(2, 1_280, 720)
    var judge = StreamJudge(
      standing: .shown, picture: PicturePreference(), kind: kind,
      info: TrackInfo(
        id: TrackID(known: "TR_1"), kind: kind, source: kind == .video ? .camera : .microphone, name: nil),
      publisher: ParticipantName(id: ParticipantID(known: "PA_1"), identity: "ada", name: nil),
      isStalled: false, hasPeer: true, peer: peer, slot: slot)
    change(&judge, &slot)
    if judge.slot != nil { judge.slot = slot }
    return judge.reason
  }

  @Test func `nothing better is to be had`() {
    #expect(judge { _, _ in } == .best)
    #expect(judge(.audio) { _, _ in } == .best)
    #expect(judge { judge, _ in judge.picture.width = 1_280 } == .best)
    #expect(StreamReason.best.text == "this is the best there is")
  }

  @Test func `a connection that carries too little is named by what may be sent, not by what arrives`() {
    let reason = judge { _, slot in slot.reason = .bandwidth }
    #expect(reason == .bandwidth(420_000) && reason.text == "your connection carries 420 kbit/s")
    let held = judge { judge, slot in
      judge.peer?.next = 300_000
      slot.reason = .bandwidth
      slot.isHeld = true
    }
    #expect(held == .held(420_000) && held.code == "bandwidth")
    let still = judge { judge, slot in
      judge.peer?.next = 900_000
      slot.reason = .bandwidth
      slot.isHeld = true
    }
    #expect(still == .bandwidth(420_000), "more would not fit in any case")
  }

  @Test func `rates are short, and never more than there is`() {
    let known: [(Double, String)] = [
      (0, "0 kbit/s"), (999_999, "999 kbit/s"), (1_000_000, "1 Mbit/s"), (1_899_999, "1.8 Mbit/s"),
      (20_000_000, "20 Mbit/s"), (-5, "0 kbit/s"), (.infinity, "1000000 Mbit/s"),
    ]
    for (rate, text) in known { #expect(StreamReason.rate(rate) == text) }
  }

  @Test func `a publisher that sends less than is shown is named with what it sends`() {
    let small = judge { judge, slot in
      judge.picture.width = 1_280
      judge.picture.height = 720
      slot.best = Self.option(0, 640, 360)
      slot.sent = slot.best
    }
    #expect(small == .publisher("ada", lines: 360) && small.text == "ada sends only 360p")
    let upright = judge { judge, slot in
      judge.picture.height = 1_280
      slot.best = Self.option(0, 360, 640)
    }
    #expect(upright == .publisher("ada", lines: 360))
    let stopped = judge { _, slot in slot.missingEncodings = 1 }
    #expect(stopped == .publisher("ada", lines: 720))
    let filled = judge { judge, slot in
      // As wide as the tile, whose height it need not fill.
      judge.picture.width = 640
      judge.picture.height = 640
      slot.best = Self.option(0, 640, 360)
    }
    #expect(filled == .best)
  }

  @Test func `what the subscriber asked for is named by the bound that counts`() {
    func view(_ change: (inout PicturePreference) -> Void, sent: LayerOption? = nil) -> String {
      judge { judge, slot in
        change(&judge.picture)
        slot.reason = .preference
        slot.sent = sent ?? Self.option(0, 320, 180)
      }.text
    }
    #expect(view { $0.width = 320 } == "the tile is 320 pixels wide")
    #expect(view { $0.height = 180 } == "the tile is 180 pixels high")
    #expect(view { $0.quality = .low } == "low quality was asked for")
    let large = Self.option(2, 1_280, 720)
    let slow = view(
      { picture in
        picture.width = 1_280
        picture.frameRate = 15
      }, sent: large)
    #expect(slow == "15 pictures a second were asked for")
  }

  @Test func `the room's own reasons come before all that the media plane says`() {
    let bad: (inout SlotExplanation) -> Void = { $0.reason = .bandwidth }
    func first(_ change: (inout StreamJudge) -> Void) -> String {
      judge { judge, slot in
        bad(&slot)
        change(&judge)
      }.code
    }
    #expect(first { $0.standing = .waiting } == "no-slot")
    #expect(first { $0.standing = .codecMissing } == "codec")
    #expect(first { $0.picture.quality = .off } == "off")
    #expect(first { $0.info.mutedByPublisher = true } == "muted")
    #expect(first { $0.isStalled = true } == "no-media")
    #expect(first { $0.hasPeer = false } == "connecting")
    #expect(first { $0.peer?.takesMedia = false } == "connecting")
  }

  @Test func `a muted track is muted, by either of the two, and not silent`() {
    let own = judge { judge, slot in
      judge.info.mutedByPublisher = true
      slot.reason = .silent
    }
    #expect(own == .mutedByPublisher("ada") && own.text == "muted by ada")
    let admin = judge { judge, _ in
      judge.info.mutedByPublisher = true
      judge.info.mutedByAdmin = true
    }
    #expect(admin == .mutedByAdmin)
    #expect(judge { _, slot in slot.reason = .silent } == .noMedia("ada"))
  }

  @Test func `a media plane that says nothing is no reason to make one up`() {
    let unanswered = judge { judge, _ in
      judge.peer = nil
      judge.slot = nil
    }
    #expect(unanswered == .unknown)
    let without = judge { judge, _ in judge.slot = nil }
    #expect(without == .unknown)
    #expect(judge { _, slot in slot.needsKeyFrame = true } == .keyFrame("ada"))
  }
}
