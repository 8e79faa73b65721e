public import Model

extension ICECredentials {
  /// The first character of every user name fragment of ours: how the rest is laid out.
  static let version = UInt8(ascii: "a")
  static let ufragLength = 15
  static let passwordLength = 24

  /// Fresh credentials whose fragment names, in clear, the worker that holds them: a version character, two
  /// hexadecimal digits of the worker, then 12 random characters; the password has 24 (143 bits).
  /// - Parameter homeWorker: 0–255.
  public static func generate(homeWorker: Int, random: inout RandomSource) -> ICECredentials {
    precondition((0...255).contains(homeWorker))
    let digits = String(homeWorker, radix: 16)
    let worker = digits.utf8.count == 1 ? "0" + digits : digits
    return ICECredentials(
      ufrag: "a" + worker + random.alphanumeric(ufragLength - 3),
      password: random.alphanumeric(passwordLength))
  }

  /// The worker that a fragment of ours names.
  /// - Parameter ufrag: as it stands in a datagram; see `STUNPeek`.
  /// - Returns: nil for a fragment that isn't of our making.
  public static func homeWorker(ofUfrag ufrag: UnsafeRawBufferPointer) -> Int? {
    guard ufrag.count == ufragLength, ufrag[0] == version, let high = hexDigit(ufrag[1]),
      let low = hexDigit(ufrag[2])
    else { return nil }
    return high << 4 | low
  }

  private static func hexDigit(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte &- UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte &- UInt8(ascii: "a")) + 10
    default: nil
    }
  }
}
