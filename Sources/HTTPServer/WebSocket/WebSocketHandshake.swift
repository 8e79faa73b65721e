internal import Crypto

/// The server's side of a WebSocket handshake (RFC 6455 §4.2).
enum WebSocketHandshake {
  enum Offer: Equatable, Sendable {
    /// An ordinary request; an upgrade to anything else is ignored, as RFC 9110 §7.8 permits.
    case none
    /// - Parameter key: answered by `accept(key:)`.
    case webSocket(key: String)
    case malformed
    /// Any version but 13 (RFC 6455 §4.2.2).
    case otherVersion
  }

  /// - Parameter hasBody: whether the request announces one.
  static func offer(
    method: HTTPMethod, headers: HTTPHeaders, isHTTP10: Bool, hasBody: Bool
  ) -> Offer {
    guard headers.list("connection").contains("upgrade"), headers.list("upgrade").contains("websocket") else {
      return .none
    }
    let keys = headers.all("sec-websocket-key")
    guard method == .get, !isHTTP10, !hasBody, keys.count == 1, keys[0].utf8.count == 24,
      keys[0].hasSuffix("==")
    else { return .malformed }
    guard headers.all("sec-websocket-version") == ["13"] else { return .otherVersion }
    return .webSocket(key: keys[0])
  }

  /// The value of Sec-WebSocket-Accept (RFC 6455 §4.2.2).
  static func accept(key: String) -> String {
    Base64.encode(SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
  }
}
