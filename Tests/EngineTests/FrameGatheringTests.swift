import Media
import Model
import Testing

@testable import Engine

@Suite("Waiting for the rest of a frame", .timeLimit(.minutes(1)))
struct FrameGatheringTests {
  private struct Packet {
    var kind = MediaKind.video
    var isLast = false

    static let part = Packet()
    static let last = Packet(isLast: true)
    static let audio = Packet(kind: .audio)
  }

  /// Whether a worker waits after a turn that brought these.
  private func waits(_ packets: [Packet], _ gathering: inout FrameGathering) -> Bool {
    for packet in packets {
      var info = PacketInfo()
      if packet.isLast { info.flags.insert(.marker) }
      gathering.note(info, packet.kind)
    }
    return gathering.take()
  }

  @Test func `a worker waits where a frame is not complete, and once`() {
    var gathering = FrameGathering()
    let seen = [[], [.part], [], [.part, .last], [.last, .part], [.last]].map { waits($0, &gathering) }
    #expect(seen == [false, true, false, false, true, false])
  }

  @Test func `audio never waits`() {
    var gathering = FrameGathering()
    let seen = [[.audio], [.audio, .part], [.part, .audio], [.part]].map { waits($0, &gathering) }
    #expect(seen == [false, false, false, true])
  }
}
