/// Why a text is no session description that we accept. Lines count from 1.
public enum SDPError: Error, Equatable, Sendable {
  case tooLong(bytes: Int, limit: Int)
  case notUTF8
  case tooManyLines(limit: Int)
  case lineTooLong(line: Int, bytes: Int, limit: Int)
  case tooManySections(line: Int, limit: Int)
  case controlCharacter(line: Int, byte: UInt8)
  /// The line's type is not the one that has to stand here.
  case unexpectedLine(line: Int, found: String, expected: String)
  /// The field does not follow its grammar, which `expected` spells out.
  case malformed(line: Int, field: String, expected: String)
  /// A field that may stand once per section stands twice, or a name is taken already.
  case duplicate(line: Int, field: String)
  case ended(line: Int, expected: String)
}

extension SDPError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooLong(let bytes, let limit):
      "the description has \(bytes) bytes; at most \(limit) are read"
    case .notUTF8:
      "the description is not UTF-8"
    case .tooManyLines(let limit):
      "the description has more than \(limit) lines"
    case .lineTooLong(let line, let bytes, let limit):
      "line \(line) has \(bytes) bytes; at most \(limit) are read"
    case .tooManySections(let line, let limit):
      "line \(line): more than \(limit) media sections; use several transports"
    case .controlCharacter(let line, let byte):
      "line \(line) contains the control character \(byte)"
    case .unexpectedLine(let line, let found, let expected):
      "line \(line): \(expected) expected, \(found) found"
    case .malformed(let line, let field, let expected):
      "line \(line): \(field) does not read \(expected)"
    case .duplicate(let line, let field):
      "line \(line): \(field) stands a second time"
    case .ended(let line, let expected):
      "the description ends at line \(line), \(expected) expected"
    }
  }
}
