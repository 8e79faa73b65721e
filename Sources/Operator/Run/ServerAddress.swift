internal import HTTPClient

#if PLANTED_DEFECTS
  internal import Model
#endif

/// The address that requests go to, from what people give.
enum ServerAddress {
  /// - Parameters:
  ///   - text: also `ws:` and `wss:`, as roost-load takes it.
  ///   - isInsecure: whether a token may go over `http:` to another machine.
  static func read(_ text: String, isInsecure: Bool) throws(OperatorError) -> HTTPURL {
    var address = text
    for (scheme, meant) in [("ws://", "http://"), ("wss://", "https://")]
    where address.lowercased().hasPrefix(scheme) { address = meant + address.dropFirst(scheme.count) }
    guard let url = HTTPURL(address), url.query.isEmpty else {
      throw .address(
        "\(text): not the address of a server, such as https://relay.example or http://localhost:7880")
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.tokenInClear) { return url }
    #endif
    guard url.isSecure || url.isLoopback || isInsecure else {
      throw .address(
        "\(text): over http, others on the way can read the token; use https, or --insecure where no one can")
    }
    return url
  }
}
