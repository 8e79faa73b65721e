import Model
import Simulation
import SyntheticPeers
import Testing
import Wire

@Suite("Attack: RTCP", .timeLimit(.minutes(5)))
struct RTCPAttackTests {
  private static let source = Attacker.source

  private func words(_ values: UInt32...) -> [UInt8] {
    values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * $0)) } }
  }

  /// What the server sends in a slot, as it is on the cable.
  private final class Sequences {
    var last: UInt16?

    init(_ range: AttackRange, to address: SocketAddress, ssrc: UInt32) {
      range.passes = { [self] datagram in
        guard !datagram.toServer, datagram.isRTP, datagram.path.remote == address,
          datagram.bytes[8..<12].reduce(UInt32(0), { $0 << 8 | UInt32($1) }) == ssrc
        else { return true }
        last = UInt16(datagram.bytes[2]) << 8 | UInt16(datagram.bytes[3])
        return true
      }
    }
  }

  @Test func `RTCP length lies`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let slot = try #require(attacker.member.slot(.video))
    let sources = FeedbackSources(sender: Self.source, media: slot.ssrc)
    try attacker.sendRTCP(Forge.compound { $0.append(pictureLoss: sources) })
    range.run(for: .milliseconds(5))
    #expect(range.done().keyFrameRequests > 0)
    let head = Forge.compound { $0.append(ReceiverReport(ssrc: Self.source)) }
    let lies = [
      // Longer than there is; a report of 31 blocks without any; without a body; of another version; padded before the
      // end, with more than there is, with nothing.
      [0x81, 201, 0xFF, 0xFF] + words(Self.source),
      [0x9F, 201, 0x00, 0x01] + words(Self.source),
      head + [0x80, 200, 0x00, 0x00],
      head + [0x40, 201, 0x00, 0x01] + words(Self.source),
      [0xA0, 201, 0x00, 0x01] + words(Self.source) + head,
      head + [0xA0, 206, 0x00, 0x02] + words(Self.source, 0xFF),
      head + [0xA1, 206, 0x00, 0x02] + words(Self.source, 0),
      head + [0x81, 205, 0x00, 0x01] + words(Self.source),
      head + [0x84, 206, 0x00, 0x02] + words(Self.source, slot.ssrc),
      head + [0x9F, 203, 0x00, 0x01] + words(Self.source),
      head + [0x81, 206, 0x7F, 0xFF] + words(Self.source, slot.ssrc),
    ]
    let times = lies.count * 20
    try withstand(range, times: times, raising: ["rtcpMalformed": UInt64(times)]) { index in
      try attacker.sendRTCP(lies[index % lies.count])
    }
  }

  /// Requests for so many numbers from `first` on, in as many compounds as that takes.
  private func requests(_ count: Int, from first: UInt16, media: UInt32) -> [[UInt8]] {
    var compounds: [[UInt8]] = []
    var pairs: [UInt8] = []
    func close() {
      guard !pairs.isEmpty else { return }
      let words = pairs.count / 4 + 2
      compounds.append(
        [0x81, 205, UInt8(words >> 8), UInt8(words & 255)] + self.words(Self.source, media) + pairs)
      pairs = []
    }
    var done = 0
    while done < count {
      let base = first &+ UInt16(truncatingIfNeeded: done)
      let more = min(16, count - done - 1)
      pairs += words(UInt32(base) << 16 | (more == 0 ? 0 : UInt32(0xFFFF) >> UInt32(16 - more)))
      done += 1 + more
      if pairs.count >= 340 * 4 { close() }
    }
    close()
    return compounds
  }

  @Test func `NACK of 65,536`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let slot = try #require(attacker.member.slot(.video))
    let sequences = Sequences(range, to: attacker.address, ssrc: slot.ssrc)
    range.run(for: .milliseconds(300))
    let last = try #require(sequences.last)
    let first = range.done()
    try attacker.sendRTCP(requests(1, from: last, media: slot.ssrc)[0])
    range.run(for: .milliseconds(5))
    #expect(range.done().retransmitted == first.retransmitted + 1)

    let before = range.done()
    let reasons = range.reasons()
    let all = requests(65_536, from: last &- 20_000, media: slot.ssrc)
    let taken = UInt64(all.count * 128)
    // Of each compound 128 are looked at: those that the server has are sent, the others refused.
    try withstand(
      range, times: all.count, raising: ["nackOverflow": 65_536 - taken],
      besides: ["nackRefused", "historyMissed"], repeats: 150
    ) { index in
      try attacker.sendRTCP(all[index % all.count])
    } verifying: {
      expectAnswers(range, since: before, reasons, taken: taken)
    }
  }

  /// All numbers were counted, and of those that were taken each is sent again or refused.
  private func expectAnswers(
    _ range: AttackRange, since before: RangeWork, _ reasons: [String: UInt64], taken: UInt64
  ) {
    let after = range.done()
    let risen = range.risen(since: reasons)
    let refused = risen["nackRefused"] ?? 0
    let missed = risen["historyMissed"] ?? 0
    #expect(after.nacked == before.nacked + 65_536)
    #expect(after.retransmitted - before.retransmitted + refused + missed == taken)
  }

  @Test(arguments: [0, 1])
  func `PLI storm`(worker: Int) throws {
    let range = try AttackRange()
    let attacker = try Attacker(range, worker: worker)
    let slot = try #require(attacker.member.slot(.video))
    let request = Forge.compound { $0.append(pictureLoss: .init(sender: Self.source, media: slot.ssrc)) }
    range.run(for: .seconds(2))
    let first = range.done()
    try attacker.sendRTCP(request)
    range.run(for: .milliseconds(20))
    #expect(
      range.done().keyFrameRequests == first.keyFrameRequests + 1
        && range.done().requests == first.requests + 1)

    let before = range.done()
    // Its stream flows: one more counts after half a second, and the next after twice that.
    try withstand(
      range, times: 1_000, raising: ["keyFrameAskedOften": 999]
    ) { _ in
      try attacker.sendRTCP(request)
    } verifying: {
      let after = range.done()
      #expect(after.keyFrameRequests - before.keyFrameRequests == 1_000)
      #expect((1...2).contains(after.requests - before.requests))
    }
  }

  @Test func `REMB of 0 and infinity`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let slot = try #require(attacker.member.slot(.video))
    func estimate(exponent: UInt32, mantissa: UInt32) -> [UInt8] {
      [0x8F, 206, 0, 5]
        + words(Self.source, 0, 0x5245_4D42, 1 << 24 | exponent << 18 | mantissa, slot.ssrc)
    }
    // It bounds what the attacker gets itself. Infinity is no rate, 0 the least that there is.
    let right = range.reasons()
    try attacker.sendRTCP(estimate(exponent: 4, mantissa: 125_000))
    range.run(for: .milliseconds(5))
    #expect(range.risen(since: right).isEmpty)
    let (before, received) = (range.done().sent, attacker.member.rtpReceived)
    try withstand(range, times: 300, raising: ["rtcpMalformed": 200], pause: .milliseconds(20)) { index in
      try attacker.sendRTCP(
        [
          estimate(exponent: 0, mantissa: 0), estimate(exponent: 63, mantissa: 0x3_FFFF),
          [0x8F, 206, 0, 4] + words(Self.source, 0, 0x5245_4D42, 0xFF00_0000),
        ][index % 3])
    }
    #expect(range.done().sent > before && attacker.member.rtpReceived > received)
  }

  @Test func `transport-wide feedback for packets never sent`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let slot = try #require(attacker.member.slot(.video))
    func arrivals(of first: UInt16, count: UInt16, chunk: UInt16, delta: UInt16) -> [UInt8] {
      [0x8F, 205, 0, 5]
        + words(
          Self.source, slot.ssrc, UInt32(first) << 16 | UInt32(count), 0x1234_5600,
          UInt32(chunk) << 16 | UInt32(delta))
    }
    let right = range.reasons()
    try attacker.sendRTCP(arrivals(of: 1, count: 1, chunk: 0x2001, delta: 0x0400))
    range.run(for: .milliseconds(5))
    #expect(range.risen(since: right) == ["rtcpUnused": 1])
    try withstand(range, times: 300, raising: ["rtcpUnused": 100, "rtcpMalformed": 200]) { index in
      // Of numbers all over the circle, of 65,535 at once, and of none.
      let first = UInt16(truncatingIfNeeded: index &* 7_919)
      try attacker.sendRTCP(
        [
          arrivals(of: first, count: 2, chunk: 0x2002, delta: 0xFFFF),
          arrivals(of: first, count: 65_535, chunk: 0x3FFF, delta: 0),
          arrivals(of: first, count: 0, chunk: 0, delta: 0),
        ][index % 3])
    }
  }

  @Test func `BYE for another's SSRC`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.video)
    let slot = try #require(attacker.witness.slot(.video))
    let witness = try Forge(attacker.witness)
    let request = Forge.compound { $0.append(pictureLoss: .init(sender: 0x3177, media: slot.ssrc)) }
    func requestsAfterPLI() throws -> UInt64 {
      range.run(for: .milliseconds(1_500))
      let before = range.done().requests
      range.inject(try witness.rtcp(request), from: attacker.witness.address)
      range.run(for: .milliseconds(50))
      return range.done().requests - before
    }
    func goodbye(_ ssrc: UInt32) -> [UInt8] { [0x81, 203, 0, 1] + words(ssrc) }
    let head = Forge.compound { $0.append(ReceiverReport(ssrc: Self.source)) }

    try attacker.sendRTCP(head)
    #expect(try requestsAfterPLI() == 1)
    let publisher = range.publisher
    let others = [
      try #require(publisher.section(.video)?.ssrc), try #require(publisher.section(.audio)?.ssrc),
      try #require(range.bystander.slot(.video)).ssrc, try #require(attacker.member.slot(.video)).ssrc,
    ]
    try withstand(range, times: 200, raising: ["rtcpForeignStream": 200]) { index in
      try attacker.sendRTCP(head + goodbye(others[index % others.count]))
    }
    // Its own takes effect: no one is asked for key frames any more.
    try attacker.sendRTCP(head + goodbye(attacker.ssrc(.video)))
    range.run(for: .milliseconds(5))
    #expect(try requestsAfterPLI() == 0)
  }

  @Test func `sender report storm`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    let count = attacker.member.rtcpReceived
    func report() -> [UInt8] {
      Forge.compound { writer in
        for _ in 0..<40 {
          writer.append(
            SenderReport(
              ssrc: attacker.ssrc(.audio), ntp: NTPTime(unixNanoseconds: range.now.nanoseconds),
              rtpTimestamp: UInt32(range.now.nanoseconds / 20_833), packetCount: 1, octetCount: 1))
        }
      }
    }
    try attacker.sendRTCP(report())
    range.run(for: .seconds(2))
    #expect(attacker.member.rtcpReceived > count, "it is reported on")
    // Each is as good as any: they are taken, and neither wait nor grow anywhere.
    try withstand(range, times: 500, raising: [:]) { _ in try attacker.sendRTCP(report()) }
    #expect(try attacker.isForwarded(attacker.packet(.audio)))
  }

  @Test func `clock backwards`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    let start = UInt64(4_000_000_000) << 32
    func report(_ ntp: UInt64) -> [UInt8] {
      Forge.compound {
        $0.append(
          SenderReport(
            ssrc: attacker.ssrc(.audio), ntp: NTPTime(rawValue: ntp), rtpTimestamp: 1_000, packetCount: 1,
            octetCount: 1))
      }
    }
    let right = range.reasons()
    try attacker.sendRTCP(report(start))
    range.run(for: .milliseconds(5))
    #expect(range.risen(since: right) == [:])
    let count = attacker.witness.rtpReceived
    var timestamp: UInt32 = 1_000_000
    // Ten seconds further back each time, and with it the timestamps of packets, which are forwarded as they are.
    try withstand(range, times: 100, raising: ["clockStepped": 100]) { index in
      try attacker.sendRTCP(report(start - UInt64(index % 1_000 + 1) * 10 << 32))
      var packet = try attacker.packet(.audio)
      timestamp &-= 480_000
      packet.timestamp = timestamp
      try attacker.send(packet)
    }
    #expect(attacker.witness.rtpReceived >= count + 100)
  }
}
