/// What the server asks, each request in a task of its own: a slow answer holds up its own connection only.
public protocol HTTPHandler: Sendable {
  /// The task is cancelled when the client goes before its answer is there.
  func respond(to request: HTTPRequest) async -> HTTPResponse
  /// Whether a request becomes a WebSocket; asked before anything of the upgrade is written.
  func upgrade(_ request: HTTPRequest) async -> UpgradeDecision
}

public enum UpgradeDecision: Sendable {
  /// - Parameters:
  ///   - subprotocol: one that the client offered; the handshake names none where nil.
  ///   - greets: nothing is known of the client yet: until `WebSocket.admit()` its messages are bounded by
  ///     `HTTPLimits.greetingBytes`.
  ///   - serve: lives as long as the connection: when it returns, the connection closes with 1000; when
  ///     the connection goes, its `messages` end.
  case accept(
    subprotocol: String?, greets: Bool = false, serve: @Sendable (WebSocket) async -> Void)
  case refuse(HTTPResponse)
}

extension HTTPRequest {
  /// The sub-protocols that a WebSocket client offers, in its order (RFC 6455 §4.1).
  public var offeredSubprotocols: [String] {
    headers.all("sec-websocket-protocol").flatMap { $0.split(separator: ",") }.map { $0.trimmingSpaces() }
  }
}
