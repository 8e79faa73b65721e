/// Where a webhook goes: an `http://` or `https://` URL of a receiver, behind a `#` the API key whose secret signs.
///
/// A fragment is never sent (RFC 9110 §4.2.5), so nothing of it reaches the receiver.
public struct WebhookURL: Equatable, Sendable {
  /// Without the fragment.
  public var url: String
  /// nil: the one that there is.
  public var key: String?

  /// - Returns: nil for another scheme, no host, user info, anything but visible ASCII, or more than 1,024 bytes.
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
    guard !host.isEmpty, !host.hasPrefix(":"), !host.contains("@") else { return nil }
    url = String(address)
    key = parts.count > 1 ? String(parts[1]) : nil
    guard key?.isEmpty != true else { return nil }
  }
}
