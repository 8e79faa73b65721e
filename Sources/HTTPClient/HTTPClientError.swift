/// Why a request has no answer.
public enum HTTPClientError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The request can't be written: a header field with a line end in it, for instance.
  case request(String)
  /// libcurl's own words: no such host, refused, broken off, no HTTP.
  case connection(String)
  /// The server doesn't prove who it is: an authority that isn't known, another name, expired.
  case certificate(String)
  /// The file of authorities can't be read.
  case authorities(String)
  /// The time of the whole request is over, or nothing has come for as long as a stream may be silent.
  case timeout
  /// More bytes than the request allows.
  case tooLarge(limit: Int)
  /// The client was stopped meanwhile, or before.
  case stopped

  public var description: String {
    switch self {
    case .request(let text), .connection(let text), .certificate(let text), .authorities(let text): text
    case .timeout: "timed out"
    case .tooLarge(let limit): "the answer has more than \(limit) bytes"
    case .stopped: "stopped"
    }
  }
}
