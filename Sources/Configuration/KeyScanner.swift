/// Finds the line of every key in JSON5 text, which the decoder doesn't tell. It reads just enough to know what
/// is a key: strings, comments, braces.
struct KeyScanner {
  struct Key: Equatable {
    /// From the outermost object inwards.
    var path: [String]
    var line: Int
  }

  private(set) var keys: [Key] = []
  /// Why and where the text stops being JSON5, as far as this reader can see.
  private(set) var problem: (line: Int, reason: String)?

  private var rest: Substring
  private var line = 1

  /// An object or array that is open at some point of the text.
  private struct Frame {
    var isObject: Bool
    var line: Int
    /// The keys that lead to it.
    var path: [String]
    /// The key whose value is being read; nil where a key is due.
    var key: String?
  }

  init(_ text: String) {
    rest = text[...]
    var open: [Frame] = []
    while problem == nil, let token = next() {
      switch token {
      case .symbol("{"), .symbol("["):
        let path = open.last.map { $0.path + ($0.key.map { [$0] } ?? []) } ?? []
        open.append(Frame(isObject: token == .symbol("{"), line: line, path: path))
      case .symbol("}"), .symbol("]"):
        if open.popLast()?.isObject != (token == .symbol("}")) {
          problem = (line, "a bracket is closed that is not open")
        }
      case .symbol(","): if !open.isEmpty { open[open.count - 1].key = nil }
      case .symbol: break
      case .word(let text, let start):
        guard let frame = open.last, frame.isObject, frame.key == nil else { continue }
        open[open.count - 1].key = text
        keys.append(Key(path: frame.path + [text], line: start))
      case .broken(let reason, let start): problem = (start, reason)
      }
    }
    if problem == nil, let last = open.last { problem = (last.line, "a bracket is opened and never closed") }
  }

  /// The line of that key's last mention.
  func line(of path: [String]) -> Int? { keys.last { $0.path == path }?.line }

  private enum Token: Equatable {
    case symbol(Character)
    case word(String, line: Int)
    case broken(String, line: Int)
  }

  private mutating func next() -> Token? {
    while let character = rest.first {
      if character.isWhitespace {
        advance()
      } else if rest.hasPrefix("//") {
        while let character = rest.first, !character.isNewline { rest.removeFirst() }
      } else if rest.hasPrefix("/*") {
        let start = line
        while !rest.hasPrefix("*/") {
          guard rest.first != nil else { return .broken("a comment is not closed", line: start) }
          advance()
        }
        rest = rest.dropFirst(2)
      } else if character == "\"" || character == "'" {
        return string(quote: character)
      } else if "{}[],:".contains(character) {
        rest.removeFirst()
        return .symbol(character)
      } else {
        let word = rest.prefix { !$0.isWhitespace && !"{}[],:\"'/".contains($0) }
        guard !word.isEmpty else {
          return .broken("\"\(character)\" stands where nothing of that kind can", line: line)
        }
        rest = rest[word.endIndex...]
        return .word(String(word), line: line)
      }
    }
    return nil
  }

  private mutating func string(quote: Character) -> Token {
    let start = line
    var text = ""
    rest.removeFirst()
    while let character = rest.first, character != quote {
      let escaped = character == "\\"
      if escaped { advance() }
      // An escaped line end goes on in the next line.
      guard let character = rest.first, escaped || !character.isNewline else {
        return .broken("a string is not closed", line: start)
      }
      text.append(character)
      advance()
    }
    guard rest.first == quote else { return .broken("a string is not closed", line: start) }
    rest.removeFirst()
    return .word(text, line: start)
  }

  private mutating func advance() {
    if rest.first?.isNewline == true { line += 1 }
    rest.removeFirst()
  }
}
