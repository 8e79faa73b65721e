internal import Model

/// What this server asks of a head beyond libmicrohttpd, which is lenient where two readers could understand a
/// message differently.
package struct RequestHead: Equatable, Sendable {
  package static let maximumFields = 100

  package var method: HTTPMethod
  package var target: RequestTarget
  package var headers: HTTPHeaders
  package var isHTTP10: Bool
  /// The key of a WebSocket handshake; nil for an ordinary request.
  package var webSocketKey: String?

  /// - Parameters:
  ///   - target: nil where it couldn't be read.
  ///   - size: bytes of request line and fields.
  package init(
    method: String, target: RequestTarget?, headers: HTTPHeaders, isHTTP10: Bool, size: Int,
    limits: HTTPLimits
  ) throws(RequestRefusal) {
    guard size <= limits.headBytes, headers.fields.count <= Self.maximumFields else { throw .headTooLarge }
    guard let known = HTTPMethod(rawValue: method) else { throw .unknownMethod }
    guard let target, target.path != "*" || known == .options else { throw .malformedTarget }
    // A space before the colon stays in libmicrohttpd's name, and the field wouldn't be found by it.
    guard headers.fields.allSatisfy({ !$0.name.isEmpty && $0.name.utf8.allSatisfy(\.isTokenCharacter) })
    else { throw .malformedField }
    guard headers.fields.allSatisfy({ CombiningMarks.areFew(in: $0.value) }) else { throw .malformedField }
    guard headers.all("host").count == 1 || (isHTTP10 && headers["host"] == nil) else {
      throw .hostMissingOrRepeated
    }
    (self.method, self.target, self.headers, self.isHTTP10) = (known, target, headers, isHTTP10)
    let hasBody = try Self.hasBody(headers, isHTTP10: isHTTP10, limit: limits.bodyBytes)
    switch WebSocketHandshake.offer(method: known, headers: headers, isHTTP10: isHTTP10, hasBody: hasBody) {
    case .none: break
    case .webSocket(let key): webSocketKey = key
    case .malformed: throw .malformedUpgrade
    case .otherVersion: throw .unsupportedWebSocketVersion
    }
  }

  private static func hasBody(
    _ headers: HTTPHeaders, isHTTP10: Bool, limit: Int
  ) throws(RequestRefusal) -> Bool {
    let lengths = headers.all("content-length")
    let codings = headers.all("transfer-encoding")
    guard lengths.count + codings.count <= 1 else { throw .ambiguousLength }
    if let coding = codings.first {
      guard !isHTTP10 else { throw .ambiguousLength }
      guard coding.asciiLowercased == "chunked" else { throw .unknownTransferCoding }
      return true
    }
    guard let text = lengths.first else { return false }
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { throw .ambiguousLength }
    guard let length = Int(text), length <= limit else { throw .bodyTooLarge }
    return length > 0
  }
}

extension UInt8 {
  /// RFC 9110 §5.6.2.
  fileprivate var isTokenCharacter: Bool {
    switch self {
    case 48...57, 65...90, 97...122, 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
    default: false
    }
  }
}
