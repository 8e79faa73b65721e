import Model
import Testing

@Suite("Combining marks", .timeLimit(.minutes(1)))
struct CombiningMarksTests {
  private static func marks(_ count: Int) -> String {
    String(String.UnicodeScalarView((0..<count).map { $0.isMultiple(of: 2) ? "\u{301}" : "\u{316}" }))
  }

  @Test(arguments: ["", "a", "日本語 한국어 हिन्दी ཀཱི 👩‍👩‍👧", String(repeating: "e\u{301}", count: 100), "é"])
  func `text in any language has few`(text: String) { #expect(CombiningMarks.areFew(in: text)) }

  @Test(arguments: ["", "a", "before", "日"])
  func `as many as the limit may stand in a row`(before: String) {
    #expect(CombiningMarks.areFew(in: before + Self.marks(30) + "x" + Self.marks(30)))
    #expect(!CombiningMarks.areFew(in: before + Self.marks(31)))
    #expect(!CombiningMarks.areFew(in: before + Self.marks(30) + "x" + Self.marks(31) + "after"))
  }

  @Test(arguments: ["\u{344}", "\u{F73}", "\u{F75}", "\u{F81}", "\u{20D0}", "\u{1D165}", "\u{1E8D0}"])
  func `marks of any plane count, and what decomposes into some`(mark: String) {
    #expect(CombiningMarks.areFew(in: "a" + String(repeating: mark, count: 30)))
    #expect(!CombiningMarks.areFew(in: "a" + String(repeating: mark, count: 31)))
  }
}
