internal import Model
internal import Wire

/// What is received in one section of the description: its track, in one stream or, as a simulcast, in several.
///
/// A section keeps its place. One that is gone has no description.
struct ReceivingSection: ~Copyable {
  /// As agreed on last; nil while the section is gone.
  private(set) var section: ReceiveSection?
  /// Its place among the session's clocks.
  private(set) var clock = 0
  /// What the control plane says of the track.
  var traits: TrackTraits = []
  /// The encoding whose codec was heard last; no state: the next one says so.
  var latest: UInt8 = 0
  /// What its publisher has announced last of all its streams; no state: it comes again with each key frame.
  private var allocation: (layers: VideoLayersAllocation, arrival: Instant)?
  /// At least one.
  private(set) var encodings: OwnedArray<ReceivedEncoding>

  /// A place whose section may come later.
  init() {
    encodings = OwnedArray(capacity: 1)
    encodings.append(ReceivedEncoding())
  }

  var isAgreed: Bool { section != nil }

  @inline(__always)
  func encoding(_ index: Int) -> UnsafeMutablePointer<ReceivedEncoding> { encodings.pointer(index) }

  /// Takes a renegotiated section: an encoding that is still there under its name keeps its streams. One that takes
  /// the place of another begins as a source that starts over.
  mutating func apply(_ agreed: ReceiveSection) {
    let new = agreed.encodings
    if new.count == encodings.count, new.indices.allSatisfy({ encodings.pointer($0).pointee.isFor(new[$0]) })
    {
      for index in new.indices { encodings.pointer(index).pointee.apply(agreed, index) }
      return
    }
    var rebuilt = OwnedArray<ReceivedEncoding>(capacity: new.count)
    // A mute and end-to-end encryption apply to the whole track, and so to its new encodings too.
    let isMuted = encodings.pointer(0).pointee.receiver.isMuted
    for index in new.indices {
      let old = index < encodings.count ? encodings.pointer(index).pointee : nil
      if var old, old.isFor(new[index]) {
        old.apply(agreed, index)
        rebuilt.append(old)
      } else {
        rebuilt.append(ReceivedEncoding(agreed, index, after: old))
      }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.newEncodingsFlow) { continue }
      #endif
      let receiver = rebuilt.pointer(index)
      receiver.pointee.receiver.isMuted = isMuted
      receiver.pointee.receiver.word.isEncrypted = traits.contains(.encrypted)
    }
    encodings = rebuilt
  }

  /// Takes what was agreed on, or that the section is gone.
  mutating func describe(_ agreed: ReceiveSection?, clock: Int) {
    section = agreed
    self.clock = clock
  }

  /// A packet of the section announces what its streams have. One that is no allocation changes nothing.
  @inline(never)
  mutating func noteAllocation(
    _ packet: UnsafeRawBufferPointer, _ element: HeaderExtensionReader.Element, arrival: Instant
  ) {
    let bytes = UnsafeRawBufferPointer(rebasing: packet[element.offset..<element.offset &+ element.size])
    if let read = try? VideoLayersAllocation(bytes) { allocation = (read, arrival) }
  }

  /// What is said of an encoding by its publisher: its packets, what it announces, and its offer.
  func description(of encoding: Int) -> EncodingDescription {
    let receiver = encodings.pointer(encoding)
    var description = receiver.pointee.receiver.pictures
    description.codec = receiver.pointee.receiver.format?.codec ?? section?.codecs.first?.codec
    if let said = section?.encodings[encoding].picture { description.said = said }
    #if PLANTED_DEFECTS
      let isNamed = PlantedDefect.isOn(.announcedOfNamed)
      let stream = isNamed ? Int(allocation?.layers.stream ?? 0) : encoding
    #else
      let stream = encoding
    #endif
    description.announced = allocation.map { $0.layers.announcement(ofStream: stream, arrival: $0.arrival) }
    return description
  }

  /// Once a section is gone it never comes back: of several encodings nothing is kept.
  mutating func release() {
    guard !isAgreed, encodings.count > 1 else { return }
    var none = OwnedArray<ReceivedEncoding>(capacity: 1)
    none.append(ReceivedEncoding())
    encodings = none
  }

  /// 1: of one encoding. Since 3 with whole dependency structures and what the control plane says of the track; since 4 with the
  /// sizes of pictures.
  private static let stateVersion: UInt8 = 4

  /// Everything but the section, which the session keeps.
  func encode(into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    writer.write(UInt8(encodings.count))
    for index in 0..<encodings.count { encodings.pointer(index).pointee.receiver.encode(into: &writer) }
    writer.write(traits.rawValue)
  }

  init(_ agreed: ReceiveSection, from reader: inout StateReader) throws(StateError) {
    let version = try reader.version("receiving section", upTo: Self.stateVersion)
    let offset = reader.offset
    let count = version == 1 ? 1 : Int(try reader.integer(UInt8.self))
    guard count == agreed.encodings.count else {
      throw .invalid(field: "encodings of a section", offset: offset)
    }
    var read = OwnedArray<ReceivedEncoding>(capacity: count)
    for index in 0..<count {
      read.append(
        ReceivedEncoding(
          try TrackReceiver(
            agreed, encoding: index, from: &reader, hasStructure: version > 2, hasPictures: version > 3),
          agreed.encodings[index]))
    }
    let said = version > 2 ? try reader.integer(UInt8.self) : 0
    encodings = read
    traits = TrackTraits(rawValue: said)
    for index in 0..<encodings.count {
      encodings.pointer(index).pointee.receiver.word.isEncrypted = traits.contains(.encrypted)
    }
  }
}

/// One encoding of a track: its streams, and by what its packets are known to be its own.
struct ReceivedEncoding {
  var receiver: TrackReceiver
  /// When its stream last got another SSRC.
  var reboundAt = Instant(nanoseconds: .min / 2)
  /// In seconds of the most that its format takes. Sound goes before all pictures, so that what is no sound would take its listeners'
  /// video away. In one go what comes behind a stall of a fifth of a second: it leaves unpaced.
  private var sound = RateLimit(rate: 1, burst: 0.21)
  /// Bytes a second: the most that Opus takes (510 kbit/s, RFC 7587 §6.1) with headers; and of RED, which has two older packets beside
  /// each.
  private static let (soundRate, redundantRate) = (70_000.0, 190_000.0)
  private let name: String?
  /// As packets have it; nil where they don't name their encoding.
  let ridBytes: MIDBytes?

  init(_ receiver: TrackReceiver, _ encoding: ReceiveEncoding) {
    self.receiver = receiver
    name = encoding.rid
    ridBytes = encoding.rid.flatMap { MIDBytes($0) }
  }

  init() {
    let none = ReceiveSection(index: 0, mid: "", kind: .audio, codecs: [], extensions: HeaderExtensionMap())
    self.init(TrackReceiver(none), none.encodings[0])
  }

  /// - Parameter old: what had the place before; its subscribers see a source that starts over.
  init(_ section: ReceiveSection, _ index: Int, after old: ReceivedEncoding?) {
    var receiver = TrackReceiver(section, encoding: index)
    if let old { receiver.succeed(old.receiver) }
    self.init(receiver, section.encodings[index])
  }

  func isFor(_ encoding: ReceiveEncoding) -> Bool { name == encoding.rid }

  /// A packet of sound came.
  /// - Returns: false where that is more than any codec takes.
  mutating func takeSound(bytes: Int, _ format: CodecFormat, now: Instant) -> Bool {
    #if PLANTED_DEFECTS
      let isRedundant = format.codec == .red || PlantedDefect.isOn(.soundAsRedundant)
    #else
      let isRedundant = format.codec == .red
    #endif
    return sound.take(Double(bytes) / (isRedundant ? Self.redundantRate : Self.soundRate), now: now)
  }

  mutating func apply(_ section: ReceiveSection, _ index: Int) { receiver.apply(section, encoding: index) }
}

/// Walks over all that is received: the encodings of the sections that are there, in their order.
struct EncodingCursor {
  private var section = 0
  private var encoding = 0

  mutating func next(
    in receiving: borrowing OwnedArray<ReceivingSection>
  ) -> UnsafeMutablePointer<ReceivedEncoding>? {
    while section < receiving.count {
      let place = receiving.pointer(section)
      if place.pointee.isAgreed, encoding < place.pointee.encodings.count {
        defer { encoding += 1 }
        return place.pointee.encoding(encoding)
      }
      section += 1
      encoding = 0
    }
    return nil
  }
}
