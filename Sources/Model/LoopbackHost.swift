/// Hosts of URLs that are this machine, by an address that never leaves it or a name that stands for one (RFC 6761 §6.3).
public enum LoopbackHost {
  /// - Parameter host: as it stands in a URL; IPv6 in brackets.
  public static func contains(_ host: String) -> Bool {
    let host = host.lowercased()
    if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.loopbackPrefix), host.hasPrefix("127.") { return true }
    #endif
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
