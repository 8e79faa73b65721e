/// Why a request that libmicrohttpd has read is not served. Each becomes one answer, after which the connection
/// closes.
enum RequestRefusal: Error, Equatable, Sendable {
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

  var response: HTTPResponse {
    var response = HTTPResponse(status: status)
    if self == .unsupportedWebSocketVersion {
      response.headers.add("upgrade", "websocket")
      response.headers.add("sec-websocket-version", "13")
    }
    return response
  }
}
