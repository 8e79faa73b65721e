import Model
import Simulation
import SyntheticPeers
import Testing
import Wire

@Suite("Attack: RTP", .timeLimit(.minutes(5)))
struct RTPAttackTests {
  /// What the publisher sends, as it is on the cable.
  private final class Tap {
    var rtp: [[UInt8]] = []
    var rtcp: [[UInt8]] = []
    var checks: [[UInt8]] = []

    init(_ range: AttackRange) {
      range.passes = { [self, publisher = range.publisher.address] datagram in
        guard datagram.toServer, datagram.path.remote == publisher else { return true }
        if datagram.isRTP, rtp.count < 2_000 { rtp.append(datagram.bytes) }
        if datagram.isRTCP, rtcp.count < 100 { rtcp.append(datagram.bytes) }
        if datagram.isCheck { checks.append(datagram.bytes) }
        return true
      }
    }
  }

  @Test func `RTP and RTCP from unproven addresses`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    let sizes = range.sizes()
    let sealed = try attacker.forge.rtp(attacker.packet(.audio))
    let report = try attacker.forge.rtcp(
      Forge.compound { $0.append(cname: "somebody", ssrc: Attacker.source) })
    let stranger = range.address(onWorker: 0, host: 200)
    try withstand(range, times: 100, raising: ["unknownPath": 100], repeats: 101) { index in
      range.inject(index % 2 == 0 ? sealed : report, from: stranger)
    }
    // An address with a valid check proves nothing before it answers one.
    let second = try AttackRange()
    let other = try Attacker(second)
    try other.publish(.audio)
    let before = second.sizes()
    let unproven = second.address(onWorker: 0, host: 201)
    second.inject(
      ForgedSTUN.check(to: other.member.local, from: other.member.remote, serial: 1, nominates: true),
      from: unproven)
    second.run(for: .milliseconds(5))
    let packet = try other.forge.rtp(other.packet(.audio))
    let compound = try other.forge.rtcp(
      Forge.compound { $0.append(cname: "somebody", ssrc: Attacker.source) })
    try withstand(second, times: 100, raising: ["unvalidatedPath": 100], repeats: 101) { index in
      second.inject(index % 2 == 0 ? packet : compound, from: unproven)
    }
    #expect(second.strays[unproven]?.isSTUNAlone == true)
    second.expectTables(before)
    // The same packet by the proven path is still good.
    let count = attacker.witness.rtpReceived
    range.inject(sealed, from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(attacker.witness.rtpReceived == count + 1)
    #expect(range.strays.isEmpty && range.sizes()["paths"] == sizes["paths"])
  }

  @Test func `hijack in mid-call`() throws {
    let range = try AttackRange()
    let tap = Tap(range)
    let sizes = range.sizes()
    // The next consent check of the publisher's, and what goes with it.
    for _ in 0..<100 where tap.checks.isEmpty { range.run(for: .milliseconds(100)) }
    let check = try #require(tap.checks.last)
    let address = range.address(onWorker: 0, host: 202)
    let target = range.publisher
    // From its place it sends copies of media, and checks that it can't seal.
    try withstand(range, times: 200, raising: ["stun.badIntegrity": 100, "unknownPath": 100], repeats: 101) {
      index in
      if index % 2 == 0 {
        range.inject(
          ForgedSTUN.check(
            to: target.local, from: target.remote, serial: UInt64(index), password: "a guessed password",
            nominates: true),
          from: address)
      } else {
        range.inject(tap.rtp[index % tap.rtp.count], from: address)
      }
    }
    #expect(range.strays.isEmpty)

    let second = try AttackRange()
    let copies = Tap(second)
    for _ in 0..<100 where copies.checks.isEmpty { second.run(for: .milliseconds(100)) }
    // A copy of a true check opens a pair that proves nothing, so that media from there is none.
    second.inject(try #require(copies.checks.last), from: address)
    second.run(for: .milliseconds(5))
    try withstand(second, times: 200, raising: ["unvalidatedPath": 200], repeats: 101) { index in
      second.inject(copies.rtp[index % copies.rtp.count], from: address)
    }
    let stray = try #require(second.strays[address])
    #expect(stray.isSTUNAlone && stray.bytes <= 3 * check.count)
    second.expectTables(sizes)
  }

  @Test func `replay of RTP and RTCP`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let tap = Tap(range)
    try attacker.publish(.audio)
    let sealed = try attacker.forge.rtp(attacker.packet(.audio))
    let count = attacker.witness.rtpReceived
    range.inject(sealed, from: attacker.address)
    range.run(for: .milliseconds(1_200))
    #expect(attacker.witness.rtpReceived == count + 1)
    let (rtp, rtcp) = (try #require(tap.rtp.last), try #require(tap.rtcp.last))
    // Its own again; and the publisher's, with the publisher's address forged.
    try withstand(range, times: 300, raising: ["srtpReplayed": 300], repeats: 301) { index in
      switch index % 3 {
      case 0: range.inject(sealed, from: attacker.address)
      case 1: range.inject(rtp, from: range.publisher.address)
      default: range.inject(rtcp, from: range.publisher.address)
      }
    }
  }

  @Test func `replay of packets older than the window`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    let old = try attacker.forge.rtp(attacker.packet(.audio))
    range.inject(old, from: attacker.address)
    for _ in 0..<1_100 { try attacker.send(attacker.packet(.audio)) }
    range.run(for: .milliseconds(20))
    try withstand(range, times: 100, raising: ["srtpTooOld": 100]) { _ in
      range.inject(old, from: attacker.address)
    }
    #expect(try attacker.isForwarded(attacker.packet(.audio)))
  }

  @Test func `forged tags`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let tap = Tap(range)
    try attacker.publish(.audio)
    range.run(for: .milliseconds(100))
    var own = try attacker.forge.rtp(attacker.packet(.audio))
    own[own.count - 1] ^= 1
    let copied = try #require(tap.rtp.last)
    try withstand(range, times: 200, raising: ["srtpAuthentication": 200], repeats: 301) { index in
      guard index % 2 == 1 else { return range.inject(own, from: attacker.address) }
      // A number that hasn't come yet, under the publisher's address.
      var forged = copied
      let sequence = (UInt16(copied[2]) << 8 | UInt16(copied[3])) &+ 500 &+ UInt16(index)
      forged[2] = UInt8(sequence >> 8)
      forged[3] = UInt8(sequence & 255)
      range.inject(forged, from: range.publisher.address)
    }
    own[own.count - 1] ^= 1
    let count = attacker.witness.rtpReceived
    range.inject(own, from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(attacker.witness.rtpReceived == count + 1, "the genuine one is still taken")
  }

  @Test func `rollover with loss, forged packets between`() throws {
    let range = try AttackRange(videoSequence: 65_380)
    range.allowRepair()
    let video = try #require(range.publisher.section(.video))
    let types = Set(video.codecs.map(\.payloadType))
    let address = range.publisher.address
    var (genuine, lost, forged) = (0, 0, 0)
    var sequences: [UInt16] = []
    range.passes = { datagram in
      guard datagram.toServer, datagram.isRTP, datagram.path.remote == address,
        types.contains(datagram.bytes[1] & 0x7F)
      else { return true }
      genuine += 1
      let sequence = UInt16(datagram.bytes[2]) << 8 | UInt16(datagram.bytes[3])
      sequences.append(sequence)
      // Across the wrap, and where the receiver might be led to count another one.
      let leaps: [UInt16] = [1_000, 20_000, 32_000]
      var copy = datagram.bytes
      let wrong = sequence &+ leaps[genuine % 3]
      copy[2] = UInt8(wrong >> 8)
      copy[3] = UInt8(wrong & 255)
      range.inject(copy, from: address)
      forged += 1
      guard genuine % 7 == 0 else { return true }
      lost += 1
      return false
    }
    let before = range.reasons()
    let sizes = range.sizes()
    let retransmissions = range.done()
    range.run(for: .seconds(5))
    range.passes = { _ in true }
    let gaps = range.gaps()
    #expect(gaps == [])
    #expect(sequences.contains { $0 > 65_450 } && sequences.contains { $0 < 60 }, "it wrapped")
    #expect(lost > 20 && forged == genuine)
    #expect(range.risen(since: before) == ["srtpAuthentication": UInt64(forged)])
    #expect(range.done().sent > retransmissions.sent)
    let left = range.sizes()
    #expect(left == sizes)
  }

  @Test func `extensions that overrun`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    let id = try #require(attacker.member.section(.audio)).extensions[.audioLevel]
    var right = try attacker.packet(.audio)
    right.elements.append((id, [0x30]))
    #expect(try attacker.isForwarded(right))
    try withstand(range, times: 200, raising: ["extensionMalformed": 100, "srtpMalformed": 100]) { index in
      var packet = try attacker.packet(.audio)
      if index % 2 == 0 {
        // Of four bytes two are left.
        packet.elements.append((id, [0x30]))
        packet.lastElementLength = 15
      } else {
        packet.extensionWords = 1_000
      }
      try attacker.send(packet)
    }
    #expect(try attacker.isForwarded(attacker.packet(.audio)))
  }

  @Test func `padding longer than the payload`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    var right = try attacker.packet(.audio)
    right.padding = 20
    #expect(try attacker.isForwarded(right))
    try withstand(range, times: 200, raising: ["rtpMalformed": 200]) { index in
      var packet = try attacker.packet(.audio)
      packet.padding = index % 2 == 0 ? 0 : 255
      try attacker.send(packet)
    }
    #expect(try attacker.isForwarded(attacker.packet(.audio)))
  }

  @Test func `15 CSRCs`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    var right = try attacker.packet(.audio)
    right.contributors = (0..<15).map { 0xC0_0000 + $0 }
    #expect(try attacker.isForwarded(right))
    try withstand(range, times: 200, raising: ["srtpMalformed": 200]) { index in
      var packet = try attacker.packet(.audio, payload: Attacker.filler(index % 16))
      // Announced, but not there.
      packet.elements = []
      packet.contributorCount = 15
      try attacker.send(packet)
    }
    #expect(try attacker.isForwarded(attacker.packet(.audio)))
  }

  @Test func `packets larger than what is sent on`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    #expect(try attacker.isForwarded(attacker.packet(.audio, payload: Attacker.filler(1_500))))
    try withstand(range, times: 100, raising: ["packetTooLarge": 100]) { index in
      // Within what sound may take.
      range.run(for: .milliseconds(30))
      try attacker.send(attacker.packet(.audio, payload: Attacker.filler(1_560 + index % 200)))
    }
    #expect(try attacker.isForwarded(attacker.packet(.audio)))
  }

  @Test func `an SSRC equal to a forwarder's`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.video)
    let ours = try #require(attacker.member.slot(.video))
    // By which the server sends to the very peer.
    try withstand(range, times: 200, raising: ["streamOfOurs": 200], growing: ["authenticatedStreams"]) {
      index in
      var packet = try attacker.packet(.video)
      packet.ssrc = index % 2 == 0 ? ours.ssrc : try #require(ours.rtxSSRC)
      packet.index = UInt64(10_000 + index)
      try attacker.send(packet)
    }
    #expect(try attacker.isForwarded(attacker.packet(.video)))

    // By which it sends to somebody else: another transport, where it is an SSRC like any other.
    let second = try AttackRange()
    let other = try Attacker(second)
    try other.publish(.video)
    let theirs = try #require(second.bystander.slot(.video)).ssrc
    let own = other.witness.rtpReceived
    second.run(for: .milliseconds(200))
    try withstand(second, times: 100, raising: [:], growing: ["authenticatedStreams"], repeats: 101) { _ in
      var packet = try other.packet(.video)
      packet.ssrc = theirs
      try other.send(packet)
    }
    #expect(other.witness.rtpReceived >= own + 100)
  }

  @Test func `jumps of 32k ahead`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    var index = try attacker.packet(.audio).index
    // 32,000 on a circle of 65,536: none of the first 38 lands near where the stream was.
    try withstand(range, times: 38, raising: ["sequenceJump": 38], repeats: 101) { _ in
      var packet = try attacker.packet(.audio)
      index += 32_000
      packet.index = index
      try attacker.send(packet)
    }
    // Two in a row are a source that started over.
    let count = attacker.witness.rtpReceived
    for _ in 0..<3 {
      var packet = try attacker.packet(.audio)
      index += 1
      packet.index = index
      try attacker.send(packet)
      range.run(for: .milliseconds(5))
    }
    #expect(attacker.witness.rtpReceived >= count + 1)
  }

  @Test func `jumps of 32k back`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    var high = try attacker.packet(.audio)
    high.index = 33_000
    // So far ahead that the way back is one.
    for step in 0..<2 {
      var packet = high
      packet.index = high.index + UInt64(step)
      try attacker.send(packet)
      range.run(for: .milliseconds(2))
    }
    try withstand(range, times: 200, raising: ["srtpTooOld": 200]) { index in
      var packet = try attacker.packet(.audio)
      packet.index = high.index - 32_000 + UInt64(index % 1_000)
      try attacker.send(packet)
    }
    var packet = try attacker.packet(.audio)
    packet.index = high.index + 2
    #expect(try attacker.isForwarded(packet))
  }
}
