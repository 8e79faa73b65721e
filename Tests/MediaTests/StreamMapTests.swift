import Model
import Testing

@testable import Media

@Suite("Streams by SSRC", .timeLimit(.minutes(2)))
struct StreamMapTests {
  final class Map {
    var map = StreamMap()
    func find(_ ssrc: UInt32) -> Int32? { map.find(ssrc).map { Int32($0.section) } }
    func set(_ ssrc: UInt32, _ receiver: Int) -> Bool {
      map.set(
        ssrc,
        StreamMap.Stream(section: UInt16(receiver), encoding: UInt8(receiver % 3), isRTX: receiver % 2 == 1))
    }
    var count: Int { map.count }
  }

  @Test func `it agrees with a dictionary through random changes`() {
    let map = Map()
    var model: [UInt32: Int32] = [:]
    var random = RandomSource.seeded(state: 1)
    for step in 0..<20_000 {
      // 0 is an SSRC like any other.
      let ssrc = UInt32(random.next() % 700)
      if random.next() % 3 == 0 {
        map.map.remove(ssrc)
        model[ssrc] = nil
      } else {
        let fits = model[ssrc] != nil || model.count < StreamMap.limit
        #expect(map.set(ssrc, step) == fits)
        if fits { model[ssrc] = Int32(step) }
      }
      let other = UInt32(random.next() % 700)
      #expect(map.find(other) == model[other])
      #expect(map.count == model.count)
    }
    #expect(Set(map.map.all.map(\.ssrc)) == Set(model.keys))
    map.map.removeAll()
    #expect(map.count == 0 && map.map.all.isEmpty && model.keys.allSatisfy { map.find($0) == nil })
  }

  @Test func `a full map refuses newcomers and changes what is there`() {
    let map = Map()
    // Numbers whose hashes lie together.
    for number in 0..<512 as Range<UInt32> { #expect(map.set(number &* 0x0040_0000 &+ number, 1)) }
    #expect(!map.set(0xFFFF_FFFF, 2))
    #expect(map.find(0xFFFF_FFFF) == nil)
    #expect(map.set(0, 3) && map.find(0) == 3)
  }
}
