import Media
import Model
import Testing

@testable import Engine

@Suite("Waiting for the rest of a frame", .timeLimit(.minutes(1)))
struct FrameGatheringTests {
  private func info(isLast: Bool) -> PacketInfo {
    var info = PacketInfo()
    if isLast { info.flags.insert(.marker) }
    return info
  }

  @Test func `a worker waits where a frame is not complete, and once`() {
    var gathering = FrameGathering()
    #expect(!gathering.take(), "nothing came")
    gathering.note(info(isLast: false), .video)
    #expect(gathering.take())
    #expect(!gathering.take(), "it was another turn's")
    gathering.note(info(isLast: false), .video)
    gathering.note(info(isLast: true), .video)
    #expect(!gathering.take())
    gathering.note(info(isLast: true), .video)
    gathering.note(info(isLast: false), .video)
    #expect(gathering.take(), "the next frame has begun")
  }

  @Test func `audio never waits`() {
    var gathering = FrameGathering()
    gathering.note(info(isLast: false), .audio)
    #expect(!gathering.take())
    gathering.note(info(isLast: false), .audio)
    gathering.note(info(isLast: false), .video)
    #expect(!gathering.take())
    gathering.note(info(isLast: false), .video)
    gathering.note(info(isLast: true), .audio)
    #expect(!gathering.take())
  }
}
