import Model
import Testing

@Suite("Sources of randomness")
struct RandomSourceTests {
  @Test func `a seed gives SplitMix64's sequence`() {
    var random = RandomSource.seeded(state: 1_234_567)
    #expect(
      (0..<3).map { _ in random.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
      ])
  }

  @Test func `ids have the length asked for and only letters and digits`() {
    var random = RandomSource.system
    let text = random.alphanumeric(200)
    #expect(text.utf8.count == 200)
    #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
    #expect(random.alphanumeric(0) == "")
  }
}
