import Model
import Simulation
import SyntheticPeers
import Testing

@Suite("Attack: payload descriptors", .timeLimit(.minutes(5)))
struct DescriptorAttackTests {
  private func attack(_ codec: Codec, right: [UInt8], wrong: [[UInt8]]) throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    #expect(try attacker.isForwarded(attacker.packet(.video, payload: right, codec: codec)))
    let times = wrong.count * 20
    try withstand(range, times: times, raising: ["payloadMalformed": UInt64(times)]) { index in
      try attacker.send(attacker.packet(.video, payload: wrong[index % wrong.count], codec: codec))
    }
    range.run(for: .milliseconds(50))
    #expect(try attacker.isForwarded(attacker.packet(.video, payload: right, codec: codec)))
  }

  @Test func `truncated VP8 descriptor`() throws {
    // Fields that the flags announce: the flags themselves, picture id of one and two bytes, TL0PICIDX, TID, KEYIDX.
    try attack(
      .vp8, right: Attacker.keyFrame,
      wrong: [
        [0x80], [0x90, 0x80], [0x90, 0x80, 0x80], [0x90, 0x40], [0x90, 0x20], [0x90, 0x10],
        [0x90, 0xC0, 0x01], [0x90, 0xF0, 0x81, 0x02, 0x03],
      ])
  }

  @Test func `truncated VP9 descriptor`() throws {
    try attack(
      .vp9, right: [0x0C] + Attacker.filler(40),
      wrong: [
        [0x80], [0x80, 0x80], [0x20], [0x20, 0x00], [0x50], [0x50, 0x01], [0x50, 0x01, 0x01, 0x01, 0x01],
        [0x02], [0x02, 0x10], [0x02, 0x08], [0x02, 0x08, 0xFF, 0x0C],
      ])
  }

  @Test func `truncated AV1 aggregation header`() throws {
    try attack(
      .av1, right: [0x18, 0x08] + Attacker.filler(40),
      wrong: [
        [0x18], [0x10], [0x00], [0x00, 0x80], [0x00, 0x05, 0x08], [0x00, 0x00], [0x88, 0x08, 0x01],
        [0x20, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      ])
  }

  @Test func `truncated H.264 headers`() throws {
    try attack(
      .h264, right: [0x67] + Attacker.filler(40),
      wrong: [
        [0x80, 0x00], [0x1C], [0x1C, 0x85], [0x18], [0x18, 0x00], [0x18, 0x00, 0x09, 0x67],
        [0x18, 0x00, 0x00, 0x67], [0x00, 0x01], [0x1D, 0x00, 0x01], [0x1F, 0x00],
      ])
  }
}
