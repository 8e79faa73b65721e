import Media
import Model
import Testing
import Wire

/// What a subscriber gets of a simulcast with layers, whatever it is switched to: a stream like any other.
@Suite("Layers and encodings of a slot", .timeLimit(.minutes(2)))
struct LayersOutTests {
  /// Judges what comes as a decoder does that has nothing but the stream.
  private struct Viewer {
    var frames: [UInt8: Set<Int>] = [:]
    var last: Sent?
    var lastPacket: LayeredSource.Packet?
    var shown: UInt8 = 0

    mutating func see(_ sent: Sent, _ packet: LayeredSource.Packet) throws {
      if let last, let before = lastPacket {
        try #require(sent.sequence == last.sequence + 1, "numbers have no gap")
        let isSame =
          before.frame.number == packet.frame.number && before.info.encoding == packet.info.encoding
        let step = ((try some(sent.pictureID)) &- (try some(last.pictureID))) & 0x7FFF
        try #require(step == (isSame ? 0 : 1), "picture ids go on by one")
        let time = Int32(bitPattern: sent.timestamp &- last.timestamp)
        try #require(isSame ? time == 0 : time > 0 && time < 900_000, "time goes on")
        let tl0 = (try some(sent.tl0)) &- (try some(last.tl0))
        try #require(tl0 == (isSame || packet.frame.layer > 0 ? 0 : 1), "TL0PICIDX counts lowest layers")
        try #require(isSame || before.isLast, "a picture is whole before the next one begins")
      }
      if packet.info.encoding != shown || lastPacket == nil {
        try #require(packet.frame.isKey, "another encoding begins with a key frame")
        shown = packet.info.encoding
      }
      let have = frames[shown, default: []]
      try #require(
        packet.frame.isKey || packet.frame.references.allSatisfy { have.contains($0) },
        "frame \(packet.frame.number) of layer \(packet.frame.layer) refers to what was not sent")
      if packet.isLast {
        // What is older than a key frame isn't kept.
        frames[shown] = packet.frame.isKey ? [packet.frame.number] : have.union([packet.frame.number])
        try #require(sent.header.marker)
      }
      (last, lastPacket) = (sent, packet)
    }
  }

  @Test(arguments: 0..<40) func `whatever is switched, the stream is whole and can be decoded`(seed: UInt64)
    throws
  {
    var random = RandomSource.seeded(state: seed)
    let slot = Slot(.video)
    let sources = (0..<3).map { LayeredSource(UInt8($0), random: &random) }
    _ = slot.forwarder.setSource(TrackKey(peer: PeerKey(rawValue: 1), index: 0), clock: nil)
    var viewer = Viewer()
    var (switches, asked, repeated) = (0, 0, 0)
    var kept: [(sent: Sent, packet: LayeredSource.Packet)] = []
    for step in 0..<1_200 {
      let before = slot.forwarder.encodings.shown
      switch random.next() % 40 {
      case 0: slot.want(temporal: UInt8(random.next() % 3))
      case 1: slot.want(temporal: .max)
      case 2: slot.forwarder.setNextEncoding(UInt8(random.next() % 3), clock: nil)
      case 3: slot.forwarder.setNextEncoding(nil, clock: nil)
      case 4 where step % 3 == 0: _ = slot.forwarder.setPaused(random.next() % 2 == 0)
      case 5: _ = slot.forwarder.setPaused(false)
      case 6: try slot.rebuild()
      default: break
      }
      var turn: [LayeredSource.Packet] = []
      for source in sources {
        if random.next() % (slot.waits(source.encoding) ? 4 : 60) == 0 { source.wantsKey = true }
        turn += source.next(at: step * 33, packets: 1 + Int(random.next() % 3))
      }
      for packet in turn {
        guard let sent = slot.forward(packet) else { continue }
        try viewer.see(sent, packet)
        kept.append((sent, packet))
      }
      if slot.forwarder.encodings.shown != before { switches += 1 }
      // Anything of the last half second that the subscriber has seen may be lost on its way.
      if let missed = kept.suffix(60).randomElement(using: &random), slot.forwarder.encodings.next == nil {
        asked += 1
        if let again = slot.ask(missed.sent.header.sequence, sources, at: milliseconds(step * 33)) {
          repeated += 1
          #expect(again.original == missed.sent.header.sequence)
          #expect(
            Array(again.payload.dropFirst(2)) == missed.sent.payload, "the same packet, with the same ids")
          #expect(
            again.timestamp == missed.sent.timestamp && again.header.marker == missed.sent.header.marker)
        }
      }
    }
    #expect(switches > 3 && repeated * 3 > asked, "\(switches) switches, \(repeated) of \(asked) sent again")
    #expect(slot.counters.layerLeftOut > 20 && slot.counters.otherEncoding > 1_000)
  }

  @Test func `a pause outlives the change to another encoding, and ends with that one's key frame`() throws {
    var random = RandomSource.seeded(state: 3)
    let slot = Slot(.video)
    let sources = (0..<2).map { LayeredSource(UInt8($0), random: &random) }
    _ = slot.forwarder.setSource(TrackKey(peer: PeerKey(rawValue: 1), index: 0), clock: nil)
    var time = 0
    func shown() -> [UInt8] {
      time += 33
      return sources.flatMap { $0.next(at: time, packets: 1) }.filter { slot.forward($0) != nil }.map(
        \.info.encoding)
    }
    #expect(shown() == [0])
    _ = slot.forwarder.setPaused(true)
    slot.forwarder.setNextEncoding(1, clock: nil)
    let goesOn = slot.forwarder.giveUpEncoding()
    sources[1].wantsKey = true
    #expect(goesOn && slot.forwarder.encodings.isPaused && shown() == [])
    let asks = slot.forwarder.setPaused(false)
    #expect(asks && shown() == [])
    sources[1].wantsKey = true
    #expect(shown() == [1])
  }

  @Test func `up only at a switching point, down with the next picture`() throws {
    var random = RandomSource.seeded(state: 3)
    let slot = Slot(.video)
    let source = LayeredSource(0, random: &random)
    _ = slot.forwarder.setSource(TrackKey(peer: PeerKey(rawValue: 1), index: 0), clock: nil)
    func layers(_ count: Int) -> [UInt8] {
      (0..<count).flatMap { _ in source.next(at: moment(), packets: 1) }.filter { slot.forward($0) != nil }
        .map(\.frame.layer)
    }
    var time = 0
    func moment() -> Int {
      time += 33
      return time
    }
    #expect(layers(4) == [0, 2, 1, 2])
    slot.want(temporal: 0)
    #expect(layers(4) == [0])
    slot.want(temporal: 1)
    #expect(layers(8) == [0, 1, 0, 1])
    // The next of the highest layer refers to the lowest alone, so it may be begun there.
    slot.want(temporal: .max)
    #expect(layers(4) == [0, 2, 1, 2])
    slot.want(temporal: 1)
    #expect(layers(3) == [0, 1])
    slot.want(temporal: 2)
    // The next doesn't refer to the lowest layer alone: only its source knows what else it needs.
    #expect(layers(3) == [0, 2])
  }

  @Test func `no layer is taken up by a switching point that comes late`() throws {
    var random = RandomSource.seeded(state: 5)
    let slot = Slot(.video)
    let source = LayeredSource(0, random: &random)
    _ = slot.forwarder.setSource(TrackKey(peer: PeerKey(rawValue: 1), index: 0), clock: nil)
    let pictures = (1...12).flatMap { source.next(at: 33 * $0, packets: 1) }
    #expect(pictures[4..<8].map(\.frame.layer) == [0, 2, 1, 2])
    for picture in pictures[..<4] { #expect(slot.forward(picture) != nil) }
    slot.want(temporal: 1)
    #expect(slot.forward(pictures[4]) != nil && slot.forward(pictures[6]) != nil)
    slot.want(temporal: .max)
    _ = slot.forward(pictures[5])
    // Only its source knows what else this one needs.
    #expect(slot.forward(pictures[7]) == nil)
    #expect(pictures[8...].filter { slot.forward($0) != nil }.map(\.frame.layer) == [0, 2, 1, 2])
  }

  @Test func `the encoding that is shown goes on until the other's key frame`() throws {
    var random = RandomSource.seeded(state: 4)
    let slot = Slot(.video)
    let sources = (0..<2).map { LayeredSource(UInt8($0), random: &random) }
    _ = slot.forwarder.setSource(TrackKey(peer: PeerKey(rawValue: 1), index: 0), clock: nil)
    func turn(_ moment: Int) -> [UInt8] {
      sources.flatMap { $0.next(at: moment, packets: 2) }.filter { slot.forward($0) != nil }.map(
        \.info.encoding)
    }
    #expect(turn(0) == [0, 0])
    slot.forwarder.setNextEncoding(1, clock: nil)
    #expect(slot.waits(1) && !slot.waits(0))
    #expect(turn(33) == [0, 0] && turn(66) == [0, 0])
    sources[1].wantsKey = true
    #expect(turn(99) == [0, 0, 1, 1], "its last picture is whole")
    #expect(turn(132) == [1, 1] && !slot.waits(1) && slot.forwarder.encodings.next == nil)
  }

  @Test func `a slot that is paused shows nothing, and goes on with a key frame`() throws {
    var random = RandomSource.seeded(state: 5)
    let slot = Slot(.video)
    let source = LayeredSource(0, random: &random)
    _ = slot.forwarder.setSource(TrackKey(peer: PeerKey(rawValue: 1), index: 0), clock: nil)
    func turn(_ moment: Int) -> [Sent] { source.next(at: moment, packets: 1).compactMap { slot.forward($0) } }
    let first = try some(turn(0).first)
    #expect(!slot.forwarder.setPaused(true) && !slot.needsKeyFrame)
    #expect(turn(33).isEmpty && turn(66).isEmpty)
    #expect(slot.forwarder.setPaused(false) && slot.needsKeyFrame)
    #expect(turn(99).isEmpty)
    source.wantsKey = true
    let again = try some(turn(132).first)
    let id = try some(first.pictureID)
    #expect(again.sequence == first.sequence + 1 && again.pictureID == (id + 1) & 0x7FFF)
    #expect(again.timestamp &- first.timestamp == 132 * 90)
  }
}

extension Slot {
  func want(temporal: UInt8) {
    forwarder.wantLayers(of: forwarder.encodings.shown, spatial: .max, temporal: temporal)
  }
  func waits(_ encoding: UInt8) -> Bool { forwarder.waitsForKeyFrame(of: encoding) }

  func ask(_ sequence: UInt16, _ sources: [LayeredSource], at now: Instant) -> Sent? {
    guard let request = forwarder.retransmission(of: sequence, now: now, roundTrip: .zero),
      let packet = sources[Int(request.encoding)].sent[request.source]
    else { return nil }
    return write { buffer in
      packet.bytes.withUnsafeBytes { forwarder.rewriteRetransmission(request, $0, packet.info, into: buffer) }
    }
  }

  func forward(_ packet: LayeredSource.Packet) -> Sent? {
    forward(Source.Packet(bytes: packet.bytes, info: packet.info))
  }
}
