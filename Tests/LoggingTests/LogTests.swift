import Logging
import Synchronization
import Testing

@Suite("The operator's log", .timeLimit(.minutes(2)))
struct LogTests {
  /// What a log writes, line by line.
  final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    func append(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  /// The part behind `name=` of a line that tells of one value.
  func written(_ value: String) throws -> String {
    let lines = Lines()
    Log(level: .info) { lines.append($0) }.info("joined", ["name": value])
    let line = try #require(lines.all.first)
    let start = try #require(line.firstRange(of: "joined name=")).upperBound
    return String(line[start...])
  }

  @Test(arguments: [
    ("alice", "alice"), ("RM_x-1.2/3", "RM_x-1.2/3"), ("Zoë", "Zoë"), ("", "\"\""), ("a b", "\"a b\""),
    ("a=b", "\"a=b\""), ("say \"hi\"", #""say \"hi\"""#), (#"a\b"#, #""a\\b""#),
  ])
  func `a value is bare where that is unambiguous, else quoted`(value: String, quoted: String) throws {
    #expect(try written(value) == quoted)
  }

  @Test(arguments: [
    "\n", "\r\n", "\u{0}", "\u{7F}", "\u{85}", "\u{9B}31m", "\u{1B}[2J", "\u{2028}", "\u{2029}", "\u{202E}",
    "\u{2066}", "\u{200B}", "\u{FEFF}", "\u{E0041}",
  ])
  func `what ends a line, turns it round or hides never gets through`(bad: String) throws {
    let text = try written("x\(bad)2026-01-01T00:00:00.000Z error forged")
    #expect(text.hasPrefix("\"x\\u{"))
    #expect(text.hasSuffix("2026-01-01T00:00:00.000Z error forged\""))
    let first = try #require(bad.unicodeScalars.first)
    #expect(!text.unicodeScalars.contains(first))
    // Alone, without anything else that asks for quotes, too.
    #expect(try written("x\(bad)y").hasPrefix("\"x\\u{"))
  }

  @Test(arguments: ["\u{A0}", "\u{3000}", "\t"])
  func `a value with any kind of space is quoted`(space: String) throws {
    #expect(try written("a\(space)b").hasPrefix("\""))
  }

  @Test func `fields stand in the order in which they were given`() throws {
    let lines = Lines()
    Log(level: .debug) { lines.append($0) }.debug("m", ["b": "1", "a": "2", "b2": ""])
    #expect(try #require(lines.all.first).hasSuffix(" debug m b=1 a=2 b2=\"\""))
  }

  @Test(arguments: LogLevel.allCases)
  func `only what the level admits is written`(level: LogLevel) {
    let lines = Lines()
    let log = Log(level: level) { lines.append($0) }
    log.error("e")
    log.warning("w")
    log.info("i")
    log.debug("d")
    #expect(lines.all.count == level.rawValue + 1)
    #expect(LogLevel(name: level.name) == level)
  }

  @Test func `a line begins with the time in UTC`() throws {
    let lines = Lines()
    Log(level: .info) { lines.append($0) }.info("x")
    let line = try #require(lines.all.first)
    #expect(line.wholeMatch(of: /20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d{3}Z info x/) != nil)
  }
}
