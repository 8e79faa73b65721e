extension SocketAddress: CustomStringConvertible {
  /// `192.0.2.1:7882` or `[2001:db8::1]:7882`.
  public var description: String { isIPv4 ? "\(host):\(port)" : "[\(host)]:\(port)" }

  /// The address without port, as SDP candidates carry it (RFC 5952 for IPv6).
  public var host: String {
    guard !isIPv4 else {
      let a = ipv4
      return "\(a >> 24).\(a >> 16 & 255).\(a >> 8 & 255).\(a & 255)"
    }
    let groups = (0..<8).map { index in
      UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - 16 * (index % 4)))
    }
    // RFC 5952 §4.2: the longest run of at least two zero groups is left out, the first of equals.
    var best = 0..<0
    var start = 0
    while start < 8 {
      var end = start
      while end < 8 && groups[end] == 0 { end += 1 }
      if end - start >= 2 && end - start > best.count { best = start..<end }
      start = max(end, start + 1)
    }
    let hex = { (range: Range<Int>) in
      range.map { String(groups[$0], radix: 16) }.joined(separator: ":")
    }
    return best.isEmpty ? hex(0..<8) : hex(0..<best.lowerBound) + "::" + hex(best.upperBound..<8)
  }

  /// Reads a literal IPv4 or IPv6 address; host names and zone ids are not taken.
  /// - Returns: nil for anything that is not exactly one address.
  public init?(host: some StringProtocol, port: UInt16) {
    if host.contains(":") {
      guard let (high, low) = Self.parseIPv6(host) else { return nil }
      self.init(high: high, low: low, port: port)
    } else {
      guard let address = Self.parseIPv4(host) else { return nil }
      self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(address), port: port)
    }
  }

  private static func parseIPv4(_ text: some StringProtocol) -> UInt32? {
    let parts = text.split(separator: ".", maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var address: UInt32 = 0
    for part in parts {
      guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (48...57).contains($0) }),
        let byte = UInt8(part), part.utf8.count == 1 || part.utf8.first != 48
      else { return nil }
      address = address << 8 | UInt32(byte)
    }
    return address
  }

  private static func parseIPv6(_ text: some StringProtocol) -> (high: UInt64, low: UInt64)? {
    guard text.utf8.count <= 45 else { return nil }
    let halves = String(text).split2(separator: "::")
    guard halves.count <= 2 else { return nil }
    var sides: [[UInt16]] = []
    for (index, half) in halves.enumerated() {
      guard let groups = parseGroups(half, mayEndInIPv4: index == halves.count - 1) else { return nil }
      sides.append(groups)
    }
    let given = sides.reduce(0) { $0 + $1.count }
    guard halves.count == 2 ? given <= 7 : given == 8 else { return nil }
    let zeros = [UInt16](repeating: 0, count: 8 - given)
    let groups = sides[0] + (halves.count == 2 ? zeros + sides[1] : [])
    let number = { (slice: ArraySlice<UInt16>) in slice.reduce(UInt64(0)) { $0 << 16 | UInt64($1) } }
    return (number(groups[0..<4]), number(groups[4..<8]))
  }

  private static func parseGroups(_ text: Substring, mayEndInIPv4: Bool) -> [UInt16]? {
    if text.isEmpty { return [] }
    var groups: [UInt16] = []
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if mayEndInIPv4, index == parts.count - 1, part.contains(".") {
        guard let address = parseIPv4(part) else { return nil }
        groups += [UInt16(address >> 16), UInt16(address & 0xFFFF)]
      } else {
        guard (1...4).contains(part.utf8.count), let group = UInt16(part, radix: 16),
          part.utf8.first != 43
        else { return nil }
        groups.append(group)
      }
    }
    return groups
  }
}

extension String {
  /// The parts between occurrences of a two-character separator.
  fileprivate func split2(separator: String) -> [Substring] {
    var parts: [Substring] = []
    var rest = self[...]
    while let range = rest.firstRange(of: separator) {
      parts.append(rest[..<range.lowerBound])
      rest = rest[range.upperBound...]
    }
    return parts + [rest]
  }
}
