import Congestion
import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

/// Key frames that a path takes long for, and streams that are cut.
@Suite("Large key frames", .timeLimit(.minutes(1)))
struct LargeKeyFrameTests {
  private static let track = TrackKey(peer: PeerKey(home: 1, serial: 9), index: 1)
  private static let packet = [UInt8](repeating: 0x80, count: 1_172)
  /// Bits per second.
  private static let target = 500_000.0

  /// Two slots of a subscriber whose path is narrow, each fed from a track of its own.
  private final class Viewer {
    let far: ConnectedPeer
    private var infos: [PacketReferenceName: PacketInfo] = [:]
    private var numbers: [Int64] = [100, 100]
    private(set) var left = [0, 0]

    private struct PacketReferenceName: Hashable {
      var track: Int32
      var sequence: Int64
    }

    init() throws {
      far = try ConnectedPeer(AgreedMedia(send: [ConnectedPeer.slot(0), ConnectedPeer.slot(1)]))
      for slot in 0...1 {
        let key = TrackKey(peer: LargeKeyFrameTests.track.peer, index: UInt16(slot))
        _ = far.peer.setSource(slot: slot, key, clock: nil)
      }
    }

    /// A picture of a slot's track comes.
    func take(_ slot: Int, packets: Int = 1, key: Bool = false) {
      let timestamp = UInt32(truncatingIfNeeded: far.now.nanoseconds / 11_111)
      for place in 0..<packets {
        var info = PacketInfo()
        (info.format, info.primaryFormat) = (.vp8, .vp8)
        info.extendedSequence = numbers[slot]
        info.timestamp = timestamp
        (info.payloadOffset, info.payloadSize) = (12, UInt16(LargeKeyFrameTests.packet.count - 12))
        if place == 0 { info.flags = key ? [.keyFrame, .frameStart] : [.frameStart] }
        let reference = PacketReference(track: slot, sequence: numbers[slot])
        infos[PacketReferenceName(track: reference.track, sequence: reference.sequence)] = info
        numbers[slot] += 1
        far.peer.select(info, reference, slot: slot, now: far.now, context: &far.context)
      }
    }

    /// What may leave does.
    func depart() {
      while let next = far.peer.nextDeparture(now: far.now, context: &far.context) {
        let name = PacketReferenceName(track: next.track, sequence: next.sequence)
        guard let info = infos[name] else { return }
        LargeKeyFrameTests.packet.withUnsafeBytes {
          far.peer.depart($0, info, now: far.now, context: &far.context)
        }
        left[Int(next.track)] += 1
      }
    }

    /// Time passes in steps of 5 ms, with a packet of each of these slots every 50 ms.
    func run(_ milliseconds: Int, beside slots: [Int] = []) {
      for step in 1...(milliseconds / 5) {
        far.now = far.now + .milliseconds(5)
        if step % 10 == 0 { for slot in slots { take(slot) } }
        depart()
      }
    }

    var dropped: UInt64 { far.dropped(SessionDrop.tooLateToLeave) }
  }

  /// 54 kB are 0.9 s of the target, of which 2.5 times as much leaves. Nothing says that they have arrived: no more than a second of the
  /// target may be on its way.
  @Test
  func
    `a key frame that takes longer than a picture may comes whole, with what lies behind it, and no other is asked for`()
    throws
  {
    let viewer = try Viewer()
    viewer.far.peer.egress.pacer.setTarget(Self.target)
    viewer.take(0, packets: 45, key: true)
    viewer.run(300, beside: [0])
    #expect(viewer.left[0] < 43, "it takes longer than any other picture may")
    viewer.run(300, beside: [0])
    #expect(viewer.left[0] >= 45 + 10 && viewer.dropped == 0)
    #expect(viewer.far.peer.takeCut() == nil && !viewer.far.peer.needsKeyFrame(slot: 0))
    // From then on a picture has no longer than before.
    viewer.run(200, beside: [0])
    viewer.far.peer.egress.pacer.setTarget(100)
    viewer.run(600, beside: [0])
    #expect(viewer.dropped > 0 && viewer.far.peer.takeCut() == 0)
  }

  @Test func `no other slot is cut for it`() throws {
    let viewer = try Viewer()
    viewer.take(1, key: true)
    viewer.far.peer.egress.pacer.setTarget(Self.target)
    viewer.run(50, beside: [1])
    viewer.take(0, packets: 110, key: true)
    viewer.run(1_600, beside: [1])
    #expect(viewer.dropped == 0 && viewer.far.peer.takeCut() == nil)
    #expect(viewer.left[0] == 110 && viewer.left[1] >= 30)
  }

  @Test
  func
    `what can't leave in a second and a half is cut and asked for once more, and a third time where one came through`()
    throws
  {
    let viewer = try Viewer()
    viewer.far.peer.egress.pacer.setTarget(Self.target)
    func mends() -> Bool {
      #expect(viewer.far.peer.takeCut() == 0 && viewer.far.peer.takeCut() == nil)
      return viewer.far.peer.mendsCut(slot: 0, target: Self.target, now: viewer.far.now)
    }
    func fail() {
      viewer.take(0, packets: 260, key: true)
      viewer.run(1_600)
      #expect(viewer.far.peer.needsKeyFrame(slot: 0) && !viewer.far.peer.departs)
    }
    fail()
    #expect(mends() && viewer.far.peer.waitsForKeyFrame(slot: 0, encoding: 0))
    // One that comes through begins the count again.
    viewer.take(0, packets: 10, key: true)
    viewer.run(200, beside: [0])
    viewer.far.peer.egress.pacer.setTarget(100)
    viewer.run(600, beside: [0])
    #expect(mends())
    viewer.far.peer.egress.pacer.setTarget(Self.target)
    fail()
    #expect(mends())
    fail()
    #expect(!mends() && !viewer.far.peer.waitsForKeyFrame(slot: 0, encoding: 0))
  }

  @Test func `a stream that is cut again and again is asked for ten times at once, and then when it may`()
    throws
  {
    let viewer = try Viewer()
    var asked = 0
    for _ in 0..<40 {
      viewer.take(0, key: true)
      viewer.depart()
      viewer.far.peer.egress.pacer.setTarget(100)
      viewer.run(600, beside: [0])
      viewer.far.peer.egress.pacer.setTarget(nil)
      #expect(viewer.far.peer.takeCut() == 0)
      if viewer.far.peer.mendsCut(slot: 0, target: .infinity, now: viewer.far.now) { asked += 1 }
    }
    // In 24 s.
    #expect((20...22).contains(asked), "\(asked)")
    let waited = viewer.far.peer.waitsForKeyFrame(slot: 0, encoding: 0)
    let tooSoon = viewer.far.peer.takesUpPicture(slot: 0, now: viewer.far.now)
    viewer.far.now = viewer.far.now + .seconds(2)
    let inTime = viewer.far.peer.takesUpPicture(slot: 0, now: viewer.far.now)
    let again = viewer.far.peer.takesUpPicture(slot: 0, now: viewer.far.now)
    let waits = viewer.far.peer.waitsForKeyFrame(slot: 0, encoding: 0)
    #expect(!tooSoon && inTime && !again && !waited && waits)
  }

  @Test func `a key frame that comes for others ends the wait of a slot that couldn't ask`() throws {
    let viewer = try Viewer()
    while viewer.far.peer.beginsNewPicture(slot: 0, now: viewer.far.now) {}
    viewer.take(0)
    let waits = viewer.far.peer.waitsForKeyFrame(slot: 0, encoding: 0)
    #expect(!waits, "its packets are no reason to ask")
    viewer.take(0, key: true)
    viewer.depart()
    #expect(viewer.left[0] == 1)
    viewer.far.now = viewer.far.now + .seconds(60)
    let asks = viewer.far.peer.takesUpPicture(slot: 0, now: viewer.far.now)
    #expect(!asks, "nothing is left to ask for")
  }
}
