/// An answer with its whole body, or with one that is produced over time. Length, date and connection fields are added when it is
/// written, those among `headers` are left out.
public struct HTTPResponse: Sendable {
  public var status: Int
  public var headers: HTTPHeaders
  public var body: [UInt8]
  /// What follows `body` over time; nil: nothing. The connection ends with it.
  ///
  /// Where there are as many as `HTTPLimits.streams` allow, the answer is 503 or 429 instead.
  public var stream: (any HTTPBodySource)?

  public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An error as RFC 9457 has it.
  /// - Parameters:
  ///   - problem: the last part of its type: letters and hyphens.
  ///   - title: without quotation marks and backslashes.
  init(problem: String, _ title: String, status: Int) {
    self.init(
      status: status, type: "application/problem+json",
      body: "{\"status\":\(status),\"title\":\"\(title)\",\"type\":\"urn:roost:problem:\(problem)\"}".utf8)
  }

  public init(status: Int, type: String, body: some Sequence<UInt8>) {
    self.init(status: status, headers: ["content-type": type], body: Array(body))
  }
}

extension HTTPResponse: Equatable {
  public static func == (a: Self, b: Self) -> Bool {
    a.status == b.status && a.headers == b.headers && a.body == b.body && a.stream === b.stream
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init()
    for (name, value) in elements { add(name, value) }
  }
}

extension HTTPResponse {
  /// Everything that goes to the client, for an answer that ends its connection.
  /// - Parameter reason: the phrase of its status (RFC 9110 §15).
  func text(reason: String) -> [UInt8] {
    var head = "HTTP/1.1 \(status) \(reason)\r\n"
    for (name, value) in headers.fields { head += "\(name): \(value)\r\n" }
    head += "content-length: \(body.count)\r\nconnection: close\r\n\r\n"
    return Array(head.utf8) + body
  }

  /// All that goes to the client before what is produced over time.
  /// - Parameters:
  ///   - reason: the phrase of its status.
  ///   - date: as RFC 9110 §5.6.7 has it.
  func opening(reason: String, date: String, isChunked: Bool) -> [UInt8] {
    var head = "HTTP/1.1 \(status) \(reason)\r\ndate: \(date)\r\n"
    for (name, value) in headers.fields where !Self.ownFields.contains(name) {
      head += "\(name): \(value)\r\n"
    }
    head +=
      isChunked ? "transfer-encoding: chunked\r\nconnection: close\r\n\r\n" : "connection: close\r\n\r\n"
    return Array(head.utf8)
  }

  static let ownFields: Set<String> = ["content-length", "connection", "date", "transfer-encoding"]
}
