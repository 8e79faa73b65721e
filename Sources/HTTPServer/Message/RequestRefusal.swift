/// Why a request that libmicrohttpd has read is not served. Each becomes one answer, after which the connection
/// closes.
package enum RequestRefusal: Error, Equatable, Sendable {
  case malformedTarget
  case malformedField
  case unknownMethod
  case hostMissingOrRepeated
  case headTooLarge
  /// A length given twice, or beside a transfer coding: how requests are smuggled (RFC 9112 §11.2).
  case ambiguousLength
  case unknownTransferCoding
  case bodyTooLarge
  case malformedUpgrade
  case unsupportedWebSocketVersion

  var status: Int {
    switch self {
    case .malformedTarget, .malformedField, .hostMissingOrRepeated, .ambiguousLength,
      .malformedUpgrade:
      400
    case .bodyTooLarge: 413
    case .unsupportedWebSocketVersion: 426
    case .headTooLarge: 431
    case .unknownMethod, .unknownTransferCoding: 501
    }
  }

  /// The phrase of its status (RFC 9110 §15).
  var reason: String {
    switch status {
    case 413: "Content Too Large"
    case 426: "Upgrade Required"
    case 431: "Request Header Fields Too Large"
    case 501: "Not Implemented"
    default: "Bad Request"
    }
  }

  /// The last part of the problem's type (RFC 9457), and what it says to people.
  private var type: String {
    switch self {
    case .malformedTarget, .malformedField, .hostMissingOrRepeated: "head"
    case .unknownMethod: "unknown-method"
    case .headTooLarge: "head-too-large"
    case .ambiguousLength: "length"
    case .unknownTransferCoding: "transfer-coding"
    case .bodyTooLarge: "body-too-large"
    case .malformedUpgrade, .unsupportedWebSocketVersion: "upgrade"
    }
  }

  private var title: String {
    switch self {
    case .malformedTarget: "Malformed request target"
    case .malformedField: "Malformed header field"
    case .hostMissingOrRepeated: "A request must have exactly one Host field"
    case .unknownMethod: "Unknown method"
    case .headTooLarge: "The request header is too large"
    case .ambiguousLength: "The body's length is ambiguous"
    case .unknownTransferCoding: "Unknown transfer coding"
    case .bodyTooLarge: "The body is too large"
    case .malformedUpgrade: "The WebSocket handshake is incomplete"
    case .unsupportedWebSocketVersion: "WebSocket version 13 is required"
    }
  }

  package var response: HTTPResponse {
    var response = HTTPResponse(problem: type, title, status: status)
    if self == .unsupportedWebSocketVersion {
      response.headers.add("upgrade", "websocket")
      response.headers.add("sec-websocket-version", "13")
    }
    return response
  }
}
