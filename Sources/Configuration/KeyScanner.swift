/// Finds the line of every key in JSON5 text, which the decoder doesn't tell. It reads just enough to know what
/// is a key and where the text stops being JSON5: strings, comments, brackets, what follows what.
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

  /// What has to stand next.
  private enum Due: String {
    case key = "a key or a closing brace"
    case colon = "a colon"
    case value = "a value"
    case end = "a comma or a closing bracket"
    case nothing = "nothing more"
  }

  init(_ text: String) {
    rest = text[...]
    // A byte order mark, as some editors write one.
    if rest.first == "\u{FEFF}" { rest.removeFirst() }
    var open: [Frame] = []
    var due = Due.value
    while problem == nil, let token = next() {
      switch token {
      case .symbol("{") where due == .value, .symbol("[") where due == .value:
        let path = open.last.map { $0.path + ($0.key.map { [$0] } ?? []) } ?? []
        open.append(Frame(isObject: token == .symbol("{"), line: line, path: path))
        due = token == .symbol("{") ? .key : .value
        if open.count > Self.depthLimit { problem = (line, "more than \(Self.depthLimit) brackets deep") }
      case .symbol("}"), .symbol("]"):
        guard let frame = open.popLast(), frame.isObject == (token == .symbol("}")) else {
          problem = (line, "unmatched closing bracket")
          continue
        }
        guard due == .end || due == (frame.isObject ? .key : .value) else {
          problem = (line, "\(token.text) stands where \(due.rawValue) is due")
          continue
        }
        due = open.isEmpty ? .nothing : .end
      case .symbol(",") where due == .end:
        due = open.last?.isObject == true ? .key : .value
        if !open.isEmpty { open[open.count - 1].key = nil }
      case .symbol(":") where due == .colon: due = .value
      case .word(let text, let start, _) where due == .key:
        let path = open.last?.path ?? []
        open[open.count - 1].key = text
        keys.append(Key(path: path + [text], line: start))
        due = .colon
      case .word(let text, _, let isQuoted) where due == .value && (isQuoted || Self.isLiteral(text)):
        due = open.isEmpty ? .nothing : .end
      case .symbol: problem = (line, "\(token.text) stands where \(due.rawValue) is due")
      case .word(_, let start, _): problem = (start, "\(token.text) stands where \(due.rawValue) is due")
      case .broken(let reason, let start): problem = (start, reason)
      }
    }
    guard problem == nil else { return }
    if let last = open.last {
      problem = (last.line, "unclosed bracket")
    } else if due == .value {
      problem = (line, "the file is empty")
    }
  }

  /// Brackets within brackets; no option needs more than a few.
  private static let depthLimit = 64

  private static func isLiteral(_ word: String) -> Bool {
    if ["true", "false", "null"].contains(word) { return true }
    let number = word.first == "+" || word.first == "-" ? word.dropFirst() : word[...]
    if ["Infinity", "NaN"].contains(number) { return true }
    if number.lowercased().hasPrefix("0x") {
      return number.count > 2 && number.dropFirst(2).allSatisfy { $0.isASCII && $0.isHexDigit }
    }
    return number.allSatisfy { "0123456789.eE+-".contains($0) } && Double(number) != nil
  }

  /// The line of that key's last mention.
  func line(of path: [String]) -> Int? { keys.last { $0.path == path }?.line }

  private enum Token: Equatable {
    case symbol(Character)
    case word(String, line: Int, isQuoted: Bool)
    case broken(String, line: Int)

    /// For messages.
    var text: String {
      switch self {
      case .symbol(let character): JSONTree.quoted("\(character)")
      case .word(let text, _, _): JSONTree.quoted(text.prefix(60))
      case .broken: ""
      }
    }
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
          guard rest.first != nil else { return .broken("unclosed comment", line: start) }
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
        return .word(String(word), line: line, isQuoted: false)
      }
    }
    return nil
  }

  private mutating func string(quote: Character) -> Token {
    let start = line
    var text = ""
    rest.removeFirst()
    while let character = rest.first, character != quote {
      guard character == "\\" else {
        guard !character.isNewline else { return .broken("unclosed string", line: start) }
        text.append(character)
        advance()
        continue
      }
      advance()
      guard let kind = rest.first else { return .broken("unclosed string", line: start) }
      advance()
      if let digits = ["u": 4, "x": 2][kind] {
        let code = UInt32(rest.prefix(digits), radix: 16).flatMap(Unicode.Scalar.init)
        rest = rest.dropFirst(digits)
        text.unicodeScalars.append(code ?? "\u{FFFD}")
      } else if !kind.isNewline {
        // An escaped line end goes on in the next line.
        text.append(["n": "\n", "t": "\t", "r": "\r"][kind] ?? kind)
      }
    }
    guard rest.first == quote else { return .broken("unclosed string", line: start) }
    rest.removeFirst()
    return .word(text, line: start, isQuoted: true)
  }

  private mutating func advance() {
    if rest.first?.isNewline == true { line += 1 }
    rest.removeFirst()
  }
}
