import Model
import Testing

@Suite("Names by their bytes", .timeLimit(.minutes(1)))
struct ExactNameTests {
  @Test func `what Unicode calls equivalent are two names`() {
    let (one, two) = ("caf\u{e9}", "cafe\u{301}")
    #expect(one == two && ExactName(one) != ExactName(two) && !one.isExactly(two))
    #expect(ExactName(one) == ExactName("caf\u{e9}") && one.isExactly("caf\u{e9}"))
    let table = [ExactName(one): 1, ExactName(two): 2, ExactName(""): 3]
    #expect(table[ExactName(one)] == 1 && table[ExactName(two)] == 2 && table[ExactName("cafe")] == nil)
  }
}
