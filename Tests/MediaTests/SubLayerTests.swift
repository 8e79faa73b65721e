import Media
import Model
import Testing
import Wire

/// What a subscriber gets of a simulcast of H.265 with sub-layers, whatever it is switched to.
@Suite("Sub-layers of H.265", .timeLimit(.minutes(2)))
struct SubLayerTests {
  /// Judges what comes as a decoder does that has nothing but the stream.
  private struct Viewer {
    var frames: [UInt8: Set<Int>] = [:]
    var last: Sent?
    var lastPacket: SubLayerSource.Packet?
    var shown: UInt8 = 0

    mutating func see(_ sent: Sent, _ packet: SubLayerSource.Packet) throws {
      if let last, let before = lastPacket {
        try #require(sent.sequence == last.sequence + 1, "numbers have no gap")
        let isSame =
          before.frame.number == packet.frame.number && before.info.encoding == packet.info.encoding
        let time = Int32(bitPattern: sent.timestamp &- last.timestamp)
        try #require(isSame ? time == 0 : time > 0 && time < 900_000, "time goes on")
        try #require(isSame || before.isLast, "a picture is whole before the next one begins")
      }
      if packet.info.encoding != shown || lastPacket == nil {
        try #require(packet.frame.isKey && packet.isFirst, "another encoding begins with its parameter sets")
        shown = packet.info.encoding
      }
      let have = frames[shown, default: []]
      try #require(
        packet.frame.isKey || packet.frame.references.allSatisfy { have.contains($0) },
        "frame \(packet.frame.number) of sub-layer \(packet.frame.layer) refers to what was not sent")
      if packet.isLast {
        frames[shown] = packet.frame.isKey ? [packet.frame.number] : have.union([packet.frame.number])
      }
      try #require(sent.header.marker == packet.isLast)
      (last, lastPacket) = (sent, packet)
    }
  }

  private func slot() -> Slot {
    let slot = Slot(.video, video: CodecFormat(.h265))
    _ = slot.forwarder.setSource(TrackKey(peer: PeerKey(rawValue: 1), index: 0), clock: nil)
    return slot
  }

  @Test(arguments: 0..<15, SubLayerSource.Structure.allCases)
  func `whatever is switched or shed, the stream is whole and can be decoded`(
    seed: UInt64, structure: SubLayerSource.Structure
  ) throws {
    var random = RandomSource.seeded(state: seed)
    let slot = slot()
    let sources = (0..<3).map { SubLayerSource(UInt8($0), structure, random: &random) }
    var viewer = Viewer()
    var (switches, shed) = (0, 0)
    for step in 0..<1_200 {
      let before = slot.forwarder.encodings.shown
      switch random.next() % 40 {
      case 0...2: slot.want(temporal: UInt8(random.next() % 3))
      case 3: slot.want(temporal: .max)
      case 4: slot.forwarder.setNextEncoding(UInt8(random.next() % 3), clock: nil)
      case 5: slot.forwarder.setNextEncoding(nil, clock: nil)
      case 6: try slot.rebuild()
      default: break
      }
      var turn: [SubLayerSource.Packet] = []
      for source in sources {
        if random.next() % (slot.waits(source.encoding) ? 4 : 80) == 0 { source.wantsKey = true }
        turn += source.next(at: step * 33, packets: 1 + Int(random.next() % 3))
      }
      let isBehind = random.next() % 4 == 0
      for packet in turn {
        let sheds = isBehind && packet.isFirst
        guard let sent = slot.forward(packet, sheds: sheds) else {
          if sheds, packet.info.isDiscardable, packet.info.encoding == slot.forwarder.encodings.shown {
            shed += 1
          }
          continue
        }
        try viewer.see(sent, packet)
      }
      if slot.forwarder.encodings.shown != before { switches += 1 }
    }
    #expect(switches > 3 && shed > 10, "\(switches) switches, \(shed) left out")
    #expect(slot.counters.layerLeftOut > 20 && slot.counters.otherEncoding > 1_000)
  }

  @Test(arguments: SubLayerSource.Structure.allCases)
  func `sub-layers are given up with the next picture, and taken up where the source says so`(
    structure: SubLayerSource.Structure
  ) throws {
    var random = RandomSource.seeded(state: 3)
    let (slot, source) = (slot(), SubLayerSource(0, structure, random: &random))
    var time = 0
    func layers(_ count: Int) -> [UInt8] {
      (0..<count).flatMap { _ in
        time += 33
        return source.next(at: time, packets: 1)
      }.filter { slot.forward($0) != nil && $0.isLast }.map(\.frame.layer)
    }
    #expect(layers(4) == [0, 2, 1, 2])
    slot.want(temporal: 0)
    #expect(layers(4) == [0])
    slot.want(temporal: 1)
    // Stepwise, the middle one is taken up with the picture that refers to the lowest alone.
    #expect(layers(8) == (structure == .stepwise ? [0, 0] : [0, 1, 0, 1]))
    slot.want(temporal: .max)
    #expect(layers(4) == (structure == .stepwise ? [0, 1, 2] : [0, 2, 1, 2]))
    #expect(layers(4) == [0, 2, 1, 2])
    slot.want(temporal: 1)
    #expect(layers(4) == [0, 1])
    slot.want(temporal: 2)
    #expect(layers(4) == [0, 2, 1, 2])
  }

  @Test func `a sub-layer is not taken up over one that was left out`() throws {
    var random = RandomSource.seeded(state: 4)
    let (slot, source) = (slot(), SubLayerSource(0, .stepwise, random: &random))
    var layers: [UInt8] = []
    for step in 0..<32 {
      if step == 4 { slot.want(temporal: 0) }
      if step == 8 { slot.want(temporal: .max) }
      for packet in source.next(at: step * 33, packets: 1) where slot.forward(packet) != nil && packet.isLast
      {
        layers.append(packet.frame.layer)
      }
    }
    #expect(layers == [0, 2, 1, 2, 0, 0, 0, 0, 1, 2] + [0, 2, 1, 2, 0, 2, 1, 2, 0, 2, 1, 2])
  }

  // MARK: - What a receiver reads

  private final class Reader {
    var receiver: TrackReceiver
    var sequence: UInt16 = 100
    var timestamp: UInt32 = 0

    init() {
      var media = section(.video)
      media.codecs = [NegotiatedCodec(codec: .h265, payloadType: 96, nack: true, pli: true)]
      receiver = TrackReceiver(media)
    }

    func take(_ payload: [UInt8], ends: Bool = true) -> PacketInfo? {
      sequence += 1
      if ends { timestamp += 3_000 }
      return receiver.take(
        RTPPacket(sequence: sequence, timestamp: timestamp, marker: ends, payload: payload).bytes
      ).outcome.info
    }
  }

  /// 1280 × 720 in one sub-layer.
  private let single: [UInt8] = [
    0x42, 0x01, 0x01, 0x01, 0x60, 0, 0, 3, 0, 0x90, 0, 0, 3, 0, 0, 3, 0, 0x5D, 0xA0, 0x02, 0x80, 0x80, 0x2D,
    0x16,
    0x51, 0x59, 0xA0,
  ]

  @Test func `a parameter set has the picture's size, and one that is cut changes nothing`() throws {
    let reader = Reader()
    let key = try #require(
      reader.take([0x60, 1, 0, 3, 0x40, 1, 0x0C, 0, UInt8(single.count)] + single, ends: false))
    #expect(key.flags.contains([.keyFrame, .frameStart]) && !key.flags.contains(.beginsSpatialLayer))
    #expect(reader.receiver.pictures.picture == PictureSize(width: 1_280, height: 720))
    _ = reader.take(Array(single[..<12]))
    #expect(reader.receiver.pictures.picture == PictureSize(width: 1_280, height: 720))
    let picture = try #require(reader.take([0x26, 0x01, 0xA8]))
    #expect(picture.flags.contains([.beginsSpatialLayer, .endsLayerFrame]))
    #expect(picture.flags.isDisjoint(with: [.keyFrame, .frameStart]))
  }

  @Test func `pictures that none refers to are free where no sub-layer is above them`() throws {
    let reader = Reader()
    let unknown = try #require(reader.take([0x00, 0x01, 0x9A]))
    #expect(!unknown.isDiscardable && unknown.layer.temporal == 0, "there may be more above")
    _ = reader.take(single)
    let free = try #require(reader.take([0x00, 0x01, 0x9A]))
    #expect(free.isDiscardable && free.isSwitchingPoint && free.layer.temporal == 1)
    let base = try #require(reader.take([0x02, 0x01, 0x9A]))
    #expect(!base.isDiscardable && base.layer.temporal == 0 && base.layer.opens == 0xFE)
    // Three sub-layers: a picture of the middle may be referred to by those of the highest.
    let three =
      [0x42, 0x01, 0x04] + [0x01, 0x60, 0, 0, 3, 0, 0x90, 0, 0, 3, 0, 0, 3, 0, 0x5D, 0, 0] as [UInt8]
    _ = reader.take(three + [0xA0, 0x05, 0x02, 0x01, 0x69, 0x65, 0x15, 0x9A])
    for temporal: UInt8 in 0...3 {
      let read = try #require(reader.take([0x00, temporal + 1, 0x9A]))
      #expect(read.isDiscardable == (temporal == 2) && read.layer.temporal == temporal)
      #expect(!read.isSwitchingPoint && read.layer.opens == 0)
    }
  }

  @Test func `pictures say from where their sub-layer may be gone on to`() throws {
    let reader = Reader()
    for (type, temporal, switching, opens) in [
      (3, 1, PacketInfo.Flags.switchingPoint, 0xFC), (5, 1, .switchingPoint, 0),
      (2, 2, .switchesFromBelow, 0xF8),
      (4, 2, .switchesFromBelow, 0), (1, 1, [], 0), (3, 6, .switchesFromBelow, 0x80),
    ] as [(UInt8, UInt8, PacketInfo.Flags, UInt8)] {
      for payload in [[type << 1, temporal + 1, 0x9A], [0x62, temporal + 1, 0x40 | type, 0x9A]] {
        let read = try #require(reader.take(payload))
        #expect(read.layer.temporal == temporal && read.layer.opens == opens)
        #expect(read.flags.intersection([.switchingPoint, .switchesFromBelow]) == switching)
      }
    }
  }

  @Test func `what is none of its codec is dropped and changes nothing`() throws {
    let reader = Reader()
    _ = reader.take(single)
    for payload: [UInt8] in [
      [0x40], [0x60, 1, 0, 9, 0x42], [0x62, 1, 0x80], [0x64, 1, 0x41, 0xF0], [0xC2, 1, 1],
    ] {
      #expect(reader.take(payload) == nil)
    }
    #expect(reader.receiver.pictures.picture == PictureSize(width: 1_280, height: 720))
  }
}

extension Slot {
  fileprivate func forward(_ packet: SubLayerSource.Packet, sheds: Bool = false) -> Sent? {
    write { buffer in
      packet.bytes.withUnsafeBytes { bytes in
        guard let selection = forwarder.select(packet.info, sheds: sheds) else { return nil }
        return forwarder.depart(
          selection, bytes, packet.info, now: packet.info.arrival, into: buffer, epoch: epoch)
      }
    }
  }
}
