internal import Crypto
internal import Model

/// The name of a capture file: `flight-`, its time first, so that names stand in the order of time, then whose it was.
///
/// Nothing in it is as a stranger said it. Room and identity are digests, by which files of one room and of one identity are known as
/// such, also by a later process; names that differ have the same with a chance of 2⁻⁶⁴.
struct FlightName {
  static let prefix = "flight-"
  static let suffix = ".pcapng"
  /// Hexadecimal digits of a digest.
  private static let digits = 16

  let text: String
  /// Digests; empty in names of other forms, which are together one room's.
  let room: String
  let identity: String

  init(at time: WallTime, room: String, identity: String, _ name: String, reason: String) {
    (self.room, self.identity) = (Self.digest(of: room), Self.digest(of: identity))
    text =
      [Self.prefix + Self.plain(time.text), self.room, self.identity, Self.plain(name), Self.plain(reason)]
      .joined(separator: "-") + Self.suffix
  }

  /// - Parameter file: what stands in the directory; nil: not of ours.
  init?(file text: String) {
    guard text.hasPrefix(Self.prefix), text.hasSuffix(Self.suffix) else { return nil }
    self.text = text
    // The time has five parts.
    let parts = text.dropFirst(Self.prefix.count).split(separator: "-", omittingEmptySubsequences: false)
    let digests = parts.dropFirst(5).prefix(2).filter { part in
      part.utf8.count == Self.digits && part.utf8.allSatisfy { Self.hexadecimal.contains($0) }
    }
    (room, identity) = digests.count == 2 ? (String(parts[5]), String(parts[6])) : ("", "")
  }

  private static let hexadecimal = Array("0123456789abcdef".utf8)

  private static func digest(of name: String) -> String {
    let code = HMAC.code(.sha256, key: Array("flight".utf8), message: Array(name.utf8))
    let text = code.prefix(digits / 2).flatMap { [hexadecimal[Int($0 >> 4)], hexadecimal[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  private static func plain(_ text: String) -> String {
    String(
      text.unicodeScalars.prefix(64).map { scalar in
        switch scalar {
        case "0"..."9", "A"..."Z", "a"..."z", "_", ".": Character(scalar)
        default: "-"
        }
      })
  }
}
