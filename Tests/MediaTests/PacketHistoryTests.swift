import Media
import Model
import Testing

@Suite("Packets kept to be sent again", .timeLimit(.minutes(5)))
struct PacketHistoryTests {
  /// A history and what it must hold.
  final class Kept {
    var history: PacketHistory
    init(packets: Int, bytes: Int) { history = PacketHistory(packets: packets, bytes: bytes) }

    func content(_ sequence: Int64, size: Int) -> [UInt8] {
      (0..<size).map { UInt8(truncatingIfNeeded: Int(sequence) &* 7 &+ $0) }
    }
    func store(_ sequence: Int64, size: Int) {
      var info = PacketInfo()
      info.timestamp = UInt32(truncatingIfNeeded: sequence)
      content(sequence, size: size).withUnsafeBytes { history.store($0, info, sequence: sequence) }
    }
    func find(_ sequence: Int64) -> [UInt8]? {
      guard let found = history.find(sequence) else { return nil }
      #expect(found.info.timestamp == UInt32(truncatingIfNeeded: sequence))
      return Array(found.packet)
    }
  }

  @Test func `an empty history finds nothing`() {
    let kept = Kept(packets: 16, bytes: 4_096)
    for sequence in [0, 1, -1, Int64.max, .min, .min + 1] { #expect(kept.find(sequence) == nil) }
  }

  @Test func `the number of packets bounds it, the oldest give way`() {
    let kept = Kept(packets: 16, bytes: 1 << 20)
    for sequence in 0..<40 as Range<Int64> { kept.store(sequence, size: 100) }
    #expect(kept.find(23) == nil)
    for sequence in 24..<40 as Range<Int64> {
      #expect(kept.find(sequence) == kept.content(sequence, size: 100))
    }
  }

  @Test func `the bytes bound it as well`() {
    let kept = Kept(packets: 1_024, bytes: 4_096)
    for sequence in 0..<10 as Range<Int64> { kept.store(sequence, size: 1_000) }
    #expect(kept.find(5) == nil)
    for sequence in 6..<10 as Range<Int64> {
      #expect(kept.find(sequence) == kept.content(sequence, size: 1_000))
    }
  }

  @Test func `a packet of a quarter of the ring is kept, a larger and an empty one are not`() {
    let kept = Kept(packets: 16, bytes: 4_096)
    kept.store(1, size: 1_024)
    kept.store(2, size: 1_025)
    kept.store(3, size: 0)
    #expect(kept.find(1)?.count == 1_024)
    #expect(kept.find(2) == nil)
    #expect(kept.find(3) == nil)
  }

  @Test func `a late packet takes its own place and no newer one's`() {
    let kept = Kept(packets: 16, bytes: 1 << 16)
    for sequence in 100..<116 as Range<Int64> where sequence != 105 { kept.store(sequence, size: 50) }
    kept.store(105, size: 50)
    #expect(kept.find(105) != nil)
    kept.store(99, size: 50)
    #expect(kept.find(99) == nil)
    #expect(kept.find(115) != nil)
  }

  @Test func `whatever is found is what was stored, at random sizes and with restarts`() {
    let kept = Kept(packets: 64, bytes: 10_000)
    var random = RandomSource.seeded(state: 21)
    var sequence: Int64 = 0
    var sizes: [Int64: Int] = [:]
    var found = 0
    for _ in 0..<20_000 {
      sequence += random.next() % 500 == 0 ? 100_000 : Int64(random.next() % 3)
      let size = 1 + Int(random.next() % 2_400)
      guard sizes[sequence] == nil else { continue }
      sizes[sequence] = size
      kept.store(sequence, size: size)
      if size <= 2_500 { #expect(kept.find(sequence) == kept.content(sequence, size: size)) }
      let old = sequence - Int64(random.next() % 80)
      if let packet = kept.find(old) {
        found += 1
        #expect(packet == kept.content(old, size: sizes[old] ?? -1))
      }
    }
    #expect(found > 1_000)
  }
}
