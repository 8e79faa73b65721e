import AccessTokens
import Testing

@testable import Operator

@Suite("Text of strangers on a terminal", .timeLimit(.minutes(1)))
struct TerminalTextTests {
  @Test(arguments: [
    ("ada", "ada"), ("Ünal 田中 👩‍💻", "Ünal 田中 👩‍💻"), ("", ""),
    ("\u{1B}[31mred", #"\u{1B}[31mred"#), ("a\nb\r\tc", #"a\u{A}b\u{D}\u{9}c"#),
    ("\0\u{7F}\u{9B}", #"\u{0}\u{7F}\u{9B}"#),
    ("a\u{202E}b", #"a\u{202E}b"#), ("a\u{2028}b\u{200B}c\u{FEFF}", #"a\u{2028}b\u{200B}c\u{FEFF}"#),
    (#"C:\u{1B}"#, #"C:\\u{1B}"#), ("a\u{A0}b\u{3000}c", #"a\u{A0}b\u{3000}c"#), ("\u{E000}", #"\u{E000}"#),
  ])
  func `what a terminal would obey, or no one sees, is written out`(text: String, expected: String) {
    #expect(TerminalText.shown(text) == expected)
  }

  @Test(arguments: [
    ("ada", #""ada""#), ("Ünal 田中 £", #""Ünal 田中 £""#), ("\u{1B}[31m", #""\u001b[31m""#),
    ("a\u{7F}b\u{9B}31m\u{80}\u{9F}\u{A0}", "\"a\\u007fb\\u009b31m\\u0080\\u009f\u{A0}\""),
  ])
  func `JSON has nothing either that a terminal would obey, and says the same`(text: String, expected: String)
    throws
  {
    let value = StrictJSON.string(text)
    #expect(value.line == expected + "\n")
    #expect(StrictJSON.parse(Array(value.line.utf8)) == value)
    var output = Output()
    output.print(.object(["name": value]))
    #expect(output.text == "{\"name\":" + expected + "}\n")
  }

  @Test(arguments: [
    ("abc", 3), ("田中", 4), ("é", 1), ("e\u{301}", 1), ("👍", 2), ("한국", 4), ("ｆｕｌｌ", 8), ("–", 1), ("", 0),
  ])
  func `columns are counted as terminals do`(text: String, columns: Int) {
    #expect(TerminalText.columns(text) == columns)
  }

  @Test(arguments: [
    ("abcdefghij", 10, "abcdefghij"), ("abcdefghijk", 10, "abcdef…ijk"), ("abcdefghij", 2, "a…"),
    ("abcdefghij", 1, "…"), ("abcdefghij", 0, ""), ("田中田中田中", 7, "田中…中"), ("田中田中", 2, "…"),
    ("abcdefgh\u{301}\u{301}", 6, "abcd…h\u{301}\u{301}"),
  ])
  func `a long text keeps its beginning and its end`(text: String, limit: Int, expected: String) {
    let short = TerminalText.shortened(text, to: limit)
    #expect(short == expected && TerminalText.columns(short) <= limit)
  }

  @Test func `names that differ in their last letters still do when shortened`() {
    let names = (10..<99).map { "meeting-room-of-the-third-floor-\($0)" }
    #expect(Set(names.map { TerminalText.shortened($0, to: 16) }).count == names.count)
  }
}

@Suite("Tables", .timeLimit(.minutes(1)))
struct TableTests {
  private func table(_ rows: [[String]]) -> Table {
    var table = Table([
      Table.Column(title: "NAME", isFlexible: true), Table.Column(title: "COUNT", isRight: true),
      Table.Column(title: "NOTE", isFlexible: true),
    ])
    for row in rows { table.add(row) }
    return table
  }

  @Test func `columns are as wide as what is in them, numbers stand at the right`() {
    #expect(
      table([["ada", "1", ""], ["bob-the-second", "12345", "x"]]).text(width: 80) == """
        NAME            COUNT  NOTE
        ada                 1
        bob-the-second  12345  x

        """)
  }

  @Test(arguments: [40, 60, 80, 200])
  func `no line is wider than the terminal, whatever names there are`(width: Int) {
    let names = [
      String(repeating: "x", count: 128), String(repeating: "田", count: 42),
      "\u{1B}[2J\n" + String(repeating: "\u{9B}", count: 60),
      String(repeating: "👩‍💻", count: 10), String(repeating: "e\u{301}\u{302}", count: 25), "",
    ]
    let text = table(names.map { [$0, "1000000", String($0.reversed())] }).text(width: width)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == names.count + 2)
    for line in lines { #expect(TerminalText.columns(String(line)) <= width) }
    #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
  }

  @Test func `where nothing is shortened, all of it is there`() {
    let name = String(repeating: "x", count: 200)
    #expect(table([[name, "1", name]]).text(width: nil).contains("\(name)      1  \(name)\n"))
  }

  @Test func `the wider column is shortened first`() {
    let text = table([["short", "1", String(repeating: "y", count: 100)]]).text(width: 40)
    #expect(text.contains("short") && text.contains("…"))
  }
}

@Suite("Figures", .timeLimit(.minutes(1)))
struct FiguresTests {
  @Test(arguments: [
    (0, "0"), (999, "999"), (1_000, "1.0 k"), (64_049, "64.0 k"), (999_949, "999.9 k"), (999_950, "1.0 M"),
    (2_400_000, "2.4 M"), (1_000_000_000, "1.0 G"), (5_000_000_000_000, "5000.0 G"), (-1, "0"),
  ])
  func `rates have a unit`(rate: Int, expected: String) { #expect(Figures.rate(rate) == expected) }

  @Test(arguments: [
    (0, "0 s"), (0.9, "0 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3_599, "59 min 59 s"),
    (7_800, "2 h 10 min"), (86_400, "1 d"), (90_061, "1 d 1 h"), (-5, "0 s"), (.infinity, "0 s"),
    (.nan, "0 s"),
    (1e300, "11574074 d 1 h"),
  ])
  func `spans have their two largest units`(seconds: Double, expected: String) {
    #expect(Figures.span(seconds: seconds) == expected)
  }

  @Test func `a time is that of RFC 3339 in UTC, or as it came`() {
    #expect(Figures.time("2026-11-25T10:33:39.123Z") == "2026-11-25 10:33:39 UTC")
    for text in ["", "yesterday", "2026-11-25T10:33:39+01:00", "2026-11-25T1Z", "2026-11-2\u{1B}T10:33:39Z"] {
      #expect(Figures.time(text) == text)
    }
  }
}
