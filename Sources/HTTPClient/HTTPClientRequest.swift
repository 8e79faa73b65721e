/// A request with its whole body.
public struct HTTPClientRequest: Sendable {
  /// `http://…` or `https://…`.
  public var url: String
  /// Names and values go out as they are: without line ends.
  public var headers: [(name: String, value: String)]
  /// Sent by POST.
  public var body: [UInt8]
  /// For all of it, from the look-up of the name to the last byte of the answer.
  public var milliseconds: Int

  public init(
    posting body: [UInt8], to url: String, headers: [(name: String, value: String)] = [],
    milliseconds: Int = 5_000
  ) {
    self.url = url
    self.headers = headers
    self.body = body
    self.milliseconds = milliseconds
  }
}

/// What a server has answered; of its body nothing is kept.
public struct HTTPClientAnswer: Equatable, Sendable {
  public var status: Int
  /// Seconds, as `Retry-After` says; nil: it says nothing.
  public var retryAfter: Int?

  public init(status: Int, retryAfter: Int? = nil) {
    self.status = status
    self.retryAfter = retryAfter
  }
}

/// Why there is no answer.
public enum HTTPClientError: Error, Equatable, Sendable, CustomStringConvertible {
  /// libcurl's own words: no such host, refused, a certificate that no authority vouches for, an answer that breaks off.
  case failed(String)
  case timedOut
  /// The answer's body has more than `HTTPClient` reads.
  case tooLong
  case stopped

  public var description: String {
    switch self {
    case .failed(let text): text
    case .timedOut: "timed out"
    case .tooLong: "the answer is too long"
    case .stopped: "stopped"
    }
  }
}
