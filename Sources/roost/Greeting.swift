internal import Model

/// What is printed once the server can be reached.
enum Greeting {
  static func text(addresses: [SocketAddress], secured: Secured, isNetwork: Bool) -> String {
    let scheme = secured.context == nil ? "http" : "https"
    var lines = ["Roost is ready. The page:"]
    for address in addresses {
      // What listens on every address is reached by each of them.
      let shown =
        address.isUnspecified
        ? LocalNetwork.addresses(includesLoopback: !isNetwork).filter { $0.isIPv4 == address.isIPv4 }
        : [address]
      lines += shown.map { "  \(scheme)://\($0.with(port: address.port))/" }
    }
    if let fingerprint = secured.ownFingerprint {
      lines += [
        "",
        "Your browser will warn that the connection is not private, because this server made its own",
        "certificate. Choose Advanced, then proceed. To be sure that you reach this server, first compare the",
        "certificate's SHA-256 fingerprint:",
        "  " + fingerprint,
      ]
    }
    return lines.joined(separator: "\n")
  }
}
