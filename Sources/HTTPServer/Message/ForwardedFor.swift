package import Model

/// Who asks, where proxies stand between.
///
/// Each proxy adds the address that it was asked from at the end of `X-Forwarded-For`, and what a client wrote there
/// itself stays in front. So the list is read from its end, and what the first address that is no trusted proxy's
/// claims is not read at all. `Forwarded` (RFC 7239) is not read: a proxy that only adds to the other
/// field would pass on whatever a client wrote into it.
package enum ForwardedFor {
  /// Addresses that are looked at; a longer chain of proxies is not believed.
  static let limit = 16

  /// - Parameters:
  ///   - remote: the other end of the TCP connection.
  ///   - headers: of its request.
  ///   - proxies: that are believed.
  /// - Returns: the client's address, with port 0 where a proxy named it; the last proxy's own where what it named can't be read.
  package static func client(
    of remote: SocketAddress, _ headers: HTTPHeaders, trusting proxies: [AddressPrefix]
  ) -> SocketAddress {
    guard !proxies.isEmpty else { return remote }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.leftmostAddress), let named = headers.list("x-forwarded-for").first {
        return address(named) ?? remote
      }
    #endif
    var client = remote
    for text in headers.list("x-forwarded-for").filter({ !$0.isEmpty }).suffix(limit).reversed() {
      guard proxies.contains(where: { $0.contains(client) }), let named = address(text) else { break }
      client = named
    }
    return client
  }

  /// An address alone, or with the port that some proxies add: `192.0.2.1:80`, `[2001:db8::1]:80`.
  private static func address(_ text: String) -> SocketAddress? {
    var host = text[...]
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return nil }
      host = host[host.index(after: host.startIndex)..<end]
    } else if host.contains("."), let colon = host.lastIndex(of: ":"), host.firstIndex(of: ":") == colon {
      host = host[..<colon]
    }
    return SocketAddress(host: host, port: 0)
  }
}
