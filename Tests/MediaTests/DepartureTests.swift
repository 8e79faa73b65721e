import Media
import Model
import Testing

/// Packets that wait between selection and departure, and some that never leave.
@Suite("Packets that are selected and leave later", .timeLimit(.minutes(2)))
struct DepartureTests {
  /// A slot and its source, and what is selected and hasn't left.
  final class Line {
    let slot: Slot
    let source: Source
    private(set) var waiting: [(packet: Source.Packet, selection: Selection)] = []

    init(_ kind: MediaKind, pictureID: UInt16? = nil) {
      slot = Slot(kind)
      source = Source(kind, peer: 1, pictureID: pictureID)
      slot.feed(source)
    }

    func select(_ packet: Source.Packet?, sourceLocation: SourceLocation = #_sourceLocation) throws {
      let packet = try some(packet, sourceLocation: sourceLocation)
      let selection = try some(slot.select(packet), sourceLocation: sourceLocation)
      waiting.append((packet, selection))
    }
    func depart() -> Sent? {
      let first = waiting.removeFirst()
      return slot.depart(first.selection, first.packet)
    }
    func drop() {
      let first = waiting.removeFirst()
      slot.forwarder.drop(first.selection, sequence: first.packet.info.extendedSequence)
    }
  }

  @Test func `a packet that is dropped takes no number, and time goes on past it`() throws {
    let line = Line(.audio)
    for moment in 0..<5 { try line.select(line.source.next(at: moment * 20)) }
    let first = try some(line.depart())
    let second = try some(line.depart())
    line.drop()
    let fourth = try some(line.depart())
    let fifth = try some(line.depart())
    #expect([second, fourth, fifth].map(\.sequence) == (1...3).map { first.sequence + $0 })
    #expect([second, fourth, fifth].map { $0.timestamp &- first.timestamp } == [960, 2_880, 3_840])
  }

  @Test func `several that are dropped one after the other leave no gap either`() throws {
    let line = Line(.audio)
    for moment in 0..<8 { try line.select(line.source.next(at: moment * 20)) }
    let first = try some(line.depart())
    for _ in 0..<3 { line.drop() }
    #expect(try some(line.depart()).sequence == first.sequence + 1)
    for _ in 0..<2 { line.drop() }
    #expect(try some(line.depart()).sequence == first.sequence + 2)
  }

  @Test func `the place of a packet that hasn't come yet stays free, also before one that is dropped`() throws
  {
    let line = Line(.audio)
    let packets = try (0..<5).map { try some(line.source.next(at: $0 * 20)) }
    try line.select(packets[0])
    let first = try some(line.depart())
    try line.select(packets[2])
    try line.select(packets[3])
    line.drop()
    #expect(try some(line.depart()).sequence == first.sequence + 2)
    try line.select(packets[1])
    #expect(try some(line.depart()).sequence == first.sequence + 1)
    try line.select(packets[4])
    #expect(try some(line.depart()).sequence == first.sequence + 3)
    try line.select(packets[2])
    #expect(line.depart() == nil && line.slot.counters.late == 1, "its place is the fourth's")
  }

  @Test func `a late packet that is dropped leaves its number empty, since later ones have departed`() throws
  {
    let line = Line(.audio)
    let packets = try (0..<4).map { try some(line.source.next(at: $0 * 20)) }
    try line.select(packets[0])
    try line.select(packets[2])
    let first = try some(line.depart())
    #expect(try some(line.depart()).sequence == first.sequence + 2)
    try line.select(packets[1])
    line.drop()
    try line.select(packets[3])
    #expect(try some(line.depart()).sequence == first.sequence + 3)
  }

  @Test func `video that lost a packet on its way out goes on with the next key frame`() throws {
    let line = Line(.video, pictureID: 5)
    try line.select(line.source.next(at: 0, key: true))
    for frame in 1..<4 { try line.select(line.source.next(at: frame * 33)) }
    let first = try some(line.depart())
    line.drop()
    #expect(line.depart() == nil && line.depart() == nil, "they need what was dropped")
    #expect(line.slot.needsKeyFrame)
    #expect(line.slot.select(try some(line.source.next(at: 132))) == nil)
    try line.select(line.source.next(at: 165, key: true))
    let next = try some(line.depart())
    #expect(next.sequence == first.sequence + 1 && next.pictureID == first.pictureID.map { $0 + 1 })
    #expect(!line.slot.needsKeyFrame)
  }

  @Test func `a source whose first packet is dropped begins with the next, video with the next key frame`()
    throws
  {
    let voice = Line(.audio)
    for moment in 0..<3 { try voice.select(voice.source.next(at: moment * 20)) }
    voice.drop()
    let first = try some(voice.depart())
    #expect(try some(voice.depart()).sequence == first.sequence + 1)

    let picture = Line(.video)
    try picture.select(picture.source.next(at: 0, key: true))
    try picture.select(picture.source.next(at: 33))
    picture.drop()
    #expect(picture.depart() == nil && picture.slot.needsKeyFrame)
    try picture.select(picture.source.next(at: 66, key: true))
    #expect(picture.depart() != nil)
  }

  @Test func `timestamps that leap leave those alone that were selected before`() throws {
    let line = Line(.audio)
    for moment in 0..<3 { try line.select(line.source.next(at: moment * 20)) }
    try line.select(line.source.next(at: 60) { $0.timestamp &+= 1 << 31 })
    try line.select(line.source.next(at: 80) { $0.timestamp &+= 1 << 31 })
    let sent = try (0..<5).map { _ in try some(line.depart()) }
    #expect(sent.map(\.sequence) == (0..<5).map { sent[0].sequence + $0 })
    #expect((1..<3).map { sent[$0].timestamp &- sent[$0 - 1].timestamp } == [960, 960])
    #expect(sent[3].timestamp &- sent[2].timestamp < 48_000, "joined again by its time")
    #expect(sent[4].timestamp &- sent[3].timestamp == 960)
  }

  @Test func `of a source that went on to a codec that the subscriber lacks what was selected still leaves`()
    throws
  {
    let line = Line(.audio)
    line.source.report()
    line.slot.feed(nil)
    line.slot.feed(line.source)
    try line.select(line.source.next(at: 0))
    try line.select(line.source.next(at: 20))
    var foreign = try some(line.source.next(at: 40))
    foreign.info.format = .vp8
    foreign.info.primaryFormat = .vp8
    #expect(line.slot.select(foreign) == nil && line.slot.counters.codecMissing == 1)
    let first = try some(line.depart())
    let second = try some(line.depart())
    #expect(second.sequence == first.sequence + 1 && second.timestamp &- first.timestamp == 960)
    // The clock of what was sent is known to the next source.
    let other = Source(.audio, peer: 2, base: 7_777)
    other.report()
    line.slot.feed(other)
    let next = try some(line.slot.forward(try some(other.next(at: 100, delay: 300))))
    #expect(next.timestamp &- second.timestamp == 80 * 48)
  }

  @Test func `what isn't sent adds up to no more than a receiver's estimate holds`() throws {
    let line = Line(.video)
    try line.select(line.source.next(at: 0, key: true))
    let first = try some(line.depart())
    for frame in 1...3 { try line.select(line.source.next(at: frame * 33) { $0.sequence &+= 400 }) }
    #expect(try some(line.depart()).sequence == first.sequence + 401)
    line.slot.room = 20
    #expect(line.depart() == nil, "it doesn't fit")
    line.slot.room = 1_600
    #expect(line.depart() == nil && line.slot.needsKeyFrame, "802 numbers behind what was sent")
    try line.select(line.source.next(at: 200, key: true))
    #expect(try some(line.depart()).sequence == first.sequence + 402)
  }
}
