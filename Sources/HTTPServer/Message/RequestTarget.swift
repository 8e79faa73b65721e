/// Path and query as on the wire. Origin form, absolute form (whose authority is set aside) or the asterisk of
/// OPTIONS (RFC 9112 §3.2).
package struct RequestTarget: Equatable, Sendable {
  package var path: String
  /// Without the `?`.
  package var query: String

  /// - Returns: nil for what is none of the three, or holds a byte that a target can't have.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else { return nil }
    var text = String(decoding: bytes, as: UTF8.self)[...]
    if text == "*" {
      (path, query) = ("*", "")
      return
    }
    if !text.hasPrefix("/") {
      let scheme = text.prefix(8).lowercased()
      guard scheme.hasPrefix("http://") || scheme == "https://" else { return nil }
      text = text.dropFirst(scheme.hasPrefix("https") ? 8 : 7)
      guard let slash = text.firstIndex(of: "/") else { return nil }
      text = text[slash...]
    }
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = String(parts[0])
    query = parts.count == 2 ? String(parts[1]) : ""
  }
}
