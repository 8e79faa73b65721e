/// Why a WebSocket did not open.
public enum WebSocketClientError: Error, Equatable, CustomStringConvertible {
  /// libcurl's own words: no such host, refused, broken off.
  case connection(String)
  /// The server doesn't prove who it is.
  case certificate(String)
  /// The file of authorities can't be read.
  case authorities(String)
  /// The server answered the upgrade by another status than 101; `body` is the beginning of what it says.
  case refused(status: Int, body: String)
  /// What came is no answer to the upgrade (RFC 6455 §4.1).
  case handshake(String)
  case timeout
  /// The request can't be written: a header field with a line end in it, for instance.
  case request(String)

  public var description: String {
    switch self {
    case .connection(let text), .certificate(let text), .authorities(let text), .request(let text): text
    case .refused(let status, let body): body.isEmpty ? "status \(status)" : "status \(status): \(body)"
    case .handshake(let text): text
    case .timeout: "timed out"
    }
  }
}
