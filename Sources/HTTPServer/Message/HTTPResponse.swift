/// An answer with its whole body. Length, date and connection fields are added when it is written, those among
/// `headers` are left out.
public struct HTTPResponse: Equatable, Sendable {
  public var status: Int
  public var headers: HTTPHeaders
  public var body: [UInt8]

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
}
