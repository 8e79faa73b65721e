import Crypto
import Testing

@Suite("Random bytes", .timeLimit(.minutes(5)))
struct RandomTests {
  @Test(arguments: [0, 1, 7, 32, 1_000])
  func `as many as asked for`(count: Int) {
    #expect(Random.bytes(count).count == count)
    #expect(Random.key(count).count == count)
  }

  @Test func `every byte of a buffer is drawn`() {
    var seen = [Set<UInt8>](repeating: [], count: 33)
    for _ in 0..<40 {
      for (place, byte) in Random.bytes(33).enumerated() { seen[place].insert(byte) }
    }
    #expect(seen.allSatisfy { $0.count > 10 })
  }

  @Test func `no two are alike`() {
    #expect(Set((0..<1_000).map { _ in Random.key(16) }).count == 1_000)
    #expect(Set((0..<1_000).map { _ in Random.integer(UInt64.self) }).count == 1_000)
  }
}
