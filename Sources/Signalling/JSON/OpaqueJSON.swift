/// A JSON value of an app's, which passes through the server unread.
///
/// It is put into what others get, and one of theirs that can't be read would keep them from all that stands beside it. So it is
/// one that every reader takes: UTF-8 of whole characters (RFC 8259 §8), numbers that are doubles (§6), nested no deeper than that
/// what it is put into can be read as well.
public struct OpaqueJSON: Hashable, Sendable {
  /// Objects and arrays within each other.
  public static let maximumDepth = 12
  /// Of a number.
  static let maximumNumberBytes = 32

  public static let null = OpaqueJSON(known: Array("null".utf8))

  /// As it came, without the space around it.
  public let bytes: [UInt8]

  /// - Parameter bytes: what was found to be one before.
  package init(known bytes: [UInt8]) { self.bytes = bytes }

  /// - Returns: nil for anything else than exactly one such value.
  public init?(_ bytes: [UInt8]) {
    let range = bytes.withUnsafeBufferPointer { Self.value(in: $0) }
    guard let range else { return nil }
    let value = Array(bytes[range])
    guard String(validating: value, as: UTF8.self) != nil else { return nil }
    self.bytes = value
  }

  private static func value(in bytes: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
    var scanner = JSONScanner(bytes)
    guard let range = scanner.value() else { return nil }
    scanner.skipSpace()
    guard scanner.isAtEnd, isTaken(UnsafeBufferPointer(rebasing: bytes[range])) else { return nil }
    return range
  }

  /// What is asked beyond grammar, of one sound value.
  private static func isTaken(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var (position, depth) = (0, 0)
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        guard depth <= maximumDepth else { return false }
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        position += 1
      case UInt8(ascii: "\""): guard passString(bytes, &position) else { return false }
      case UInt8(ascii: "-"), 0x30...0x39: guard passNumber(bytes, &position) else { return false }
      default: position += 1
      }
    }
    return true
  }

  /// - Returns: false: half of a surrogate pair stands in it.
  private static func passString(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Bool {
    position += 1
    while bytes[position] != UInt8(ascii: "\"") {
      guard bytes[position] == UInt8(ascii: "\\") else {
        position += 1
        continue
      }
      guard bytes[position + 1] == UInt8(ascii: "u") else {
        position += 2
        continue
      }
      let unit = Self.unit(bytes, at: position + 2)
      position += 6
      switch unit {
      case 0xD800..<0xDC00:
        // The closing quote comes after it, so there are as many bytes as are looked at.
        guard bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u"),
          (0xDC00..<0xE000).contains(Self.unit(bytes, at: position + 2))
        else { return false }
        position += 6
      case 0xDC00..<0xE000: return false
      default: break
      }
    }
    position += 1
    return true
  }

  private static func unit(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 << 4 | (bytes[position + $1].hexValue ?? 0) }
  }

  /// - Returns: false: it is longer than any needs to be, or beyond what a double can be.
  private static func passNumber(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Bool {
    let start = position
    while position < bytes.count, isOfNumber(bytes[position]) { position += 1 }
    let digits = bytes[start..<position]
    guard digits.count <= maximumNumberBytes else { return false }
    // Without an exponent so few digits are always one.
    guard digits.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return true }
    return Double(String(decoding: digits, as: UTF8.self))?.isFinite ?? false
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
      UInt8(ascii: "E"):
      true
    default: false
    }
  }

  /// Takes one member out of an object's text.
  /// - Returns: the text with null in that place, and the value as it stood there, nil where there is none; nil for what is no object.
  package static func take(_ name: String, from object: [UInt8]) -> (rest: [UInt8], value: [UInt8]?)? {
    object.withUnsafeBufferPointer { bytes in
      guard let fields = JSONFields(bytes) else { return nil }
      guard let place = fields.place(of: name) else { return (Array(bytes), nil) }
      let rest = Array(bytes[..<place.lowerBound]) + Array("null".utf8) + Array(bytes[place.upperBound...])
      return (rest, Array(bytes[place]))
    }
  }
}
