/// Base64 (RFC 4648 §4), with padding.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text, count in
      alphabet.withUnsafeBufferPointer { alphabet in
        var index = 0
        while index < bytes.count {
          let left = bytes.count - index
          let word =
            UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
            | (left > 2 ? UInt32(bytes[index + 2]) : 0)
          text[count] = alphabet[Int(word >> 18)]
          text[count + 1] = alphabet[Int(word >> 12 & 63)]
          text[count + 2] = left > 1 ? alphabet[Int(word >> 6 & 63)] : UInt8(ascii: "=")
          text[count + 3] = left > 2 ? alphabet[Int(word & 63)] : UInt8(ascii: "=")
          count += 4
          index += 3
        }
      }
    }
  }

  /// - Returns: nil for foreign characters, a length that is no multiple of four, or padding elsewhere than at the end.
  package static func decode(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { decode($0) }
  }

  private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    guard !text.isEmpty else { return [] }
    let padding =
      text[text.count - 1] != UInt8(ascii: "=") ? 0 : text[text.count - 2] == UInt8(ascii: "=") ? 2 : 1
    var isSound = true
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { bytes, count in
      for start in stride(from: 0, to: text.count, by: 4) {
        let end = start + 4 == text.count ? 4 - padding : 4
        var word: UInt32 = 0
        for offset in 0..<4 {
          var value: UInt32 = 0
          if offset < end {
            guard let digit = digit(text[start + offset]) else {
              isSound = false
              return
            }
            value = digit
          }
          word = word << 6 | value
        }
        for offset in 0..<end - 1 {
          bytes[count] = UInt8(truncatingIfNeeded: word >> UInt32(16 - 8 * offset))
          count += 1
        }
      }
    }
    return isSound ? bytes : nil
  }

  @inline(__always)
  private static func digit(_ character: UInt8) -> UInt32? {
    switch character {
    case 65...90: UInt32(character) - 65
    case 97...122: UInt32(character) - 71
    case 48...57: UInt32(character) + 4
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
