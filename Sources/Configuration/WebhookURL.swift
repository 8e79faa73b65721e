/// Where a webhook goes: an `http://` or `https://` URL of a receiver, behind a `#` the API key whose secret signs.
///
/// A fragment is never sent (RFC 9110 §4.2.5), so nothing of it reaches the receiver.
public struct WebhookURL: Equatable, Sendable {
  /// Without the fragment.
  public var url: String
  /// nil: the one that there is.
  public var key: String?

  /// - Returns: nil for another scheme, no host, a port that is none, user info, anything but visible ASCII, or more than 1,024 bytes.
  public init?(_ text: String) {
    guard text.utf8.count <= 1_024, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x2C }) else {
      return nil
    }
    let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let address = parts[0]
    guard let scheme = ["http://", "https://"].first(where: { address.lowercased().hasPrefix($0) }) else {
      return nil
    }
    let host = address.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
    guard !host.isEmpty, !host.hasPrefix(":"), !host.contains("@"), Self.isAddressed(host) else { return nil }
    url = String(address)
    key = parts.count > 1 ? String(parts[1]) : nil
    guard key?.isEmpty != true else { return nil }
  }

  /// Whether a port is one, and brackets stand around an address of IPv6.
  private static func isAddressed(_ host: Substring) -> Bool {
    var port = host[...]
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return false }
      port = host[host.index(after: end)...]
      guard port.isEmpty || port.hasPrefix(":") else { return false }
    } else {
      guard !host.contains("["), !host.contains("]") else { return false }
      guard let colon = host.firstIndex(of: ":") else { return true }
      port = host[colon...]
    }
    guard let digits = port.dropFirst().isEmpty ? nil : port.dropFirst() else { return true }
    return digits.utf8.allSatisfy { (0x30...0x39).contains($0) } && (1...65_535).contains(Int(digits) ?? 0)
  }
}
