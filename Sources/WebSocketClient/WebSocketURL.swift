#if PLANTED_DEFECTS
  internal import Model
#endif

/// Where a WebSocket is: `ws://host[:port]/path` or `wss://…`; `http` and `https` are taken as the same.
public struct WebSocketURL: Equatable, Sendable {
  public var isSecure: Bool
  /// As in the text: a name, or an address, IPv6 in brackets.
  public var host: String
  public var port: UInt16
  /// With the query; begins with a slash.
  public var target: String

  /// - Returns: nil for another scheme, no host, a port that is none, user info, or anything but visible ASCII.
  public init?(_ text: String) {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let end = text.range(of: "://") else {
      return nil
    }
    switch text[..<end.lowerBound].lowercased() {
    case "ws", "http": isSecure = false
    case "wss", "https": isSecure = true
    default: return nil
    }
    let rest = text[end.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let path = rest[authority.endIndex...].prefix { $0 != "#" }
    target = path.hasPrefix("/") ? String(path) : "/" + path
    guard !authority.contains("@") else { return nil }
    // A colon inside of brackets belongs to the address.
    let bracket = authority.lastIndex(of: "]")
    guard authority.first != "[" || bracket != nil else { return nil }
    let tail = bracket.map { authority[authority.index(after: $0)...] } ?? authority[...]
    if let colon = tail.lastIndex(of: ":") {
      guard let number = UInt16(tail[tail.index(after: colon)...]), number > 0 else { return nil }
      port = number
      host = String(authority[..<colon])
    } else {
      port = isSecure ? 443 : 80
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.securePort) { port = 80 }
      #endif
      host = String(authority)
    }
    guard !host.isEmpty, authority.first == "[" || !host.contains(":") else { return nil }
  }

  /// What libcurl connects to.
  var origin: String { "\(isSecure ? "https" : "http")://\(host):\(port)/" }
  /// As the `Host` header names it.
  var hostHeader: String { port == (isSecure ? 443 : 80) ? host : "\(host):\(port)" }
}

extension String {
  /// Without Foundation.
  fileprivate func range(of text: String) -> Range<String.Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
