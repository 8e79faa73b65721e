import Media
import Model
import Testing
import Wire

/// What a subscriber gets of an encoder with dependency descriptors, whatever layers it is given, judged as a decoder does that knows
/// the descriptors and nothing of the server.
@Suite("Layers by dependency descriptor", .timeLimit(.minutes(3)))
struct DescribedLayersTests {
  struct Received {
    var packet: DescribedSource.Packet
    var info: PacketInfo
    var bytes: [UInt8]
    var isLate: Bool
  }

  /// A slot that takes AV1 with descriptors, and what receives for it.
  final class Passage {
    let slot = Slot(.video)
    var receiver: TrackReceiver
    var kept: [Int64: Received] = [:]
    private var highest: Int64 = .min

    init(mixes: Bool = true, takesDescriptors: Bool = true, seed: UInt64 = 1) {
      var media = section(.video)
      media.codecs = [
        NegotiatedCodec(codec: .av1, payloadType: 96, rtxPayloadType: 97, nack: true, pli: true)
      ]
      receiver = TrackReceiver(media)
      slot.section.codecs = [
        NegotiatedCodec(codec: .av1, payloadType: 120, rtxPayloadType: 121, nack: true, pli: true)
      ]
      if takesDescriptors { slot.section.extensions[.dependencyDescriptor] = DescribedSource.id }
      slot.section.allowsMixedExtensions = mixes
      var random = RandomSource.seeded(state: seed)
      slot.forwarder = Forwarder(slot.section, random: &random)
      _ = slot.forwarder.setSource(TrackKey(peer: PeerKey(rawValue: 1), index: 0), clock: nil)
    }

    func receive(_ packet: DescribedSource.Packet, at moment: Int) -> Received? {
      var bytes = packet.bytes
      let outcome = receiver.take(described: &bytes, at: moment)
      guard let info = outcome.info else { return nil }
      let received = Received(
        packet: packet, info: info, bytes: bytes, isLate: info.extendedSequence < highest)
      highest = max(highest, info.extendedSequence)
      kept[info.extendedSequence] = received
      return received
    }

    func forward(_ received: Received) -> Sent? {
      slot.forward(Source.Packet(bytes: received.bytes, info: received.info))
    }

    /// Puts the receiver out and back in as bytes.
    func rebuild() throws {
      var media = section(.video)
      media.codecs = [
        NegotiatedCodec(codec: .av1, payloadType: 96, rtxPayloadType: 97, nack: true, pli: true)
      ]
      var writer = StateWriter()
      receiver.encode(into: &writer)
      var reader = StateReader(writer.bytes)
      receiver = try TrackReceiver(media, from: &reader)
      try reader.finish()
      try slot.rebuild()
    }
  }

  /// A decoder's view of a stream: which frames it has, and what it can make of them.
  struct Decoder {
    /// By frame: packets that came, and under which number.
    var packets: [Int: Int] = [:]
    var numbers: [Int: UInt16] = [:]
    var marks: [Int: [Bool]] = [:]
    /// The targets that the stream said it has, by picture.
    var said: [Int: UInt32] = [:]
    var structure = DependencyStructure()
    var lastSaid: UInt32 = 0

    mutating func see(_ sent: Sent, _ received: Received, _ source: DescribedSource) throws {
      let frame = source.frames[received.packet.frame]
      let element = try some(sent.extensions[DescribedSource.id])
      var known = structure
      let descriptor = try element.withUnsafeBytes { try DependencyDescriptor($0, &known) }
      if !received.isLate {
        if descriptor.hasStructure { structure = known }
        if let active = descriptor.activeTargets {
          lastSaid = active
        } else if descriptor.hasStructure {
          lastSaid = structure.targets.all
        }
        structure.active = lastSaid
        said[frame.picture] = lastSaid
      }
      try #require(descriptor.startsFrame == received.packet.isFirst)
      try #require(descriptor.endsFrame == received.packet.isLast)
      if let number = numbers[frame.number] { try #require(number == descriptor.frameNumber) }
      numbers[frame.number] = descriptor.frameNumber
      for reference in frame.references {
        guard let other = numbers[reference] else { continue }
        try #require(
          descriptor.frameNumber &- other == UInt16(frame.number - reference), "numbers keep their distances")
      }
      packets[frame.number, default: 0] += 1
      if !received.isLate { marks[frame.picture, default: []].append(sent.header.marker) }
    }
  }

  /// A run of pictures over a network that loses and delays.
  struct Run {
    let source: DescribedSource
    let passage: Passage
    var decoder = Decoder()
    var random: RandomSource
    var sizes: [Int: Int] = [:]
    /// Pictures of which something came late or never.
    var disturbed: Set<Int> = []
    private var delayed: [(at: Int, packet: DescribedSource.Packet)] = []
    private(set) var moment = 0
    let loss: UInt64

    init(_ mode: ScalabilityMode, seed: UInt64, loss: UInt64, isEncrypted: Bool) {
      random = RandomSource.seeded(state: seed)
      source = DescribedSource(mode, isEncrypted: isEncrypted, random: &random)
      passage = Passage(seed: seed)
      self.loss = loss
    }

    /// - Returns: frames of which something was sent to the subscriber.
    @discardableResult
    mutating func picture(_ following: ScalabilityMode? = nil) throws -> [Int] {
      moment += 33
      let packets = source.next(following, random: &random)
      var shown: [Int] = []
      for packet in packets {
        sizes[packet.frame, default: 0] += 1
        for (place, late) in delayed.enumerated().reversed() where late.at <= 0 {
          delayed.remove(at: place)
          if let sent = try pass(late.packet) { shown.append(sent) }
        }
        for place in delayed.indices { delayed[place].at -= 1 }
        guard loss == 0 || random.next() % loss != 0 else {
          disturbed.insert(source.frames[packet.frame].picture)
          if random.next() % 8 != 0 { delayed.append((Int(random.next() % 40), packet)) }
          continue
        }
        if let sent = try pass(packet) { shown.append(sent) }
      }
      return shown
    }

    private mutating func pass(_ packet: DescribedSource.Packet) throws -> Int? {
      let received = passage.receive(packet, at: moment)
      // While a structure is on its way no layer is known.
      if received?.info.flags.contains(.layerUnknown) ?? true {
        disturbed.insert(source.frames[packet.frame].picture)
      }
      guard let received, let sent = passage.forward(received) else { return nil }
      try decoder.see(sent, received, source)
      return received.isLate ? nil : packet.frame
    }

    func picture(of frame: Int) -> Int { source.frames[frame].picture }
    func isWhole(_ frame: Int) -> Bool { decoder.packets[frame] == sizes[frame] }

    /// The frames of a picture that those have who are at a decode target.
    func frames(of picture: Int, spatial: Int, temporal: Int) -> Set<Int> {
      let all = source.frames.suffix(12).filter { $0.picture == picture }
      guard let one = all.first else { return [] }
      let size = min(spatial, one.active - 1)
      let target = size * one.mode.temporal + min(temporal, one.mode.temporal - 1)
      return Set(all.filter { $0.targets[target] != 0 }.map(\.number))
    }
  }

  /// Every frame that is shown has all that it refers to, and pictures end with the mark.
  private func judge(_ run: Run, _ shown: [Int], isAfterDisturbedKey: Bool) throws {
    guard let first = shown.first else { return }
    let picture = run.picture(of: first)
    guard !run.disturbed.contains(picture) else { return }
    for frame in Set(shown) {
      try #require(run.isWhole(frame), "frames are whole")
      guard !isAfterDisturbedKey else { continue }
      for reference in run.source.frames[frame].references
      where !run.disturbed.contains(run.picture(of: reference)) {
        try #require(
          run.isWhole(reference),
          "\(run.source.mode): frame \(frame), S\(run.source.frames[frame].spatial)T\(run.source.frames[frame].temporal), refers to what was not sent"
        )
      }
    }
    let marks = try some(run.decoder.marks[picture])
    try #require(marks.last == true && !marks.dropLast().contains(true), "the last packet alone has the mark")
    // What the stream says it has, it has.
    let said = try some(run.decoder.said[picture])
    let mode = run.source.frames[first].mode
    let highest = UInt32.bitWidth - 1 - said.leadingZeroBitCount
    try #require(said != 0 && highest < mode.targets)
    guard !isAfterDisturbedKey else { return }
    for other in run.source.frames.suffix(12) where other.picture == picture && other.targets[highest] != 0 {
      try #require(shown.contains(other.number), "\(mode): target \(highest) is to come whole")
    }
    for frame in Set(shown) {
      let isSaid = run.source.frames[frame].targets.enumerated().contains {
        $0.element != 0 && said & 1 << UInt32($0.offset) != 0
      }
      try #require(isSaid, "every frame is of a target that was announced")
    }
  }

  @Test(arguments: ScalabilityMode.all)
  func `a subscriber without descriptors gets the lowest layer of size, each picture with its mark`(
    mode: ScalabilityMode
  ) {
    var random = RandomSource.seeded(state: 7)
    let source = DescribedSource(mode, isEncrypted: false, random: &random)
    let passage = Passage(takesDescriptors: false)
    var last: Int64?
    for picture in 0..<200 {
      var marks: [Bool] = []
      for packet in source.next(random: &random) {
        guard let received = passage.receive(packet, at: picture * 33), let sent = passage.forward(received)
        else { continue }
        #expect(received.info.layer.spatial == 0)
        #expect(last.map { sent.sequence == $0 + 1 } ?? true)
        last = sent.sequence
        marks.append(sent.header.marker)
      }
      #expect(marks.last == true && marks.dropLast().allSatisfy { !$0 })
      // What is wanted meanwhile changes nothing of that.
      if picture % 20 == 10 {
        passage.slot.forwarder.wantLayers(
          of: passage.slot.forwarder.encodings.shown, spatial: UInt8(picture % 3), temporal: .max)
      }
    }
  }

  @Test(arguments: ScalabilityMode.all, [false, true])
  func `whatever layers are wanted, what comes can be decoded`(mode: ScalabilityMode, isLossy: Bool) throws {
    for seed in 0..<2 as Range<UInt64> {
      var run = Run(mode, seed: seed &* 77 &+ 5, loss: isLossy ? 30 : 0, isEncrypted: seed % 2 == 1)
      let slot = run.passage.slot
      var wanted = (spatial: UInt8.max, temporal: UInt8.max)
      var (stable, settled, keysAsked, waits) = (0, 0, 0, 0)
      var isAfterDisturbedKey = false
      var sizes = mode.spatial
      for _ in 0..<600 {
        stable += 1
        if run.random.next() % 50 == 0 {
          wanted = (
            [0, 1, 2, .max][Int(run.random.next() % 4)], [0, 1, 2, .max][Int(run.random.next() % 4)]
          )
          slot.forwarder.wantLayers(
            of: slot.forwarder.encodings.shown, spatial: wanted.spatial, temporal: wanted.temporal)
          stable = 0
        }
        if run.random.next() % 40 == 0 { try run.passage.rebuild() }
        // The source takes a while to answer.
        waits = slot.waits(0) ? waits + 1 : 0
        var following: ScalabilityMode?
        if waits > 5 || run.random.next() % 150 == 0 {
          run.source.wantsKey = true
          keysAsked += 1
          if run.random.next() % 3 == 0 { following = ScalabilityMode.all.randomElement(using: &run.random) }
        }
        let isKey = run.source.wantsKey
        let active = run.source.active
        let shown = try run.picture(following)
        if run.source.active != active { stable = 0 }
        let picture = run.source.frames.last!.picture
        if isKey { isAfterDisturbedKey = run.disturbed.contains(picture) }
        try judge(run, shown, isAfterDisturbedKey: isAfterDisturbedKey)
        if isKey { sizes = run.source.active }
        // What was shown goes on until what is wanted can be, unless its source gave it up.
        if sizes == run.source.active, !run.disturbed.contains(picture), !isAfterDisturbedKey {
          try #require(
            run.source.frames.last!.temporal > 0 || !shown.isEmpty, "\(run.source.mode), wanted \(wanted)")
        }
        if isKey, !isAfterDisturbedKey {
          try #require(!slot.waits(0), "\(run.source.mode), wanted \(wanted): a key frame begins all layers")
        }
        // Long after a change everything that is wanted comes, and no more.
        if stable > 20, !run.disturbed.contains(picture), !isAfterDisturbedKey, waits == 0 {
          let ideal = run.frames(of: picture, spatial: Int(wanted.spatial), temporal: Int(wanted.temporal))
          try #require(Set(shown) == ideal, "\(run.source.mode), wanted \(wanted)")
          settled += 1
        }
      }
      #expect(settled > 40 && keysAsked > 0, "\(settled) pictures were as wanted")
      #expect(slot.counters.descriptorsUnchanged == 0)
    }
  }

  @Test func `a key frame's layers of size that come late are no reason to take those up`() {
    var random = RandomSource.seeded(state: 3)
    let source = DescribedSource(
      ScalabilityMode(spatial: 3, temporal: 1), isEncrypted: false, random: &random)
    let passage = Passage()
    let forwarded = { (packets: [DescribedSource.Packet]) -> Set<Int> in
      var sizes: Set<Int> = []
      for packet in packets {
        guard let received = passage.receive(packet, at: source.frames[packet.frame].picture * 33),
          passage.forward(received) != nil
        else { continue }
        sizes.insert(source.frames[packet.frame].spatial)
      }
      return sizes
    }
    let want = { (spatial: UInt8) in
      let shown = passage.slot.forwarder.encodings.shown
      passage.slot.forwarder.wantLayers(of: shown, spatial: spatial, temporal: .max)
    }
    #expect(forwarded(source.next(random: &random)) == [0, 1, 2])
    want(0)
    source.wantsKey = true
    let key = source.next(random: &random)
    let isLowest = { (packet: DescribedSource.Packet) in source.frames[packet.frame].spatial == 0 }
    #expect(forwarded(key.filter(isLowest)) == [0])
    #expect(forwarded(source.next(random: &random)) == [0])
    want(.max)
    // They have their places, and go there.
    #expect(forwarded(key.filter { !isLowest($0) }) == [1, 2])
    // The picture behind it that these refer to wasn't sent in those sizes.
    for _ in 0..<5 { #expect(forwarded(source.next(random: &random)) == [0]) }
    #expect(passage.slot.waits(0))
    source.wantsKey = true
    #expect(forwarded(source.next(random: &random)) == [0, 1, 2])
  }
}
