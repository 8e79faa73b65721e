import Model
import Simulation
import SyntheticPeers
import Testing
import Wire

@Suite("Attack: garbage", .timeLimit(.minutes(5)))
struct DatagramAttackTests {
  @Test func `garbage from strangers`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    let stranger = range.address(onWorker: 0, host: 200)
    try withstand(range, times: 256, raising: ["unknownPath": 256]) { index in
      range.inject([UInt8(index & 255)] + Attacker.filler(40), from: stranger)
    }
    #expect(range.strays.isEmpty)
  }

  @Test func `garbage of every first byte, by a proven path`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    try withstand(
      range, times: 256,
      raising: ["stun.malformed": 4, "unknownProtocol": 144, "dtlsMalformed": 44, "srtpMalformed": 64]
    ) { index in
      range.inject([UInt8(index & 255)] + Attacker.filler(10), from: attacker.address)
    }
    #expect(try attacker.isForwarded(attacker.packet(.audio)))
  }

  @Test func `empty datagrams`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    try withstand(range, times: 100, raising: ["noProtocol": 100]) { index in
      range.inject([], from: index % 2 == 0 ? attacker.address : range.address(onWorker: 0, host: 200))
    }
  }

  @Test func `truncated STUN`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    var answers = 0
    range.passes = { datagram in
      if !datagram.toServer, datagram.isAnswer, datagram.path.remote == attacker.address { answers += 1 }
      return true
    }
    let check = ForgedSTUN.check(to: attacker.member.local, from: attacker.member.remote, serial: 1)
    range.inject(check, from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(answers == 1)
    let cuts = check.count - 1
    try withstand(range, times: cuts, raising: ["stun.malformed": UInt64(cuts)]) { index in
      range.inject(Array(check[...(index % cuts)]), from: attacker.address)
    }
  }

  @Test func `truncated DTLS`() throws {
    let range = try AttackRange()
    var hello: [UInt8] = []
    range.passes = { datagram in
      if datagram.isClientHello { hello = datagram.bytes }
      return true
    }
    // Whole, it made the handshake.
    let attacker = try Attacker(range)
    #expect(attacker.member.peer.isConnected && hello.count > 100)
    let cuts = hello.count - 1
    try withstand(range, times: cuts, raising: ["dtlsMalformed": UInt64(cuts)]) { index in
      range.inject(Array(hello[...(index % cuts)]), from: attacker.address)
    }
  }

  @Test func `truncated SRTP`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    var packet = try attacker.packet(.audio)
    packet.elements = []
    let sealed = try attacker.forge.rtp(packet)
    let cuts = sealed.count - 1
    // Header and tag together have 28 bytes.
    try withstand(
      range, times: cuts, raising: ["srtpMalformed": 27, "srtpAuthentication": UInt64(cuts - 27)]
    ) { index in
      range.inject(Array(sealed[...(index % cuts)]), from: attacker.address)
    }
    let before = attacker.witness.rtpReceived
    range.inject(sealed, from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(attacker.witness.rtpReceived == before + 1, "the whole one is still taken")
  }

  @Test func `truncated SRTCP`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let slot = try #require(attacker.member.slot(.video))
    let request = Forge.compound { $0.append(pictureLoss: .init(sender: Attacker.source, media: slot.ssrc)) }
    try attacker.sendRTCP(request)
    range.run(for: .milliseconds(5))
    #expect(range.done().keyFrameRequests > 0)
    let sealed = try attacker.forge.rtcp(
      request + Forge.compound { $0.append(cname: "a long enough name", ssrc: Attacker.source) })
    let cuts = sealed.count - 1
    let before = range.reasons()
    // Where the cut falls decides what the index seems to be.
    let reasons: Set<String> = ["srtpMalformed", "srtpAuthentication", "srtpReplayed", "srtpTooOld"]
    try withstand(
      range, times: cuts, raising: [:], besides: reasons
    ) { index in
      range.inject(Array(sealed[...(index % cuts)]), from: attacker.address)
    } verifying: {
      #expect(range.risen(since: before).values.reduce(0, +) == UInt64(cuts))
    }
  }
}
