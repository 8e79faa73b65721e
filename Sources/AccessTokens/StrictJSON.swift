internal import Model

/// JSON as RFC 8259 has it and no looser: a repeated member, which two readers would take differently, is
/// refused, and so are nesting and runs of combining marks that no one needs.
package indirect enum StrictJSON: Equatable, Sendable {
  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  case array([StrictJSON])
  case object([String: StrictJSON])

  static let maximumDepth = 16
  package static let maximumMembers = 1024

  /// - Returns: nil for anything that is not exactly one value.
  /// - Parameter maximumMembers: of one object or array.
  package static func parse(_ bytes: [UInt8], maximumMembers: Int = Self.maximumMembers) -> StrictJSON? {
    try? read(bytes, maximumMembers: maximumMembers, maximumValues: .max)
  }

  /// Why a text isn't read.
  package enum Refusal: Error, Equatable {
    /// It is not exactly one value.
    case malformed
    /// There is more in it than may be.
    case tooMany
  }

  /// - Parameters:
  ///   - maximumMembers: of one object or array.
  ///   - maximumValues: of all together, whatever they are in. No more are ever built.
  package static func read(
    _ bytes: [UInt8], maximumMembers: Int, maximumValues: Int
  ) throws(Refusal) -> StrictJSON {
    var reader = Reader(bytes: bytes, maximumMembers: maximumMembers, valuesLeft: maximumValues)
    guard let value = reader.value(depth: 0) else {
      throw reader.isTooMuch ? Refusal.tooMany : Refusal.malformed
    }
    reader.skipSpace()
    guard reader.position == bytes.count else { throw Refusal.malformed }
    return value
  }

  /// Compact, members in the order of their names.
  package var text: String {
    switch self {
    case .null: "null"
    case .boolean(let value): value ? "true" : "false"
    case .number(let value):
      value == value.rounded() && value.magnitude < 1e15 ? String(Int(value)) : String(value)
    case .string(let text): Self.quoted(text)
    case .array(let items): "[" + items.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }.map { Self.quoted($0.key) + ":" + $0.value.text }
        .joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      // The shortest there is, so that no text grows by being read and written.
      case "\u{8}": result += "\\b"
      case "\t": result += "\\t"
      case "\n": result += "\\n"
      case "\u{C}": result += "\\f"
      case "\r": result += "\\r"
      case _ where scalar.value < 32:
        let hex = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

private struct Reader {
  let bytes: [UInt8]
  let maximumMembers: Int
  var valuesLeft: Int
  var position = 0
  /// It has ended where another value would be one too many.
  var isTooMuch = false

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func skipSpace() {
    while let byte = current, byte == 32 || byte == 9 || byte == 10 || byte == 13 { position += 1 }
  }

  private mutating func take(_ text: StaticString) -> Bool {
    let end = position + text.utf8CodeUnitCount
    guard end <= bytes.count,
      text.withUTF8Buffer({ $0.elementsEqual(bytes[position..<end]) })
    else { return false }
    position = end
    return true
  }

  mutating func value(depth: Int) -> StrictJSON? {
    guard depth <= StrictJSON.maximumDepth else { return nil }
    guard valuesLeft > 0 else { return tooMuch() }
    valuesLeft -= 1
    skipSpace()
    switch current {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return take("true") ? .boolean(true) : nil
    case UInt8(ascii: "f"): return take("false") ? .boolean(false) : nil
    case UInt8(ascii: "n"): return take("null") ? .null : nil
    default: return number()
    }
  }

  private mutating func object(depth: Int) -> StrictJSON? {
    position += 1
    var members: [String: StrictJSON] = [:]
    skipSpace()
    if take("}") { return .object(members) }
    while members.count < maximumMembers {
      skipSpace()
      guard current == UInt8(ascii: "\""), let name = string() else { return nil }
      skipSpace()
      guard take(":"), let value = value(depth: depth + 1),
        members.updateValue(value, forKey: name) == nil
      else { return nil }
      skipSpace()
      if take("}") { return .object(members) }
      guard take(",") else { return nil }
    }
    return tooMuch()
  }

  private mutating func array(depth: Int) -> StrictJSON? {
    position += 1
    var items: [StrictJSON] = []
    skipSpace()
    if take("]") { return .array(items) }
    while items.count < maximumMembers {
      guard let value = value(depth: depth + 1) else { return nil }
      items.append(value)
      skipSpace()
      if take("]") { return .array(items) }
      guard take(",") else { return nil }
    }
    return tooMuch()
  }

  private mutating func tooMuch() -> StrictJSON? {
    isTooMuch = true
    return nil
  }

  private mutating func number() -> StrictJSON? {
    let start = position
    _ = take("-")
    let whole = digits()
    guard whole > 0, whole == 1 || bytes[position - whole] != UInt8(ascii: "0") else { return nil }
    if take(".") { guard digits() > 0 else { return nil } }
    if take("e") || take("E") {
      _ = take("+") || take("-")
      guard digits() > 0 else { return nil }
    }
    guard position - start <= 32,
      let value = Double(String(decoding: bytes[start..<position], as: UTF8.self)), value.isFinite
    else { return nil }
    return .number(value)
  }

  private mutating func digits() -> Int {
    let start = position
    while let byte = current, (48...57).contains(byte) { position += 1 }
    return position - start
  }

  private mutating func string() -> String? {
    position += 1
    var units: [UInt8] = []
    while let byte = current {
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        return String(validating: units, as: UTF8.self).flatMap { CombiningMarks.areFew(in: $0) ? $0 : nil }
      case UInt8(ascii: "\\"):
        guard let scalar = escape() else { return nil }
        units.append(contentsOf: String(scalar).utf8)
      case ..<32: return nil
      default: units.append(byte)
      }
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    guard let byte = current else { return nil }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      guard let unit = hexUnit() else { return nil }
      guard (0xD800..<0xDC00).contains(unit) else { return Unicode.Scalar(unit) }
      // The other half of a pair must follow (RFC 8259 §7).
      guard take("\\u"), let low = hexUnit(), (0xDC00..<0xE000).contains(low) else { return nil }
      return Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
    default: return nil
    }
  }

  private mutating func hexUnit() -> UInt32? {
    guard position + 4 <= bytes.count else { return nil }
    var value: UInt32 = 0
    for byte in bytes[position..<position + 4] {
      switch byte {
      case 48...57: value = value << 4 | UInt32(byte - 48)
      case 65...70: value = value << 4 | UInt32(byte - 55)
      case 97...102: value = value << 4 | UInt32(byte - 87)
      default: return nil
      }
    }
    position += 4
    return value
  }
}
