/// The address of a STUN or TURN server as browsers take it (RFC 7064, RFC 7065).
enum ICEServerURL {
  /// Whether it is `scheme:host`, `:port` perhaps behind it, and for TURN `?transport=udp` or `tcp`.
  static func isWellFormed(_ url: String, schemes: [String]) -> Bool {
    guard url.utf8.count <= 300, let colon = url.firstIndex(of: ":") else { return false }
    let scheme = url[..<colon]
    guard schemes.contains(String(scheme)) else { return false }
    var rest = url[url.index(after: colon)...]
    if let question = rest.firstIndex(of: "?") {
      guard scheme.hasPrefix("turn"),
        ["?transport=udp", "?transport=tcp"].contains(String(rest[question...]))
      else { return false }
      rest = rest[..<question]
    }
    var host = rest
    // A colon inside the brackets of an IPv6 address is no port's.
    if let last = rest.lastIndex(of: ":"), !rest[last...].contains("]") {
      guard let port = UInt16(rest[rest.index(after: last)...]), port > 0 else { return false }
      host = rest[..<last]
    }
    if host.hasPrefix("[") {
      return host.hasSuffix("]") && host.count > 3
        && host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    }
    return !host.isEmpty
      && host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") }
  }
}
