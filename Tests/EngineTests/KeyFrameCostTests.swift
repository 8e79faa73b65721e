import Congestion
import Model
import Testing

/// However a subscriber behaves, and however narrow its path is: what it costs the publisher, and so all others who get the track.
@Suite("Key frames that one subscriber costs", .timeLimit(.minutes(2)))
struct KeyFrameCostTests {
  /// 97 kB, which are a second and a half of the target.
  @Test func `a large key frame arrives whole, and is asked for once`() throws {
    let stage = try KeyFrameStage(tracks: 1)
    stage.target = 500_000
    (stage.tracks[0].size, stage.tracks[0].keyPackets) = (1_172, 80)
    stage.run(100, step: 5)
    stage.show(0)
    stage.run(50, step: 5)
    #expect(stage.asked == 1)
    // What comes behind it is small.
    stage.tracks[0].size = 200
    stage.run(300, step: 5)
    #expect(stage.waiting > 20, "it takes longer than any other picture may")
    stage.run(1_000, step: 5)
    #expect(stage.asked == 1 && stage.dropped == 0 && !stage.needsKeyFrame && !stage.isPaused)
    #expect(stage.waiting == 0 && stage.left >= 80 + 24)
  }

  /// 312 kB, which are 5 s of the target.
  @Test
  func
    `a key frame that never gets through is asked for a few times, and the slot is paused for want of room`()
    throws
  {
    let stage = try KeyFrameStage(tracks: 1)
    stage.target = 500_000
    (stage.tracks[0].size, stage.tracks[0].keyPackets) = (1_172, 260)
    stage.run(100, step: 5)
    stage.show(0)
    stage.run(60_000, step: 5)
    #expect((2...6).contains(stage.asked), "\(stage.asked)")
    #expect(stage.isPaused && stage.reason() == .bandwidth && stage.waiting == 0)
    let before = stage.asked
    stage.run(120_000, step: 5)
    #expect(stage.asked - before <= 3)
  }

  @Test func `nothing of a key frame that still waits leaves once its subscriber wants nothing`() throws {
    let stage = try KeyFrameStage(tracks: 1)
    stage.target = 500_000
    (stage.tracks[0].size, stage.tracks[0].keyPackets) = (1_172, 80)
    stage.run(100, step: 5)
    stage.show(0)
    stage.run(150, step: 5)
    #expect(stage.waiting > 40)
    stage.want(.off)
    stage.run(105, step: 5)
    #expect(stage.isPaused && stage.waiting == 0)
    // It begins again with another.
    (stage.tracks[0].size, stage.tracks[0].keyPackets) = (200, 4)
    stage.want(.high)
    stage.run(2_000, step: 5)
    #expect(!stage.isPaused && !stage.needsKeyFrame && stage.asked == 2 && stage.dropped == 0)
  }

  @Test func `a slot that is moved a thousand times costs what new sources may`() throws {
    let stage = try KeyFrameStage(tracks: 4)
    stage.run(100)
    for turn in 0..<1_000 {
      stage.show(turn % 4)
      stage.run(250)
    }
    // In 250 s.
    #expect((400...450).contains(stage.asked), "\(stage.asked)")
    // It is shown all the same, once it may be asked for.
    stage.run(3_000)
    #expect(!stage.needsKeyFrame)
  }

  @Test(arguments: [false, true])
  func `layers of size that are changed to and fro cost what pictures may that a slot begins`(isKeyOnly: Bool)
    throws
  {
    let stage = try KeyFrameStage(tracks: 1)
    (stage.tracks[0].layers, stage.tracks[0].isKeyOnly) = (3, isKeyOnly)
    stage.run(2_000)
    stage.show(0)
    stage.run(1_000)
    #expect(stage.asked == 1 && stage.shownLayer == 255)
    for turn in 0..<200 {
      stage.want(turn % 2 == 0 ? .low : .high)
      stage.run(600)
    }
    // In 120 s.
    #expect((60...80).contains(stage.asked), "\(stage.asked)")
    // A choice that stays is heeded.
    stage.want(.high)
    stage.run(5_000)
    #expect(stage.shownLayer == 255)
    stage.want(.low)
    stage.run(5_000)
    #expect(stage.shownLayer == 0)
  }

  @Test func `a path that is narrow now and then, as its subscriber says, costs no more than that`() throws {
    let stage = try KeyFrameStage(tracks: 1)
    (stage.tracks[0].size, stage.tracks[0].packets, stage.tracks[0].keyPackets) = (1_172, 4, 8)
    stage.run(100, step: 10)
    stage.show(0)
    stage.run(200, step: 10)
    for _ in 0..<100 {
      stage.pace(30_000)
      stage.run(400, step: 10)
      stage.pace(nil)
      stage.run(200, step: 10)
    }
    // In 60 s.
    #expect(stage.dropped > 200 && (30...44).contains(stage.asked), "\(stage.asked) \(stage.dropped)")
    stage.run(3_000, step: 10)
    #expect(!stage.needsKeyFrame)
  }
}
