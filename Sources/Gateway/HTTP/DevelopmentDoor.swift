internal import HTTPServer
internal import Model

/// With tokens for the asking, a foreign page in a browser nearby must not reach the server, neither across origins
/// nor by a name that it has pointed here (DNS rebinding, which an IP address in the address bar rules out).
struct DevelopmentDoor {
  let audience: GatewayConfiguration.Development

  /// - Returns: the refusal, or nil for a request that comes from the server's own pages or from programs.
  func refusal(of request: HTTPRequest) -> HTTPResponse? {
    guard let host = request.headers["host"], isServed(authority: host) else {
      let who = audience == .thisMachine ? "this machine's own names are" : "this machine's addresses are"
      return Problem.response(421, "host", "With --dev, only \(who) served")
    }
    guard request.headers.all("origin").allSatisfy({ isServed(origin: $0, host: host) }) else {
      return Problem.origin("with --dev, only pages from this machine are")
    }
    return nil
  }

  private func isServed(origin: String, host: String) -> Bool {
    let origin = origin.lowercased()
    for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
      let authority = String(origin.dropFirst(scheme.count))
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.developmentOrigin), authority.hasPrefix(host.lowercased()) { return true }
      #endif
      return Self.isLocal(authority: authority) || authority == host.lowercased()
    }
    return false
  }

  private func isServed(authority: String) -> Bool {
    if Self.isLocal(authority: authority) { return true }
    guard case .network(let names) = audience, let host = Self.host(of: authority) else { return false }
    return SocketAddress(host: host, port: 0) != nil || names.contains { $0.lowercased() == host }
  }

  static func isLocal(authority: String) -> Bool {
    host(of: authority).map { ["localhost", "127.0.0.1", "::1"].contains($0) } ?? false
  }

  /// - Returns: in lower case and without brackets; nil where there is no such authority.
  private static func host(of authority: String) -> String? {
    let text = authority.lowercased()
    let end = text.hasPrefix("[") ? text.firstIndex(of: "]") : text.firstIndex(of: ":") ?? text.endIndex
    guard let end else { return nil }
    let isBracketed = text.hasPrefix("[")
    let host = isBracketed ? text[text.index(after: text.startIndex)..<end] : text[..<end]
    let rest = isBracketed ? text[text.index(after: end)...] : text[end...]
    guard !host.isEmpty, rest.isEmpty || rest.first == ":" && UInt16(rest.dropFirst()) != nil,
      isBracketed == host.contains(":")
    else { return nil }
    return String(host)
  }
}
