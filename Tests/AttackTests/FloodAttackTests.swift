import Model
import Simulation
import SyntheticPeers
import Testing

@Suite("Attack: floods of names", .timeLimit(.minutes(5)))
struct FloodAttackTests {
  @Test func `SSRC flood`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    let before = range.sizes()["authenticatedStreams"] ?? 0
    try withstand(range, times: 500, raising: ["streamUnmapped": 500], growing: ["authenticatedStreams"]) {
      index in
      var packet = try attacker.packet(.audio)
      packet.ssrc = 0xF10_0D00 + UInt32(index)
      packet.elements = []
      try attacker.send(packet)
    }
    // Thirty-two have a place beside those that are mapped.
    #expect((range.sizes()["authenticatedStreams"] ?? 0) - before <= 32)
    #expect(try attacker.isForwarded(attacker.packet(.audio)))
  }

  @Test func `SSRC flood that names its section`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    range.run(for: .milliseconds(200))
    // One change is taken.
    var changed = try attacker.packet(.audio)
    changed.ssrc = 0xF10_0C00
    #expect(try attacker.isForwarded(changed))
    // Further ones within a tenth of a second are not.
    try withstand(
      range, times: 300, raising: ["streamChurn": 300], growing: ["authenticatedStreams"], pause: .zero
    ) { index in
      var packet = try attacker.packet(.audio)
      packet.ssrc = 0xF10_0D00 + UInt32(index)
      try attacker.send(packet)
    }
  }

  @Test func `MID flood`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    let id = try #require(attacker.member.section(.audio)).extensions[.mid]
    try withstand(range, times: 300, raising: ["streamUnmapped": 300], growing: ["authenticatedStreams"]) {
      index in
      var packet = try attacker.packet(.audio)
      packet.ssrc = 0xF10_0E00
      packet.elements = [(id, Array("mid\(index)".utf8))]
      try attacker.send(packet)
    }
    #expect(try attacker.isForwarded(attacker.packet(.audio)))
  }

  @Test func `RID flood`() throws {
    let range = try AttackRange()
    let ids: (rid: UInt8, repaired: UInt8) = (12, 13)
    let attacker = try Attacker(range) { media in
      for index in media.receive.indices where media.receive[index].kind == .video {
        media.receive[index].encodings[0].rid = "hi"
        media.receive[index].extensions[.rid] = ids.rid
        media.receive[index].extensions[.repairedRid] = ids.repaired
      }
    }
    var right = try attacker.packet(.video)
    right.elements.append((ids.rid, Array("hi".utf8)))
    #expect(try attacker.isForwarded(right))
    try withstand(range, times: 300, raising: ["streamUnmapped": 300], growing: ["authenticatedStreams"]) {
      index in
      var packet = try attacker.packet(.video)
      packet.ssrc = 0xF10_0F00
      packet.elements.append((index % 2 == 0 ? ids.rid : ids.repaired, Array("r\(index)".utf8)))
      try attacker.send(packet)
    }
  }
}
