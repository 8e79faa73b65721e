#if PLANTED_DEFECTS
  internal import Model
#endif

/// Variables by which container platforms name other services to a process (Docker's links, which Kubernetes sets for
/// every service of the namespace).
enum ServiceLink {
  /// As in `tcp://10.0.0.1:7880`, which no option of ours takes.
  static func isAddress(_ value: String) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.serviceOverUdp) { return value.hasPrefix("tcp://") }
    #endif
    return value.hasPrefix("tcp://") || value.hasPrefix("udp://")
  }

  /// As in `ROOST_SERVICE_HOST`, `ROOST_MEDIA_SERVICE_PORT_RTP` and `ROOST_PORT_7880_TCP_ADDR`.
  static func isName(_ name: String) -> Bool {
    if name.hasSuffix("_SERVICE_HOST") || name.hasSuffix("_SERVICE_PORT") || name.contains("_SERVICE_PORT_") {
      return true
    }
    guard let port = name.range(of: "_PORT_", from: "ROOST".count) else { return false }
    let rest = name[port...].split(separator: "_")
    return rest.count >= 2 && rest[0].allSatisfy(\.isNumber) && (rest[1] == "TCP" || rest[1] == "UDP")
  }
}

extension String {
  /// Where the text behind the first occurrence begins.
  fileprivate func range(of text: String, from offset: Int) -> String.Index? {
    var start = index(startIndex, offsetBy: offset, limitedBy: endIndex) ?? endIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
