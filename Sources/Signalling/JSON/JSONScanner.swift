/// Walks over JSON (RFC 8259) without building anything: says where a value ends, or that it is none.
///
/// Each byte is looked at once, nesting is bounded, and nothing is allocated, so that a message costs its bytes and no
/// more, whatever is in it.
struct JSONScanner {
  /// Objects and arrays within each other.
  static let maximumDepth = 16

  let bytes: UnsafeBufferPointer<UInt8>
  private(set) var position: Int

  init(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int = 0) {
    self.bytes = bytes
    self.position = position
  }

  var current: UInt8? { position < bytes.count ? bytes[position] : nil }
  var isAtEnd: Bool { position >= bytes.count }

  mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return
      }
    }
  }

  /// - Returns: false, and nothing is passed, where another byte stands.
  mutating func take(_ byte: UInt8) -> Bool {
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  /// Passes one value of whatever type, and the space before it.
  /// - Returns: where it stands; nil: there is none, or it is nested too deeply.
  mutating func value() -> Range<Int>? {
    skipSpace()
    let start = position
    // What is open: a bit each, 1 for an object.
    var kinds: UInt32 = 0
    var depth = 0
    while true {
      skipSpace()
      guard let byte = current else { return nil }
      var isClosed = true
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard depth < Self.maximumDepth else { return nil }
        position += 1
        depth += 1
        kinds = kinds << 1 | (byte == UInt8(ascii: "{") ? 1 : 0)
        skipSpace()
        if take(kinds & 1 == 1 ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
          kinds >>= 1
          depth -= 1
        } else {
          isClosed = false
          if kinds & 1 == 1, !name() { return nil }
        }
      case UInt8(ascii: "\""): guard string() else { return nil }
      default: guard scalar() else { return nil }
      }
      guard isClosed else { continue }
      // After a value: what it stands in goes on or ends.
      while depth > 0 {
        skipSpace()
        if take(UInt8(ascii: ",")) {
          skipSpace()
          if kinds & 1 == 1, !name() { return nil }
          break
        }
        guard take(kinds & 1 == 1 ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return nil }
        kinds >>= 1
        depth -= 1
      }
      if depth == 0 { return start..<position }
    }
  }

  /// A member's name and its colon.
  private mutating func name() -> Bool {
    guard current == UInt8(ascii: "\""), string() else { return false }
    skipSpace()
    return take(UInt8(ascii: ":"))
  }

  /// Passes a string with its quotes.
  mutating func string() -> Bool {
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return true
      case UInt8(ascii: "\\"): guard escape() else { return false }
      case ..<0x20: return false
      default: break
      }
    }
    return false
  }

  private mutating func escape() -> Bool {
    guard let byte = current else { return false }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return true
    case UInt8(ascii: "u"):
      guard position + 4 <= bytes.count else { return false }
      for offset in 0..<4 where bytes[position + offset].hexValue == nil { return false }
      position += 4
      return true
    default: return false
    }
  }

  private mutating func scalar() -> Bool {
    switch current {
    case UInt8(ascii: "t"): literal("true")
    case UInt8(ascii: "f"): literal("false")
    case UInt8(ascii: "n"): literal("null")
    default: number()
    }
  }

  private mutating func literal(_ text: StaticString) -> Bool {
    let end = position + text.utf8CodeUnitCount
    guard end <= bytes.count else { return false }
    for offset in 0..<text.utf8CodeUnitCount where bytes[position + offset] != text.utf8Start[offset] {
      return false
    }
    position = end
    return true
  }

  private mutating func number() -> Bool {
    _ = take(UInt8(ascii: "-"))
    let first = position
    guard digits() > 0, bytes[first] != UInt8(ascii: "0") || position == first + 1 else { return false }
    if take(UInt8(ascii: ".")) { guard digits() > 0 else { return false } }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
      guard digits() > 0 else { return false }
    }
    return true
  }

  private mutating func digits() -> Int {
    let start = position
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
    return position - start
  }
}

extension UInt8 {
  var hexValue: UInt32? {
    switch self {
    case 0x30...0x39: UInt32(self) - 0x30
    case 0x41...0x46: UInt32(self) - 55
    case 0x61...0x66: UInt32(self) - 87
    default: nil
    }
  }
}
