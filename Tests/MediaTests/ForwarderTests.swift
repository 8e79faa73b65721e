import Media
import Model
import Testing
import Wire

@Suite("A slot's stream", .timeLimit(.minutes(5)))
struct ForwarderTests {
  /// Forwards a run of packets, all of which must go out.
  func run(
    _ source: Source, into slot: Slot, at first: Int, count: Int, keyFirst: Bool = false
  ) throws -> [Sent] {
    try (0..<count).map { index in
      let packet = try some(source.next(at: first + index * 33, key: keyFirst && index == 0))
      return try some(slot.forward(packet))
    }
  }

  func expectContinuous(_ stream: [Sent], sourceLocation: SourceLocation = #_sourceLocation) {
    for (a, b) in zip(stream, stream.dropFirst()) {
      #expect(b.sequence == a.sequence + 1, sourceLocation: sourceLocation)
      #expect(Int32(bitPattern: b.timestamp &- a.timestamp) > 0, sourceLocation: sourceLocation)
    }
  }

  // MARK: - Beginning

  @Test func `without a source nothing goes out`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    let packet = try some(source.next(at: 0))
    _ = slot.forward(packet)
    #expect(slot.source == nil)
    #expect(slot.report(now: start) == nil)
  }

  @Test func `video begins with a key frame, audio at once`() throws {
    let slot = Slot(.video)
    let source = Source(.video, peer: 1)
    #expect(slot.feed(source), "the track is asked for a key frame")
    #expect(slot.needsKeyFrame)
    for moment in 0..<5 {
      let packet = try some(source.next(at: moment * 33))
      #expect(slot.forward(packet) == nil)
    }
    #expect(slot.counters.waiting == 5)
    let key = try some(source.next(at: 165, key: true))
    #expect(slot.forward(key) != nil)
    #expect(!slot.needsKeyFrame)

    let voice = Slot(.audio)
    let speaker = Source(.audio, peer: 2)
    #expect(!voice.feed(speaker))
    #expect(voice.forward(try some(speaker.next(at: 0))) != nil)
  }

  @Test func `its first sequence number is random and far from the rollover`() throws {
    let firsts = try (1...40).map { seed in
      let slot = Slot(.audio, seed: UInt64(seed))
      let source = Source(.audio, peer: 1)
      slot.feed(source)
      return try some(slot.forward(try some(source.next(at: 0)))).sequence
    }
    #expect(Set(firsts).count > 35)
    #expect(firsts.allSatisfy { (0...0x8000).contains($0) })
  }

  @Test func `what goes out is the packet under the slot's own names`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    let packet = try some(
      source.next(at: 0) {
        $0.contributors = [7, 8, 9]
        $0.level = AudioLevel(attenuation: 12, voice: true)
        $0.payload = Array(0..<200)
      })
    let sent = try some(slot.forward(packet))
    #expect(sent.header.ssrc == 0xAAAA_AAAA)
    #expect(sent.header.payloadType == 109)
    #expect(sent.header.marker)
    #expect(sent.contributors == [7, 8, 9])
    #expect(sent.mid == Array("a0".utf8))
    #expect(sent.level == AudioLevel(attenuation: 12, voice: true).byte)
    #expect(sent.payload == Array(0..<200))
    let quiet = try some(slot.forward(try some(source.next(at: 20))))
    #expect(quiet.level == nil, "no level is made up")
    #expect(quiet.contributors == [])
  }

  @Test(
    arguments: [
      ("0", 5, 0xBEDE), ("sixteen-bytes-mi", 5, 0xBEDE), ("seventeen-bytes-m", 5, 0x1000), ("0", 15, 0x1000),
      ("0", 200, 0x1000), ("0", 14, 0xBEDE),
    ] as [(String, UInt8, UInt16)])
  func `the extensions take the form that can hold them`(mid: String, id: UInt8, profile: UInt16) throws {
    let slot = Slot(.audio, mid: mid, levelID: id)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    let packet = try some(source.next(at: 0) { $0.level = AudioLevel(attenuation: 1, voice: false) })
    let sent = try some(slot.forward(packet))
    #expect(sent.header.extensionProfile == profile)
    #expect(sent.mid == Array(mid.utf8) && sent.level == 1)
  }

  @Test func `extensions that were not agreed on are not sent`() throws {
    let slot = Slot(.audio)
    slot.section.extensions = HeaderExtensionMap()
    slot.forwarder.apply(slot.section)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    let sent = try some(slot.forward(try some(source.next(at: 0))))
    #expect(sent.header.extensionProfile == 0 && sent.header.headerSize == 12)
  }

  @Test func `a codec that the subscriber lacks is left out and counted`() throws {
    let slot = Slot(.video)
    slot.section.codecs = []
    slot.forwarder.apply(slot.section)
    let source = Source(.video, peer: 1)
    slot.feed(source)
    #expect(slot.forward(try some(source.next(at: 0, key: true))) == nil)
    #expect(slot.counters.codecMissing == 1)
    #expect(!slot.needsKeyFrame)
  }

  @Test func `what does not fit is left out and counted, with nothing used up`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    let first = try some(slot.forward(try some(source.next(at: 0))))
    slot.room = 100
    #expect(
      slot.forward(try some(source.next(at: 20) { $0.payload = Array(repeating: 0, count: 90) })) == nil)
    #expect(slot.counters.unwritable == 1)
    #expect(slot.counters.packets == 1)
    slot.room = 1_600
    // Its number stays its own.
    #expect(slot.forward(try some(source.next(at: 40)))?.sequence == first.sequence + 2)
  }

  @Test func `a description of a packet that lies outside of it writes nothing`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    let good = try some(source.next(at: 0))
    for change: (inout PacketInfo) -> Void in [
      { $0.payloadSize = .max }, { $0.payloadOffset = .max }, { $0.contributors = 15 },
      { $0.payloadOffset = 11 },
    ] {
      var packet = good
      change(&packet.info)
      #expect(slot.forward(packet) == nil)
    }
    #expect(slot.forward(good) != nil)
  }

  // MARK: - Within a source

  @Test func `order, holes and late packets stay as they came`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1, sequence: 65_530)
    slot.feed(source)
    let packets = try (0..<12).map { try some(source.next(at: $0 * 20)) }
    let order = [0, 1, 3, 2, 7, 6, 8, 11, 10]
    let sent = try order.map { try some(slot.forward(packets[$0])) }
    #expect(sent.map { $0.sequence - sent[0].sequence } == order.map(Int64.init))
    #expect(sent.map { $0.timestamp &- sent[0].timestamp } == order.map { UInt32($0 * 960) })
  }

  @Test func `packets from before the first one sent are too late`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    let early = try some(source.next(at: 0))
    let first = try some(source.next(at: 20))
    slot.feed(source)
    _ = slot.forward(first)
    #expect(slot.forward(early) == nil)
    #expect(slot.counters.late == 1)
  }

  @Test func `outgoing numbers roll over without a seam`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1, sequence: 1)
    slot.feed(source)
    var last: Sent?
    for step in 0..<70_000 {
      let packet = try some(source.next(at: step * 20))
      let sent = try some(slot.forward(packet))
      if let last, sent.sequence != last.sequence + 1 || sent.timestamp != last.timestamp &+ 960 {
        Issue.record("a seam at \(sent.sequence)")
      }
      last = sent
    }
    #expect(try some(last).sequence > 0x1_0000)
  }

  // MARK: - Renegotiation

  @Test func `new payload types, MID and retransmission stream are used from then on`() throws {
    let slot = Slot(.video, rtx: false)
    let source = Source(.video, peer: 1)
    slot.feed(source)
    let before = try run(source, into: slot, at: 0, count: 2, keyFirst: true)
    #expect(!slot.usesRTX)
    slot.section.codecs = [
      NegotiatedCodec(codec: .vp8, payloadType: 100, rtxPayloadType: 101, nack: true, pli: true)
    ]
    slot.section.rtxSSRC = 0xCCCC_CCCC
    slot.section.mid = "z"
    slot.forwarder.apply(slot.section)
    let after = try run(source, into: slot, at: 100, count: 1)
    expectContinuous(before + after)
    #expect(after[0].header.payloadType == 100 && after[0].mid == Array("z".utf8))
    #expect(slot.usesRTX)
    #expect(slot.ask(before[1].header.sequence, of: source)?.header.ssrc == 0xCCCC_CCCC)
    // And gone again.
    slot.section.rtxSSRC = nil
    slot.forwarder.apply(slot.section)
    #expect(!slot.usesRTX)
    #expect(slot.ask(before[0].header.sequence, of: source) == nil)
  }

  @Test func `of two payload types of one codec the first is used`() throws {
    let slot = Slot(.audio)
    slot.section.codecs += [NegotiatedCodec(codec: .opus, payloadType: 63)]
    slot.forwarder.apply(slot.section)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    #expect(slot.forward(try some(source.next(at: 0)))?.header.payloadType == 109)
  }

  // MARK: - State

  @Test func `rebuilt from its state before every packet, the stream is the same`() throws {
    func play(rebuilding: Bool) throws -> [Sent?] {
      let slot = Slot(.video, seed: 9)
      var random = RandomSource.seeded(state: 77)
      var sources = (1...3).map { Source(.video, peer: $0, base: UInt32($0) << 20, pictureID: 9, tl0: 3) }
      sources[1].report()
      sources.append(Source(.video, peer: 4, base: 1))
      slot.feed(sources[0])
      var current = 0
      var stream: [Sent?] = []
      for step in 0..<600 {
        if rebuilding { try slot.rebuild() }
        if random.next() % 40 == 0 {
          current = Int(random.next() % 4)
          slot.feed(sources[current])
        }
        if random.next() % 60 == 0 { sources[current].sequence &+= 10_000 }
        if random.next() % 50 == 0 { sources[current].report() }
        if let clock = sources[current].clock { slot.forwarder.setClock(clock) }
        let key = random.next() % 8 == 0
        guard let packet = sources[current].next(at: step * 20, key: key) else { continue }
        let sent = slot.forward(packet)
        stream.append(sent)
        let asked = UInt16(random.next() % 30)
        if let sent {
          stream.append(
            slot.ask(sent.header.sequence &- asked, of: sources[current], at: milliseconds(step * 20)))
        }
      }
      return stream
    }
    let once = try play(rebuilding: false)
    #expect(once.compactMap(\.self).count > 300)
    #expect(try play(rebuilding: true) == once)
  }
}
