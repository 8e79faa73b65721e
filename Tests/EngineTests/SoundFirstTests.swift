import Congestion
import Testing

/// A publisher's sound and its picture, of one layer of about 100 kbit/s, over a path that carries more and less by its subscriber's word.
@Suite("Sound where a path has no room for a picture", .timeLimit(.minutes(1)))
struct SoundFirstTests {
  private func begun() throws -> KeyFrameStage {
    let stage = try KeyFrameStage(tracks: 1, hasSound: true)
    stage.tracks[0].size = 600
    stage.target = 1_000_000
    stage.run(100, step: 5)
    stage.show(0)
    stage.run(4_000, step: 5)
    return stage
  }

  /// - Returns: milliseconds until it is said that the picture has no room, or has it again; nil: not within some seconds.
  private func passed(_ stage: KeyFrameStage, until isStarved: Bool) -> Int? {
    for span in stride(from: 100, through: 5_000, by: 100) {
      stage.run(100, step: 5)
      if stage.said() == isStarved { return span }
    }
    return nil
  }

  /// All that came of the sound has left, each packet in the step of 5 ms in which it came.
  private func expectWhole(_ stage: KeyFrameStage, _ when: String) throws {
    let sound = try #require(stage.sound)
    #expect(sound.sent > 150 && stage.soundLeft == sound.sent && sound.mostBehind == 0, "\(when)")
  }

  @Test(arguments: [70_000.0, 40_000.0])
  func `below what sound and a picture take the pause is said, and no sound is lost or late`(target: Double)
    throws
  {
    let stage = try begun()
    #expect(stage.said() == false && stage.left > 50 && !stage.isPaused)
    try expectWhole(stage, "there is room for all")

    stage.target = target
    let pause = try #require(passed(stage, until: true))
    #expect(pause <= 1_000 && stage.isPaused && stage.reason() == .bandwidth)
    try expectWhole(stage, "the pause is said")
    stage.run(500, step: 5)
    let (left, heard) = (stage.left, stage.soundLeft)
    stage.run(3_000, step: 5)
    #expect(stage.left == left && stage.soundLeft == heard + 150 && stage.said() == nil)
    try expectWhole(stage, "sound alone, of \(Int(target)) bit/s")

    stage.target = 1_000_000
    let back = try #require(passed(stage, until: false))
    #expect(back <= 2_000)
    stage.run(4_000, step: 5)
    #expect(!stage.isPaused && !stage.needsKeyFrame && stage.left > left + 20 && stage.said() == nil)
    try expectWhole(stage, "there is room again")
  }
}
