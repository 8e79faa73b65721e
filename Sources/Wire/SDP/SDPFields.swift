/// Takes the value of one line apart, field by field.
///
/// Works on UTF-8 code units: a combining character behind a delimiter must not hide it.
struct SDPFields {
  private(set) var rest: Substring.UTF8View

  init(_ value: Substring) { rest = value.utf8 }

  /// The next field up to a space; nil at the end.
  mutating func next() -> Substring? { next(until: 0x20) }

  /// The next field up to `delimiter`, of which runs count as one; nil at the end.
  mutating func next(until delimiter: UInt8) -> Substring? {
    rest = rest.drop { $0 == delimiter }
    guard !rest.isEmpty else { return nil }
    let field = rest.prefix { $0 != delimiter }
    rest = rest[field.endIndex...].drop { $0 == delimiter }
    return Substring(field)
  }

  mutating func nextNumber<T: FixedWidthInteger & UnsignedInteger>(_ type: T.Type = T.self) -> T? {
    next()?.decimal()
  }

  /// What is left, without leading spaces.
  var remainder: Substring { Substring(rest.drop { $0 == 0x20 }) }
  var isAtEnd: Bool { rest.isEmpty }
}

extension Substring {
  /// The number, if this is digits alone and fits.
  func decimal<T: FixedWidthInteger & UnsignedInteger>(_ type: T.Type = T.self) -> T? {
    guard !utf8.isEmpty, utf8.count <= 20, utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return T(self)
  }

  /// The two parts around the first `delimiter`; the second is nil where there is none.
  func halves(at delimiter: UInt8) -> (Substring, Substring?) {
    guard let at = utf8.firstIndex(of: delimiter) else { return (self, nil) }
    return (self[..<at], self[utf8.index(after: at)...])
  }

  /// All parts around `delimiter`, empty ones included.
  func parts(at delimiter: UInt8) -> [Substring] {
    utf8.split(separator: delimiter, omittingEmptySubsequences: false).map { Substring($0) }
  }

  /// A `token` of RFC 8866 §9, so ASCII.
  var isToken: Bool {
    !utf8.isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7E: true
        default: false
        }
      }
  }

  /// `ice-char` of RFC 8839 §5.4: letters, digits, `+` and `/`.
  func isICEText(_ length: ClosedRange<Int>) -> Bool {
    length.contains(utf8.count)
      && utf8.allSatisfy { byte in
        switch byte {
        case 0x2B, 0x2F...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
      }
  }

  /// Letters, digits, `-` and `_`, as `rid-id` of RFC 8851 §10.
  var isRID: Bool {
    (1...255).contains(utf8.count)
      && utf8.allSatisfy { byte in
        switch byte {
        case 0x2D, 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
      }
  }

  /// Without spaces at either end.
  var trimmed: Substring { Substring(utf8.drop { $0 == 0x20 }).withoutSpacesBehind }

  var withoutSpacesBehind: Substring {
    var view = utf8
    while view.last == 0x20 { view.removeLast() }
    return Substring(view)
  }
}

/// An attribute whose value has a grammar of its own.
protocol SDPValue {
  /// What the value has to look like, for error messages.
  static var grammar: String { get }
  init?(value: Substring)
  var value: String { get }
}
