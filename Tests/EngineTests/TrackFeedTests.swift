import Media
import Model
import Testing

@testable import Engine

@Suite("Who gets a track", .timeLimit(.minutes(2)))
struct TrackFeedTests {
  final class Table {
    var table = TrackFeedTable()
    func insert(_ serial: Int, _ kind: MediaKind = .video) -> Int {
      table.insert(TrackFeed(key: TrackFeedTests.key(serial), kind: kind, source: .relay(worker: 0)))
    }
    func find(_ serial: Int) -> Int? { table.find(TrackFeedTests.key(serial)) }
    func consumers(_ index: Int) -> [TrackFeed.Consumer] {
      let feed = table.pointer(index)
      return (0..<feed.pointee.consumers.count).map { .here(feed.pointee.consumers[$0]) }
    }
    func keeps(_ index: Int, _ sequence: Int64) -> Bool {
      table.pointer(index).pointee.find(sequence) != nil
    }
  }

  static func key(_ serial: Int) -> TrackKey {
    TrackKey(peer: PeerKey(home: serial % 3, serial: UInt64(serial)), index: UInt16(serial % 5))
  }

  private static func slot(_ place: Int, _ slot: Int = 0) -> TrackFeed.Consumer {
    .here(.slot(place: place, slot: slot))
  }

  @Test func `consumers are served in the order in which they came, each once`() {
    let table = Table()
    let index = table.insert(1)
    let feed = table.table.pointer(index)
    for place in [3, 1, 4, 1, 5, 9, 2, 6] { feed.pointee.add(Self.slot(place)) }
    feed.pointee.add(Self.slot(1, 1))
    feed.pointee.add(.here(.sink(1)))
    feed.pointee.add(.here(.sink(1)))
    var expected = [3, 1, 4, 5, 9, 2, 6].map { Self.slot($0) } + [Self.slot(1, 1), .here(.sink(1))]
    #expect(table.consumers(index) == expected)
    for consumer in [Self.slot(4), Self.slot(4), Self.slot(77), Self.slot(1, 1), .here(.sink(0))] {
      feed.pointee.remove(consumer)
      expected.removeAll { $0 == consumer }
    }
    #expect(table.consumers(index) == expected)
    feed.pointee.remove(.here(.sink(1)))
    #expect(table.consumers(index) == expected.dropLast())
  }

  @Test func `relays are consumers of the same kind, and need no history here`() {
    let table = Table()
    let index = table.insert(1)
    let feed = table.table.pointer(index)
    for worker in [0, 5, 63, 5] { feed.pointee.add(.relay(worker: worker)) }
    var relays = feed.pointee.consumers.relays
    #expect(Array(SetBits(relays)) == [0, 5, 63] && table.consumers(index) == [])
    feed.pointee.remove(.relay(worker: 5))
    feed.pointee.remove(.relay(worker: 7))
    keep(table, index, 1)
    #expect(!table.keeps(index, 1))
    relays = feed.pointee.consumers.takeRelays()
    let both: UInt64 = 1 | 1 << 63
    #expect(relays == both)
    relays = feed.pointee.consumers.relays
    #expect(relays == 0)
  }

  private func keep(_ table: Table, _ index: Int, _ sequence: Int64) {
    var info = PacketInfo()
    info.extendedSequence = sequence
    [UInt8](repeating: 0, count: 50).withUnsafeBytes {
      table.table.pointer(index).pointee.keep($0, info)
    }
  }

  @Test func `however many reports come, a clock is sent to other workers 64 times a second`() {
    let table = Table()
    let feed = table.table.pointer(table.insert(1, .audio))
    let start = Instant(nanoseconds: 5_000_000_000)
    var sent = 0
    for step in 0..<3_000 where feed.pointee.pace.maySendClock(at: start + .milliseconds(step)) { sent += 1 }
    #expect(sent == 3 * 64)
    let later = feed.pointee.pace.maySendClock(at: start + .seconds(60))
    #expect(later)
  }

  @Test(arguments: [MediaKind.audio, .video])
  func `packets are kept as soon as there is a consumer here`(kind: MediaKind) {
    let table = Table()
    let index = table.insert(1, kind)
    keep(table, index, 1)
    #expect(!table.keeps(index, 1))
    table.table.pointer(index).pointee.add(Self.slot(2))
    keep(table, index, 2)
    #expect(table.keeps(index, 2) && !table.keeps(index, 1))
    #expect(table.table.pointer(index).pointee.packets == 2)
  }

  @Test func `a picture is begun with its last key frame, if that is whole and not too much`() {
    let table = Table()
    let index = table.insert(1)
    func keep(_ sequence: Int64, key: Bool = false, picture: UInt32? = nil, bytes: Int = 50) {
      var info = PacketInfo()
      info.extendedSequence = sequence
      info.timestamp = picture ?? UInt32(sequence * 3_000)
      if key { info.flags = [.keyFrame, .frameStart] }
      [UInt8](repeating: 1, count: bytes).withUnsafeBytes {
        table.table.pointer(index).pointee.keep($0, info)
      }
    }
    func begins() -> RecentPictures? { table.table.pointer(index).pointee.sinceKeyFrame() }
    #expect(begins() == nil)
    table.table.pointer(index).pointee.add(Self.slot(1))
    keep(7)
    #expect(begins() == nil)
    keep(8, key: true)
    keep(9, picture: 8 * 3_000)
    #expect(begins()?.frames == 1)
    keep(11)
    #expect(begins() == nil, "one is missing")
    keep(10)
    #expect(begins().map { [$0.first, $0.last] } == [8, 11])
    #expect(begins().map { [$0.frames, $0.bytes] } == [3, 4 * 78])
    #expect(begins().map { [$0.keyTimestamp, $0.timestamp] } == [24_000, 33_000])
    keep(20, key: true)
    #expect(begins()?.frames == 1)
    keep(21, picture: 19 * 3_000)
    #expect(begins() == nil, "timestamps step back")
    for start in [600, 1_200] as [Int64] {
      keep(start, key: true)
      for number in 1...511 as ClosedRange<Int64> {
        keep(start + number, picture: UInt32(start + number / 20) * 3_000)
      }
      #expect(begins()?.frames == 26)
      keep(start + 512)
      #expect(begins() == nil, "too many packets")
    }
    keep(2_000, key: true)
    for number in 1..<120 as Range<Int64> { keep(2_000 + number) }
    #expect(begins()?.frames == 120)
    keep(2_120)
    #expect(begins() == nil, "too many pictures")
    keep(3_000, key: true)
    for number in 1..<400 as Range<Int64> { keep(3_000 + number, picture: 9_000_000, bytes: 1_200) }
    #expect(begins()?.frames == 1)
    for number in 400..<440 as Range<Int64> { keep(3_000 + number, picture: 9_000_000, bytes: 1_200) }
    #expect(begins() == nil, "too many bytes")
  }

  @Test
  func `a picture is never begun with what its source showed in another incarnation, or before it was muted`()
  {
    let table = Table()
    let index = table.insert(1)
    func keep(_ sequence: Int64, key: Bool = false, incarnation: UInt8) {
      var info = PacketInfo()
      info.extendedSequence = sequence
      info.restart = incarnation
      if key { info.flags = [.keyFrame, .frameStart] }
      [UInt8](repeating: 1, count: 50).withUnsafeBytes { table.table.pointer(index).pointee.keep($0, info) }
    }
    func begins() -> ClosedRange<Int64>? {
      table.table.pointer(index).pointee.sinceKeyFrame().map { $0.first...$0.last }
    }
    table.table.pointer(index).pointee.add(Self.slot(1))
    keep(10, key: true, incarnation: 0)
    keep(11, incarnation: 0)
    #expect(begins() == 10...11)
    // It started over: what it was before is past, also where it comes late.
    keep(20, incarnation: 1)
    #expect(begins() == nil)
    keep(19, key: true, incarnation: 0)
    #expect(begins() == nil)
    keep(21, key: true, incarnation: 1)
    keep(22, incarnation: 1)
    #expect(begins() == 21...22)
    // Muted: what was on its way meanwhile counts as before it.
    table.table.pointer(index).pointee.picture.mute(1)
    #expect(begins() == nil)
    keep(23, key: true, incarnation: 1)
    #expect(begins() == nil)
    keep(24, key: true, incarnation: 2)
    #expect(begins() == 24...24)
    // The word of it may also come before all that it is about.
    table.table.pointer(index).pointee.picture.mute(3)
    keep(25, key: true, incarnation: 3)
    #expect(begins() == nil)
    keep(26, key: true, incarnation: 4)
    #expect(begins() == 26...26)
  }

  @Test func `the table grows, keeps indices, and uses free places again`() {
    let table = Table()
    var model: [Int: Int] = [:]
    var random = RandomSource.seeded(state: 1)
    for serial in 0..<500 {
      let index = table.insert(serial, serial % 2 == 0 ? .audio : .video)
      #expect(!model.values.contains(index))
      model[serial] = index
      table.table.pointer(index).pointee.add(Self.slot(serial, 1))
      if random.next() % 3 == 0, let gone = model.keys.randomElement(using: &random), let old = model[gone] {
        table.table.remove(old)
        table.table.remove(old)
        model[gone] = nil
        #expect(table.find(gone) == nil)
      }
    }
    #expect(table.table.count == model.count)
    for (serial, index) in model {
      #expect(table.find(serial) == index)
      #expect(table.consumers(index) == [Self.slot(serial, 1)])
      #expect(table.table.pointer(index).pointee.kind == (serial % 2 == 0 ? .audio : .video))
    }
    let highest = model.values.max() ?? 0
    #expect(highest < 512)
  }

  @Test func `sets of bits are walked from the lowest`() {
    #expect(Array(SetBits(0)) == [])
    #expect(Array(SetBits(1 << 63 | 1 | 1 << 20)) == [0, 20, 63])
    #expect(Array(SetBits(.max)) == Array(0..<64))
  }
}
