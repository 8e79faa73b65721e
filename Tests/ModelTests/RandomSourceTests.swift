import Model
import Testing

@Suite("Sources of randomness", .timeLimit(.minutes(2)))
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

  @Test func `what is split off goes its own way, from a seed the same way every time`() {
    var random = RandomSource.seeded(state: 7)
    var again = random
    var first = random.split()
    var second = random.split()
    let numbers = [first.next(), second.next(), random.next()]
    #expect(Set(numbers).count == 3)
    var repeated = again.split()
    #expect(repeated.next() == numbers[0])
    var system = RandomSource.system
    guard case .system = system.split() else {
      Issue.record("of the system's comes the system's")
      return
    }
  }
}
