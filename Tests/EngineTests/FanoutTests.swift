import Media
import Model
import Testing

@testable import Engine

@Suite("Who gets a track", .timeLimit(.minutes(2)))
struct FanoutTests {
  final class Table {
    var table = FanoutTable()
    func insert(_ serial: Int, _ kind: MediaKind = .video) -> Int {
      table.insert(Fanout(key: FanoutTests.key(serial), kind: kind))
    }
    func find(_ serial: Int) -> Int? { table.find(FanoutTests.key(serial)) }
    func consumers(_ index: Int) -> [[Int32]] {
      let fanout = table.pointer(index)
      return (0..<fanout.pointee.consumerCount).map {
        [fanout.pointee.consumer($0).peer, fanout.pointee.consumer($0).slot]
      }
    }
    func keeps(_ index: Int, _ sequence: Int64) -> Bool {
      table.pointer(index).pointee.find(sequence) != nil
    }
  }

  static func key(_ serial: Int) -> TrackKey {
    TrackKey(peer: PeerKey(home: serial % 3, serial: UInt64(serial)), index: UInt16(serial % 5))
  }

  @Test func `consumers are served in the order in which they came, each once`() {
    let table = Table()
    let index = table.insert(1)
    let fanout = table.table.pointer(index)
    for number in [3, 1, 4, 1, 5, 9, 2, 6] { fanout.pointee.add(peer: number, slot: 0, keepsHistory: false) }
    fanout.pointee.add(peer: 1, slot: 1, keepsHistory: false)
    #expect(
      table.consumers(index) == [[3, 0], [1, 0], [4, 0], [5, 0], [9, 0], [2, 0], [6, 0], [1, 1]])
    fanout.pointee.remove(peer: 4, slot: 0)
    fanout.pointee.remove(peer: 4, slot: 0)
    fanout.pointee.remove(peer: 77, slot: 0)
    fanout.pointee.remove(peer: 1, slot: 1)
    #expect(table.consumers(index) == [[3, 0], [1, 0], [5, 0], [9, 0], [2, 0], [6, 0]])
  }

  @Test func `however many reports come, a clock is told to other workers 64 times a second`() {
    let table = Table()
    let fanout = table.table.pointer(table.insert(1, .audio))
    let start = Instant(nanoseconds: 5_000_000_000)
    var told = 0
    for step in 0..<3_000 where fanout.pointee.mayTellClock(at: start + .milliseconds(step)) { told += 1 }
    #expect(told == 3 * 64)
    let later = fanout.pointee.mayTellClock(at: start + .seconds(60))
    #expect(later)
  }

  @Test func `packets are kept once somebody may ask for them again`() {
    let table = Table()
    let index = table.insert(1, .audio)
    func keep(_ sequence: Int64) {
      var info = PacketInfo()
      info.extendedSequence = sequence
      [UInt8](repeating: 1, count: 50).withUnsafeBytes { table.table.pointer(index).pointee.keep($0, info) }
    }
    table.table.pointer(index).pointee.add(peer: 1, slot: 0, keepsHistory: false)
    keep(1)
    #expect(!table.keeps(index, 1))
    table.table.pointer(index).pointee.add(peer: 2, slot: 0, keepsHistory: true)
    keep(2)
    #expect(table.keeps(index, 2) && !table.keeps(index, 1))
    #expect(table.table.pointer(index).pointee.packets == 2)
  }

  @Test func `a picture is begun with its last key frame, if that is fresh and near`() {
    let table = Table()
    let index = table.insert(1)
    func keep(_ sequence: Int64, key: Bool = false, at milliseconds: Int64) {
      var info = PacketInfo()
      info.extendedSequence = sequence
      info.arrival = Instant(nanoseconds: milliseconds * 1_000_000)
      if key { info.flags = [.keyFrame, .frameStart] }
      [UInt8](repeating: 1, count: 50).withUnsafeBytes { table.table.pointer(index).pointee.keep($0, info) }
    }
    func begins(at milliseconds: Int64) -> ClosedRange<Int64>? {
      table.table.pointer(index).pointee.sinceKeyFrame(now: Instant(nanoseconds: milliseconds * 1_000_000))
    }
    #expect(begins(at: 0) == nil)
    table.table.pointer(index).pointee.add(peer: 1, slot: 0, keepsHistory: false)
    keep(7, at: 0)
    #expect(begins(at: 1) == nil)
    keep(8, key: true, at: 10)
    keep(11, at: 20)
    // A late one changes nothing.
    keep(9, at: 30)
    #expect(begins(at: 40) == 8...11)
    #expect(begins(at: 1_009) == 8...11 && begins(at: 1_010) == nil)
    keep(20, key: true, at: 500)
    #expect(begins(at: 1_200) == 20...20)
    keep(531, at: 600)
    #expect(begins(at: 700) == 20...531)
    keep(532, at: 600)
    #expect(begins(at: 700) == nil)
  }

  @Test func `a picture is never begun with what its source showed in another life, or before it was held`() {
    let table = Table()
    let index = table.insert(1)
    func keep(_ sequence: Int64, key: Bool = false, life: UInt8) {
      var info = PacketInfo()
      info.extendedSequence = sequence
      info.restart = life
      if key { info.flags = [.keyFrame, .frameStart] }
      [UInt8](repeating: 1, count: 50).withUnsafeBytes { table.table.pointer(index).pointee.keep($0, info) }
    }
    func begins() -> ClosedRange<Int64>? {
      table.table.pointer(index).pointee.sinceKeyFrame(now: Instant(nanoseconds: 1))
    }
    table.table.pointer(index).pointee.add(peer: 1, slot: 0, keepsHistory: false)
    keep(10, key: true, life: 0)
    keep(11, life: 0)
    #expect(begins() == 10...11)
    // It started over: what it was before is past, also where it comes late.
    keep(20, life: 1)
    #expect(begins() == nil)
    keep(19, key: true, life: 0)
    #expect(begins() == nil)
    keep(21, key: true, life: 1)
    keep(22, life: 1)
    #expect(begins() == 21...22)
    // Held: what was on its way meanwhile counts as before it.
    table.table.pointer(index).pointee.hold(1)
    #expect(begins() == nil)
    keep(23, key: true, life: 1)
    #expect(begins() == nil)
    keep(24, key: true, life: 2)
    #expect(begins() == 24...24)
    // The word of it may also come before all that it is about.
    table.table.pointer(index).pointee.hold(3)
    keep(25, key: true, life: 3)
    #expect(begins() == nil)
    keep(26, key: true, life: 4)
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
      table.table.pointer(index).pointee.add(peer: serial, slot: 1, keepsHistory: false)
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
      #expect(table.consumers(index) == [[Int32(serial), 1]])
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
