internal import Model

/// The members of one JSON object, found but not read: each is decoded when it is asked for, within the bound that is
/// given with the question, so that what is not asked for costs nothing but its bytes.
struct JSONFields {
  /// Members of one object, including those that are never asked for.
  static let maximumMembers = 64

  /// The object's text; ranges are in it.
  private let bytes: UnsafeBufferPointer<UInt8>
  private let members: [(name: Range<Int>, value: Range<Int>)]

  /// - Returns: nil for what is no object, has a member twice or more of them than anybody needs.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    var scanner = JSONScanner(bytes)
    guard let found = Self.members(&scanner) else { return nil }
    scanner.skipSpace()
    guard scanner.isAtEnd else { return nil }
    self.bytes = bytes
    members = found
  }

  private static func members(_ scanner: inout JSONScanner) -> [(name: Range<Int>, value: Range<Int>)]? {
    scanner.skipSpace()
    guard scanner.take(UInt8(ascii: "{")) else { return nil }
    var found: [(name: Range<Int>, value: Range<Int>)] = []
    scanner.skipSpace()
    if scanner.take(UInt8(ascii: "}")) { return found }
    while found.count < maximumMembers {
      scanner.skipSpace()
      let start = scanner.position
      guard scanner.current == UInt8(ascii: "\""), scanner.string() else { return nil }
      let name = start + 1..<scanner.position - 1
      scanner.skipSpace()
      guard scanner.take(UInt8(ascii: ":")), let value = scanner.value() else { return nil }
      let isRepeated = found.contains { other in
        other.name.count == name.count
          && zip(other.name, name).allSatisfy { scanner.bytes[$0] == scanner.bytes[$1] }
      }
      guard !isRepeated else { return nil }
      found.append((name, value))
      scanner.skipSpace()
      if scanner.take(UInt8(ascii: "}")) { return found }
      guard scanner.take(UInt8(ascii: ",")) else { return nil }
    }
    return nil
  }

  /// What stands there; nil for what is absent or null.
  func value(_ name: String) -> JSONValue? {
    let wanted = name.utf8
    for member in members
    where member.name.count == wanted.count && zip(member.name, wanted).allSatisfy({ bytes[$0] == $1 }) {
      let value = JSONValue(UnsafeBufferPointer(rebasing: bytes[member.value]))
      return value.isNull ? nil : value
    }
    return nil
  }

  var isEmpty: Bool { members.isEmpty }
}

/// One JSON value that the scanner has found sound.
struct JSONValue {
  let bytes: UnsafeBufferPointer<UInt8>

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  var isNull: Bool { bytes.first == UInt8(ascii: "n") }
  var isString: Bool { bytes.first == UInt8(ascii: "\"") }
  var isNumber: Bool { bytes.first.map { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) } ?? false }

  var boolean: Bool? {
    switch bytes.first {
    case UInt8(ascii: "t"): true
    case UInt8(ascii: "f"): false
    default: nil
    }
  }

  /// nil: no whole number, or beyond 15 digits.
  var integer: Int? {
    guard isNumber, bytes.count <= 16 else { return nil }
    return Int(String(decoding: bytes, as: UTF8.self))
  }

  enum Text: Equatable {
    case text(String)
    case tooLong
    /// More combining marks in a row than `CombiningMarks.limit`.
    case tooManyMarks
    /// No string, or half of a surrogate pair.
    case none
  }

  /// - Parameter limit: bytes of UTF-8, of which nothing is decoded where there are more.
  func text(limit: Int) -> Text {
    guard isString else { return .none }
    let content = UnsafeBufferPointer(rebasing: bytes[1..<bytes.count - 1])
    guard content.contains(UInt8(ascii: "\\")) else {
      return content.count <= limit ? Self.checked(String(decoding: content, as: UTF8.self)) : .tooLong
    }
    // No escape has more than six bytes for one.
    guard content.count <= 6 * limit else { return .tooLong }
    guard let decoded = Self.unescape(content, limit: limit) else { return .none }
    return decoded.utf8.count <= limit ? Self.checked(decoded) : .tooLong
  }

  private static func checked(_ text: String) -> Text {
    CombiningMarks.areFew(in: text) ? .text(text) : .tooManyMarks
  }

  private static func unescape(_ content: UnsafeBufferPointer<UInt8>, limit: Int) -> String? {
    var units: [UInt8] = []
    units.reserveCapacity(min(content.count, limit))
    var position = 0
    while position < content.count {
      let byte = content[position]
      position += 1
      guard byte == UInt8(ascii: "\\") else {
        units.append(byte)
        continue
      }
      let escaped = content[position]
      position += 1
      switch escaped {
      case UInt8(ascii: "b"): units.append(0x08)
      case UInt8(ascii: "f"): units.append(0x0C)
      case UInt8(ascii: "n"): units.append(0x0A)
      case UInt8(ascii: "r"): units.append(0x0D)
      case UInt8(ascii: "t"): units.append(0x09)
      case UInt8(ascii: "u"):
        guard let scalar = scalar(content, &position) else { return nil }
        units.append(contentsOf: String(scalar).utf8)
      default: units.append(escaped)
      }
    }
    return String(validating: units, as: UTF8.self)
  }

  /// The four digits of an escape, or of two (RFC 8259 §7).
  private static func scalar(_ content: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Unicode.Scalar?
  {
    let high = unit(content, &position)
    guard (0xD800..<0xDC00).contains(high) else { return Unicode.Scalar(high) }
    guard position + 6 <= content.count, content[position] == UInt8(ascii: "\\"),
      content[position + 1] == UInt8(ascii: "u")
    else { return nil }
    position += 2
    let low = unit(content, &position)
    guard (0xDC00..<0xE000).contains(low) else { return nil }
    return Unicode.Scalar(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
  }

  private static func unit(_ content: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> UInt32 {
    var value: UInt32 = 0
    for offset in 0..<4 { value = value << 4 | (content[position + offset].hexValue ?? 0) }
    position += 4
    return value
  }

  enum Items {
    case items([JSONValue])
    case tooMany
    /// No array.
    case none
  }

  /// - Parameter limit: of items, of which none is looked at beyond it.
  func items(limit: Int) -> Items {
    guard bytes.first == UInt8(ascii: "[") else { return .none }
    var scanner = JSONScanner(bytes, at: 1)
    var found: [JSONValue] = []
    scanner.skipSpace()
    if scanner.take(UInt8(ascii: "]")) { return .items([]) }
    while found.count < limit, let range = scanner.value() {
      found.append(JSONValue(UnsafeBufferPointer(rebasing: bytes[range])))
      scanner.skipSpace()
      if scanner.take(UInt8(ascii: "]")) { return .items(found) }
      _ = scanner.take(UInt8(ascii: ","))
    }
    return .tooMany
  }

  enum Pairs {
    case pairs([String: String])
    case tooMany
    /// No object, or one of something else than texts.
    case none
  }

  /// An object of texts.
  /// - Parameters:
  ///   - limit: of members.
  ///   - bytes: of all names and texts together.
  func pairs(limit: Int, bytes most: Int) -> Pairs {
    guard bytes.first == UInt8(ascii: "{") else { return .none }
    var scanner = JSONScanner(bytes, at: 1)
    var found: [String: String] = [:]
    var left = most
    scanner.skipSpace()
    if scanner.take(UInt8(ascii: "}")) { return .pairs([:]) }
    while found.count < limit, let name = scanner.value() {
      scanner.skipSpace()
      _ = scanner.take(UInt8(ascii: ":"))
      guard let value = scanner.value() else { return .none }
      let texts = [name, value].map { JSONValue(UnsafeBufferPointer(rebasing: bytes[$0])).text(limit: left) }
      guard texts.allSatisfy({ $0 != .none && $0 != .tooManyMarks }) else { return .none }
      guard case .text(let key) = texts[0], case .text(let text) = texts[1] else { return .tooMany }
      left -= key.utf8.count + text.utf8.count
      guard left >= 0 else { return .tooMany }
      guard found.updateValue(text, forKey: key) == nil else { return .none }
      scanner.skipSpace()
      if scanner.take(UInt8(ascii: "}")) { return .pairs(found) }
      _ = scanner.take(UInt8(ascii: ","))
    }
    return .tooMany
  }

  /// The object's members; nil: it is none.
  var fields: JSONFields? { JSONFields(bytes) }
}
