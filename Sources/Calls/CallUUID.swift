/// The id of a call, a ring or a session: a UUID (RFC 9562 §4), in lower case.
public struct CallUUID: Hashable, Sendable, Comparable, Codable {
  public let text: String

  /// - Returns: nil of what is no UUID in its text form; letters of either case are the same.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 36 else { return nil }
    for (place, byte) in bytes.enumerated() {
      switch place {
      case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return nil }
      default:
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
          UInt8(ascii: "A")...UInt8(ascii: "F"):
          break
        default: return nil
        }
      }
    }
    self.text = text.lowercased()
  }

  /// One that is drawn: version 4.
  /// - Parameter random: 128 bits.
  public init(random: (high: UInt64, low: UInt64)) {
    let high = random.high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    let low = random.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    let digits = Self.hex(high) + Self.hex(low)
    var text = ""
    for (place, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(place) { text += "-" }
      text.append(digit)
    }
    self.text = text
  }

  private init(known text: String) { self.text = text }

  /// All digits 0, which is no call's.
  static let zero = CallUUID(known: "00000000-0000-0000-0000-000000000000")

  private static func hex(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  public static func < (a: Self, b: Self) -> Bool { a.text < b.text }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = CallUUID(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no UUID")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
