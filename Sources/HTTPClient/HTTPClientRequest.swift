/// What is asked of a server.
public struct HTTPClientRequest: Sendable {
  public enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  public var method: Method
  public var url: HTTPURL
  /// Names and values without line ends.
  public var headers: [(name: String, value: String)] = []
  public var body: [UInt8] = []
  /// For all of it; nil: as long as something comes within `idleMilliseconds`.
  public var milliseconds: Int? = 30_000
  /// Until it is connected, TLS included.
  public var connectMilliseconds = 10_000
  /// How long the server may send nothing, once it is connected.
  public var idleMilliseconds = 30_000
  /// Bytes of the answer's body; without a bound where it is handed over as it comes.
  public var limit = 8 * 1_024 * 1_024
  /// Whether the body is handed over as it comes, which is for streams without an end.
  public var isStream = false

  public init(_ method: Method, _ url: HTTPURL) {
    self.method = method
    self.url = url
  }
}

/// What a server said before the body.
public struct HTTPAnswerHead: Equatable, Sendable {
  public var status: Int
  /// Names are in lower case.
  public var headers: [String: [String]]

  public init(status: Int, headers: [String: [String]] = [:]) {
    self.status = status
    self.headers = headers
  }

  /// The first field of that name, which is in lower case.
  public subscript(name: String) -> String? { headers[name]?.first }

  /// The media type, in lower case and without parameters.
  public var type: String? {
    self["content-type"]?.split(separator: ";").first.map {
      $0.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined().lowercased()
    }
  }
}

/// A whole answer.
public struct HTTPAnswer: Equatable, Sendable {
  public var head: HTTPAnswerHead
  public var body: [UInt8]
  /// Seconds that the server wants to be left alone for; nil: it says nothing.
  public var retryAfter: Int?

  public init(head: HTTPAnswerHead, body: [UInt8], retryAfter: Int? = nil) {
    self.head = head
    self.body = body
    self.retryAfter = retryAfter
  }
}
