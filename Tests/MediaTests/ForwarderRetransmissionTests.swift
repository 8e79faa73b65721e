import Media
import Model
import Testing
import Wire

@Suite("Retransmission to a subscriber, RFC 4588", .timeLimit(.minutes(5)))
struct ForwarderRetransmissionTests {
  let slot = Slot(.video)
  let source = Source(.video, peer: 1, pictureID: 50, tl0: 5)

  /// Twenty packets sent.
  func begin() throws -> [Sent] {
    slot.feed(source)
    return try (0..<20).map {
      try some(slot.forward(try some(source.next(at: $0 * 33, key: $0 == 0))))
    }
  }

  @Test func `a lost packet comes again in the retransmission stream, behind its number`() throws {
    let sent = try begin()
    let first = try some(slot.ask(sent[7].header.sequence, of: source))
    let second = try some(slot.ask(sent[8].header.sequence, of: source))
    #expect(first.header.ssrc == 0xBBBB_BBBB && first.header.payloadType == 121)
    #expect(first.original == sent[7].header.sequence && second.original == sent[8].header.sequence)
    #expect(Array(first.payload[2...]) == sent[7].payload)
    #expect(first.timestamp == sent[7].timestamp && first.header.marker == sent[7].header.marker)
    #expect(second.sequence == first.sequence + 1)
    #expect(first.mid == Array("a0".utf8))
    #expect(slot.counters.retransmitted == 2)
  }

  @Test func `what was never sent, or asked for just now, is refused and counted`() throws {
    #expect(slot.ask(0, of: source) == nil, "nothing was sent at all")
    let sent = try begin()
    #expect(slot.ask(sent[19].header.sequence &+ 1, of: source) == nil)
    #expect(slot.ask(sent[0].header.sequence &- 1, of: source) == nil)
    #expect(slot.ask(sent[0].header.sequence &+ 30_000, of: source) == nil)
    let last = sent[19].header.sequence
    #expect(slot.ask(last, of: source, at: milliseconds(1_000)) != nil)
    #expect(slot.ask(last, of: source, at: milliseconds(1_010)) == nil)
    #expect(slot.ask(last, of: source, at: milliseconds(1_016)) != nil)
    #expect(slot.counters.notRetransmitted == 5)
  }

  @Test func `packets of the source before are refused, those since come`() throws {
    let old = try begin()
    let other = Source(.video, peer: 2, sequence: 7, pictureID: 1)
    slot.feed(other)
    // While the new source waits for its key frame the old one's packets aren't in its history either.
    #expect(slot.ask(old[19].header.sequence, of: other) == nil)
    let new = try (0..<3).map {
      try some(slot.forward(try some(other.next(at: 1_000 + $0 * 33, key: $0 == 0))))
    }
    #expect(slot.ask(old[19].header.sequence, of: other) == nil)
    let again = try some(slot.ask(new[0].header.sequence, of: other))
    #expect(Array(again.payload[2...]) == new[0].payload)
  }

  @Test func `packets from before a restart of the same source still come, as they were`() throws {
    let old = try begin()
    source.sequence = 40_000
    _ = source.next(at: 700)
    let new = try (0..<3).map {
      try some(slot.forward(try some(source.next(at: 733 + $0 * 33, key: $0 == 0))))
    }
    for packet in [old[3], old[19], new[0], new[2]] {
      let again = try some(slot.ask(packet.header.sequence, of: source))
      #expect(again.original == packet.header.sequence && again.timestamp == packet.timestamp)
      #expect(Array(again.payload[2...]) == packet.payload)
    }
  }

  @Test func `after more restarts than are kept the oldest are refused, not mistaken`() throws {
    let old = try begin()
    for restart in 1...5 {
      source.sequence = UInt16(truncatingIfNeeded: restart * 10_000)
      _ = source.next(at: restart * 1_000)
      for step in 1...3 {
        let packet = try some(source.next(at: restart * 1_000 + step * 33, key: step == 1))
        _ = try some(slot.forward(packet))
      }
    }
    #expect(slot.ask(old[5].header.sequence, of: source) == nil)
  }

  @Test func `a packet lost on its way in comes as soon as it was recovered`() throws {
    let sent = try begin()
    let missing = RTPPacket(
      sequence: source.sequence, timestamp: source.timestamp(at: 700), payload: vp8(pictureID: 71, tl0: 26))
    source.sequence &+= 1
    let next = try some(slot.forward(try some(source.next(at: 733))))
    #expect(next.sequence == sent[19].sequence + 2)
    #expect(slot.ask(next.header.sequence &- 1, of: source) == nil, "no one has it yet")
    let taken = source.receiver.take(
      missing.repeated(ssrc: 0x2222_2222, payloadType: 97, sequence: 1), isRTX: true, at: milliseconds(760))
    let info = try some(taken.outcome.info)
    source.sent[info.extendedSequence] = Source.Packet(bytes: taken.packet, info: info)
    let late = try some(slot.forward(Source.Packet(bytes: taken.packet, info: info)))
    #expect(late.sequence == next.sequence - 1)
    #expect(
      slot.ask(late.header.sequence, of: source, at: milliseconds(200_000))?.original == late.header.sequence)
  }

  @Test func `numbers are found across the rollover`() throws {
    let slot = Slot(.audio)
    slot.section.codecs = [NegotiatedCodec(codec: .opus, payloadType: 109, rtxPayloadType: 110, nack: true)]
    slot.forwarder.apply(slot.section)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    var sent: [Sent] = []
    while (sent.last?.sequence ?? 0) < 0x1_0003 {
      sent.append(try some(slot.forward(try some(source.next(at: sent.count * 20)))))
    }
    for packet in sent.suffix(8) {
      let again = try some(slot.ask(packet.header.sequence, of: source))
      #expect(again.original == packet.header.sequence && again.timestamp == packet.timestamp)
    }
  }

  @Test func `without a retransmission stream nothing is rewritten`() throws {
    let slot = Slot(.video, rtx: false)
    slot.feed(source)
    let sent = try some(slot.forward(try some(source.next(at: 0, key: true))))
    #expect(slot.answersNACK && !slot.usesRTX)
    #expect(slot.ask(sent.header.sequence, of: source) == nil)
  }
}
