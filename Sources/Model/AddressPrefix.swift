/// Addresses that begin with the same bits (RFC 4632, RFC 4291 §2.3), such as `10.0.0.0/8`.
public struct AddressPrefix: Hashable, Sendable {
  /// Bits beyond the prefix are zero; the port is 0.
  public let address: SocketAddress
  /// 0–128 in the mapped form, which counts 96 for an IPv4 address's own.
  private let bits: Int

  /// Reads `192.0.2.0/24`, `2001:db8::/32`, or one address.
  /// - Returns: nil for anything else, also where bits beyond the prefix are set: what was meant can't be known.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = SocketAddress(host: parts[0], port: 0) else { return nil }
    let width = address.isIPv4 ? 32 : 128
    var bits = width
    if parts.count == 2 {
      guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
        let length = Int(parts[1]), length <= width, parts[1].utf8.count == 1 || parts[1].utf8.first != 48
      else { return nil }
      bits = length
    }
    self.bits = 128 - width + bits
    self.address = address
    guard Self.masked(address, self.bits) == address else { return nil }
  }

  /// Whether the address, whatever its port, is one of them.
  public func contains(_ other: SocketAddress) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.otherFamily) { return Self.masked(other, bits) == address }
    #endif
    return other.isIPv4 == address.isIPv4 && Self.masked(other, bits) == address
  }

  private static func masked(_ address: SocketAddress, _ bits: Int) -> SocketAddress {
    // A shift by as many bits as there are gives 0.
    SocketAddress(
      high: address.high & ~(UInt64.max >> UInt64(min(bits, 64))),
      low: address.low & ~(UInt64.max >> UInt64(max(bits - 64, 0))), port: 0)
  }
}

extension AddressPrefix: CustomStringConvertible {
  /// `10.0.0.0/8`; a single address without its length.
  public var description: String {
    let width = address.isIPv4 ? 32 : 128
    let length = bits - (128 - width)
    return length == width ? address.host : "\(address.host)/\(length)"
  }
}
