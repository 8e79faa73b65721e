/// Puts an answer's head together from the lines that libcurl hands over, one at a time.
struct AnswerHeadReader {
  private(set) var head: HTTPAnswerHead?
  /// The empty line has come, of an answer that isn't an interim one (RFC 9110 §15.2).
  private(set) var isComplete = false
  private var bytes = 0
  static let limit = 65_536

  /// - Parameter line: with its end.
  /// - Returns: false for more than `limit` bytes in all.
  mutating func read(_ line: UnsafeRawBufferPointer) -> Bool {
    bytes &+= line.count
    guard bytes <= Self.limit else { return false }
    let text = String(decoding: line.prefix { $0 != 13 && $0 != 10 }, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      let words = text.split(separator: " ", maxSplits: 2)
      head = HTTPAnswerHead(status: words.count > 1 ? Int(words[1]) ?? 0 : 0)
      isComplete = false
    } else if text.isEmpty {
      isComplete = (head?.status ?? 0) >= 200
    } else if !isComplete, let colon = text.firstIndex(of: ":") {
      // What comes once it is complete are trailers, which no one here reads.
      let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      head?.headers[text[..<colon].lowercased(), default: []].append(String(value))
    }
    return true
  }
}
