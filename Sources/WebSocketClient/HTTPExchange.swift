internal import CCurl

/// One HTTP request and its answer, by libcurl.
public enum HTTPExchange {
  public struct Answer: Equatable, Sendable {
    public var status: Int
    /// Names in lower case, in the order in which they came.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]

    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    public static func == (one: Answer, other: Answer) -> Bool {
      one.status == other.status && one.body == other.body
        && one.headers.elementsEqual(other.headers) { $0.name == $1.name && $0.value == $1.value }
    }
  }

  /// Bytes of an answer, of its head and its body each; what is longer is an error.
  static let answerLimit = 1 << 20

  /// Blocks until the answer is there. Redirects are not followed.
  /// - Parameters:
  ///   - headers: of the request; names and values go out as they are.
  ///   - body: nil: none.
  ///   - milliseconds: for all of it.
  ///   - checksCertificate: false takes a server's word for who it is.
  public static func send(
    _ method: String, _ url: WebSocketURL, headers: [(String, String)] = [], body: [UInt8]? = nil,
    milliseconds: Int = 10_000, checksCertificate: Bool = true
  ) throws(WebSocketClientError) -> Answer {
    CurlConnection.start()
    guard let handle = curl_easy_init() else { throw .connection("libcurl failed to start") }
    defer { curl_easy_cleanup(handle) }
    var list: UnsafeMutablePointer<curl_slist>?
    // Without it a body of some size waits for a word of the server's.
    for line in headers.map({ "\($0): \($1)" }) + ["Expect:"] { list = curl_slist_append(list, line) }
    defer { curl_slist_free_all(list) }
    _ = rc_set_text(handle, CURLOPT_URL, url.origin.dropLast() + url.target)
    _ = rc_set_text(handle, CURLOPT_CUSTOMREQUEST, method)
    _ = rc_set_list(handle, CURLOPT_HTTPHEADER, list)
    for (option, value) in [
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_TIMEOUT_MS, milliseconds),
      (CURLOPT_SSL_VERIFYPEER, checksCertificate ? 1 : 0),
      (CURLOPT_SSL_VERIFYHOST, checksCertificate ? 2 : 0),
    ] { _ = rc_set_number(handle, option, value) }
    let sink = Sink()
    let context = Unmanaged.passUnretained(sink).toOpaque()
    _ = rc_set_memory(handle, CURLOPT_WRITEDATA, context)
    _ = rc_set_memory(handle, CURLOPT_HEADERDATA, context)
    _ = rc_set_sink(handle, CURLOPT_WRITEFUNCTION) { Sink.of($3).take(body: $0, $1 &* $2) }
    _ = rc_set_sink(handle, CURLOPT_HEADERFUNCTION) { Sink.of($3).take(head: $0, $1 &* $2) }
    // One more, so that a body of no bytes has a place, too.
    var bytes = (body ?? []) + [0]
    let code = bytes.withUnsafeMutableBytes { bytes in
      if body != nil {
        _ = rc_set_number(handle, CURLOPT_POSTFIELDSIZE, bytes.count - 1)
        _ = rc_set_memory(handle, CURLOPT_POSTFIELDS, bytes.baseAddress)
      }
      return curl_easy_perform(handle)
    }
    guard !sink.isOver else { throw .handshake("the answer is too long") }
    guard code == CURLE_OK else {
      throw code == CURLE_OPERATION_TIMEDOUT
        ? .timeout : .connection(String(cString: curl_easy_strerror(code)))
    }
    var status = 0
    _ = rc_get_status(handle, &status)
    return Answer(status: status, headers: sink.headers, body: sink.body)
  }
}

/// What libcurl gives of an answer, piece by piece.
private final class Sink {
  private(set) var body: [UInt8] = []
  private var head: [UInt8] = []
  private(set) var isOver = false

  static func of(_ context: UnsafeMutableRawPointer?) -> Sink {
    guard let context else { preconditionFailure("libcurl lost its user data") }
    return Unmanaged<Sink>.fromOpaque(context).takeUnretainedValue()
  }

  /// - Returns: as many bytes as were taken; fewer end the transfer.
  func take(body bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard body.count + count <= HTTPExchange.answerLimit else {
      isOver = true
      return 0
    }
    body += UnsafeRawBufferPointer(start: bytes, count: count)
    return count
  }

  func take(head bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard head.count + count <= HTTPExchange.answerLimit else {
      isOver = true
      return 0
    }
    let line = UnsafeRawBufferPointer(start: bytes, count: count)
    // Of several heads, as of a proxy and the server, the last counts.
    if line.starts(with: "HTTP/".utf8) { head = [] }
    head += line
    return count
  }

  var headers: [(name: String, value: String)] {
    String(decoding: head, as: UTF8.self).split(separator: "\r\n").dropFirst().compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      return (line[..<colon].lowercased(), line[line.index(after: colon)...].trimmed)
    }
  }
}
