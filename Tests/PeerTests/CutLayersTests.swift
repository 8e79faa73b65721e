import Congestion
import Model
import Testing

@testable import Media
@testable import Peer

/// Where something has waited for too long, what can be decoded without it goes on, and all else from where that can.
@Suite("What follows a cut", .timeLimit(.minutes(2)))
struct CutLayersTests {
  @Test(arguments: LayeredModel.Kind.allCases)
  func `whatever is cut, all that comes can be decoded, and what takes a key frame is asked for at once`(
    kind: LayeredModel.Kind
  ) throws {
    var (goneOn, asked, named) = (0, 0, 0)
    var whole = [0, 0, 0]
    for seed in 0..<8 as Range<UInt64> {
      var random = RandomSource.seeded(state: seed &* 31 &+ 7)
      let viewer = try LayeredViewer(kind, seed: seed)
      var answersAt: Int?
      for step in 0..<3_000 {
        viewer.far.now = viewer.far.now + .milliseconds(5)
        if step % 120 == 0 {
          let rates: [Double?] = [nil, 500_000, 220_000, 150_000, 60_000]
          viewer.far.peer.egress.pacer.setTarget(rates[Int(random.next() % 5)])
        }
        let (dropped, needed) = (viewer.dropped, viewer.needsKeyFrame)
        if step % 7 == 0 { try viewer.take(viewer.model.next()) }
        try viewer.depart()
        let isAsked = viewer.far.peer.takeCut() == 0
        if isAsked {
          asked += 1
          answersAt = answersAt ?? step + 30
        }
        try #require(isAsked || needed || !viewer.needsKeyFrame, "seed \(seed): a key frame isn't asked for")
        if dropped != viewer.dropped, !viewer.needsKeyFrame { goneOn += 1 }
        if answersAt == step {
          viewer.model.wantsKey = true
          answersAt = nil
        }
        try #require(viewer.problems.isEmpty, "seed \(seed): \(viewer.problems.prefix(3))")
        if let oldest = viewer.far.peer.egress.queue.oldest {
          try #require(viewer.far.now - oldest <= .milliseconds(1_500))
        }
        // What is asked for again is the packet that left under the number.
        if let one = viewer.left.suffix(40).randomElement(using: &random),
          let source = viewer.source(of: one.number)
        {
          try #require(source == one.source, "seed \(seed): \(one.number) is \(source)")
          named += 1
        }
      }
      for layer in 0..<3 { whole[layer] += viewer.whole[layer] }
    }
    #expect(asked > 0 && named > 500 && whole[0] > 300, "\(asked) key frames, \(named) numbers, \(whole)")
    if kind != .plainVP8 {
      #expect(goneOn > 0 && whole[1] > 50 && whole[2] > 50, "\(goneOn) cuts without a key frame, \(whole)")
    }
  }

  @Test func `behind a frame of a higher layer those below go on, and each above where it begins again`()
    throws
  {
    let slot = try WaitingSlot()
    slot.begin()
    slot.fill()
    slot.take(slot.info(103, layer: 1))
    slot.pass(50)
    for packet in [slot.info(104), slot.info(105, layer: 2), slot.info(106, layer: 1)] { slot.take(packet) }
    slot.pass(251)
    slot.look()
    #expect(!slot.needsKeyFrame && !slot.isCut() && slot.dropped == 1)
    #expect(slot.leave() == [104], "the others may refer to what was cut")
    let higher: PacketInfo.Flags = [.switchingPoint]
    for packet in [
      slot.info(107, layer: 2), slot.info(108), slot.info(109, layer: 1, higher), slot.info(110, layer: 2),
      slot.info(111, layer: 2, higher), slot.info(112, layer: 2), slot.info(113, layer: 1),
    ] { slot.take(packet) }
    #expect(slot.leave() == [108, 109, 111, 112, 113] && slot.isWithoutGap)
  }

  @Test func `behind a frame of the lowest layer nothing goes on before a key frame`() throws {
    let slot = try WaitingSlot()
    slot.begin()
    slot.fill()
    slot.take(slot.info(103))
    slot.take(slot.info(104, layer: 1, [.switchingPoint]))
    slot.pass(301)
    slot.look()
    #expect(slot.needsKeyFrame && slot.isCut() && !slot.isCut() && slot.waiting == 0)
    slot.take(slot.info(105, layer: 1, [.switchingPoint]))
    slot.take(slot.info(106))
    slot.take(slot.info(107, [.keyFrame]))
    #expect(slot.leave() == [107] && slot.isWithoutGap)
  }

  @Test func `a source that hasn't begun its layer again since its key frame is asked for another`() throws {
    let slot = try WaitingSlot()
    slot.take(slot.info(100, [.keyFrame]))
    slot.take(slot.info(101, layer: 1))
    #expect(slot.leave() == [100, 101])
    slot.fill()
    slot.take(slot.info(102, layer: 1))
    slot.pass(301)
    slot.look()
    #expect(slot.needsKeyFrame && slot.isCut())
  }

  /// Without numbers that say what refers to what, receivers wait for the rest.
  @Test(arguments: [false, true])
  func `a frame that has begun is gone on behind where receivers see that they don't need it`(
    isNumbered: Bool
  ) throws {
    let slot = try WaitingSlot(isNumbered: isNumbered)
    slot.begin()
    slot.take(slot.info(103, layer: 2))
    #expect(slot.leave() == [103])
    slot.fill()
    slot.take(slot.info(104, layer: 2, of: 103))
    slot.pass(50)
    for packet in [slot.info(105), slot.info(106, layer: 1), slot.info(107, layer: 1, [.switchingPoint])] {
      slot.take(packet)
    }
    slot.pass(251)
    slot.look()
    #expect(slot.isCut() != isNumbered && slot.needsKeyFrame != isNumbered)
    // By its id the one of layer 1 may refer to the one that is missing.
    #expect(slot.leave() == (isNumbered ? [105, 107] : []))
    slot.take(slot.info(108, layer: 2, [.switchingPoint], of: 103))
    #expect(slot.leave() == [] && slot.isWithoutGap)
  }

  @Test func `what comes of a picture that was cut goes as well, though it would begin its layer`() throws {
    let slot = try WaitingSlot()
    slot.begin()
    slot.fill()
    slot.take(slot.info(103, layer: 1, [.switchingPoint]))
    slot.pass(301)
    slot.look()
    #expect(slot.waiting == 0 && !slot.needsKeyFrame)
    slot.take(slot.info(104, layer: 1, [.switchingPoint], of: 103))
    slot.take(slot.info(105))
    #expect(slot.leave() == [105] && slot.isWithoutGap)
  }

  @Test func `a key frame of another encoding that waits is gone on to, and none is asked for`() throws {
    let slot = try WaitingSlot()
    slot.begin()
    slot.far.peer.setNextEncoding(slot: 0, 1, clock: nil)
    slot.fill()
    slot.take(slot.info(103))
    slot.pass(200)
    for number in 500...501 as ClosedRange<Int64> {
      var packet = slot.info(number, number == 500 ? [.keyFrame] : [])
      packet.encoding = 1
      slot.take(packet)
    }
    slot.pass(101)
    slot.look()
    #expect(slot.waiting == 2 && slot.dropped == 1)
    #expect(!slot.isCut() && !slot.needsKeyFrame)
    #expect(slot.leave() == [500, 501] && slot.isWithoutGap)
  }

  @Test func `what is no longer kept of before a join doesn't break that: 103, 500 of another encoding, 501`()
    throws
  {
    let slot = try WaitingSlot()
    slot.begin()
    slot.far.peer.setNextEncoding(slot: 0, 1, clock: nil)
    slot.fill()
    slot.take(slot.info(103))
    for number in 500...501 as ClosedRange<Int64> {
      var packet = slot.info(number, number == 500 ? [.keyFrame] : [])
      packet.encoding = 1
      slot.take(packet)
    }
    slot.far.peer.dropDeparture(now: slot.far.now, context: &slot.far.context)
    #expect(!slot.isCut() && !slot.needsKeyFrame && slot.dropped == 1)
    #expect(slot.leave() == [500, 501] && slot.isWithoutGap)
  }

  /// To go on behind each is a walk through all that waits.
  @Test(arguments: [16, 17] as [Int64])
  func `so many overdue pictures in a row are gone on behind, each of which begins its layer`(
    pictures: Int64
  ) throws {
    let slot = try WaitingSlot()
    slot.begin()
    slot.fill()
    for number in 103..<103 + pictures { slot.take(slot.info(number, layer: 2, [.switchingPoint])) }
    slot.pass(301)
    slot.look()
    #expect(slot.waiting == 0 && slot.dropped == UInt64(pictures))
    #expect(slot.needsKeyFrame == (pictures > 16) && slot.isCut() == (pictures > 16))
  }

  /// What is below it has no mark of an end, and isn't shown without it.
  @Test func `0 of size 0 has left, free 0 of size 1 is overdue: a key frame`() throws {
    let slot = try WaitingSlot(CodecFormat(.vp9))
    slot.begin()
    slot.take(slot.info(103, [.endsLayerFrame]))
    #expect(slot.leave().last == 103)
    slot.fill()
    var above = slot.info(104, [.discardable, .endsLayerFrame, .marker, .topSpatialLayer], of: 103)
    above.layer.spatial = 1
    slot.take(above)
    slot.pass(301)
    slot.look()
    #expect(slot.waiting == 0 && slot.needsKeyFrame && slot.isCut())
  }

  @Test func `left in part, 0, sync of 1, 1: layers go on behind one of the lowest`() throws {
    let slot = try WaitingSlot()
    slot.begin()
    slot.take(slot.info(103, layer: 2))
    #expect(slot.leave() == [103])
    slot.fill()
    slot.take(slot.info(104, layer: 2, of: 103))
    slot.pass(50)
    for packet in [
      slot.info(105, layer: 1, [.switchingPoint]), slot.info(106, layer: 1), slot.info(107),
      slot.info(108, layer: 1, [.switchingPoint]), slot.info(109, layer: 1),
    ] { slot.take(packet) }
    slot.pass(251)
    slot.look()
    #expect(!slot.needsKeyFrame && !slot.isCut())
    #expect(slot.leave() == [105, 107, 108, 109] && slot.isWithoutGap)
  }

  @Test func `what is no longer kept is gone on without where it can be`() throws {
    let slot = try WaitingSlot()
    slot.begin()
    for packet in [slot.info(103, layer: 2), slot.info(104), slot.info(105, layer: 2)] { slot.take(packet) }
    slot.far.peer.dropDeparture(now: slot.far.now, context: &slot.far.context)
    #expect(slot.leave() == [104] && slot.isWithoutGap)
    #expect(!slot.isCut() && !slot.needsKeyFrame && slot.dropped == 1)
  }
}
