public import KeyLog

/// Names an entry of the log: the hash of its leaf, which a client computes itself.
public struct KeyID: Hashable, Sendable {
  public let hash: MerkleHash

  public init(_ hash: MerkleHash) { self.hash = hash }

  /// - Parameter text: 64 hexadecimal digits, the letters small: each id has one spelling.
  public init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 2 * MerkleHash.size else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.value(digits[place]), let low = Self.value(digits[place + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    guard let hash = MerkleHash(bytes) else { return nil }
    self.hash = hash
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  public var text: String {
    hash.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension KeyID: CustomStringConvertible {
  public var description: String { text }
}
