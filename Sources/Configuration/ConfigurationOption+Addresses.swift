internal import Model

extension ConfigurationOption {
  /// Addresses of this host to listen on, of either family, 0.0.0.0 and :: among them.
  static func addresses(
    _ name: String, _ path: Path<[SocketAddress]>, atLeast minimum: Int, _ explanation: String,
    _ change: Change = .atStart
  ) -> Self {
    let set: @Sendable (inout Configuration, [String]) -> Bool = { configuration, texts in
      guard let addresses = read(texts, { _ in true }), addresses.count >= minimum else { return false }
      configuration[keyPath: path] = addresses
      return true
    }
    return Self(
      name: name, explanation: explanation,
      expectation: "a list of \(minimum) to \(mostAddresses) IP addresses", change: change, isSecret: false,
      setTree: { configuration, tree in tree.strings.map { set(&configuration, $0) } ?? false },
      setText: { set(&$0, items($1)) },
      render: { rendered($0[keyPath: path]) })
  }

  /// Addresses of one family that clients are to send to, those of the interfaces, or none.
  static func advertised(
    _ name: String, _ path: Path<Configuration.Media.Advertised>, isIPv4: Bool, _ explanation: String,
    _ change: Change = .atStart
  ) -> Self {
    let set: @Sendable (inout Configuration, [String]) -> Bool = { configuration, texts in
      // An address that is no one place (unspecified, multicast, broadcast) can't be sent to.
      guard let addresses = read(texts, { $0.isIPv4 == isIPv4 && $0.isOnePlace }) else { return false }
      configuration[keyPath: path] = addresses.isEmpty ? .interfaces : .addresses(addresses)
      return true
    }
    let none: @Sendable (inout Configuration) -> Bool = {
      $0[keyPath: path] = .none
      return true
    }
    return Self(
      name: name, explanation: explanation,
      expectation:
        "a list of up to \(mostAddresses) \(isIPv4 ? "IPv4" : "IPv6") addresses that clients can reach, or \"none\"",
      change: change, isSecret: false,
      setTree: { configuration, tree in
        if case .string("none") = tree { return none(&configuration) }
        return tree.strings.map { set(&configuration, $0) } ?? false
      },
      setText: { $1 == "none" ? none(&$0) : set(&$0, items($1)) },
      render: {
        switch $0[keyPath: path] {
        case .interfaces: rendered([])
        case .addresses(let addresses): rendered(addresses)
        case .none: JSONTree.quoted("none")
        }
      })
  }

  private static let mostAddresses = 16

  private static func items(_ text: String) -> [String] {
    text.isEmpty ? [] : text.split(separator: ",").map { String($0.trimmed) }
  }

  /// - Returns: nil where one can't be read, isn't accepted or comes twice, or where there are too many.
  private static func read(
    _ texts: [String], _ isAccepted: (SocketAddress) -> Bool
  ) -> [SocketAddress]? {
    guard texts.count <= mostAddresses else { return nil }
    var addresses: [SocketAddress] = []
    for text in texts {
      guard let address = SocketAddress(host: text, port: 0), !addresses.contains(address),
        isAccepted(address)
      else { return nil }
      addresses.append(address)
    }
    return addresses
  }

  private static func rendered(_ addresses: [SocketAddress]) -> String {
    "[" + addresses.map { JSONTree.quoted($0.host) }.joined(separator: ", ") + "]"
  }
}

extension SocketAddress {
  fileprivate var isOnePlace: Bool { !isUnspecified && (isIPv4 ? ipv4 >> 28 < 14 : high >> 56 != 0xFF) }
}
