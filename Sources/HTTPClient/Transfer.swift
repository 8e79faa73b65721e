internal import CCurl

#if PLANTED_DEFECTS
  internal import Model
#endif

/// One request of libcurl's on its way, with what has come of its answer.
final class Transfer {
  let id: HTTPClient.TransferID
  let handle: UnsafeMutableRawPointer
  let isStream: Bool
  let idleMilliseconds: Int
  /// When something last came, by the owner's clock.
  var lastHeard: Int
  /// What came since the owner last took it: of a stream its bytes.
  private(set) var body: [UInt8] = []
  private(set) var head = AnswerHeadReader()
  /// Why it was given up here, where libcurl only knows that it was.
  private(set) var failure: HTTPClientError?
  /// Where it says that something came.
  var heard: HeardTransfers?
  /// Whether something came since the owner last asked.
  fileprivate var hasNews = false
  /// Whether the head of a stream was handed over.
  var headIsTaken = false

  private let limit: Int
  private var fields: UnsafeMutablePointer<curl_slist>?
  private let message: UnsafeMutablePointer<CChar>

  init(
    _ request: HTTPClientRequest, id: HTTPClient.TransferID, trust: HTTPClient.Trust, usesProxies: Bool,
    version: HTTPClient.Version, now: Int
  ) throws(HTTPClientError) {
    guard let handle = curl_easy_init() else { throw .connection("libcurl failed to start") }
    self.id = id
    self.handle = handle
    isStream = request.isStream
    limit = request.limit
    idleMilliseconds = request.idleMilliseconds
    lastHeard = now
    message = .allocate(capacity: Int(CURL_ERROR_SIZE))
    message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    try write(request.headers, hasBody: !request.body.isEmpty)
    set(request)
    set(version)
    set(trust)
    // Whatever the environment says of proxies: what is on this machine is asked directly.
    if !usesProxies || request.url.isLoopback { _ = rc_set_text(handle, CURLOPT_PROXY, "") }
    listen()
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(fields)
    message.deallocate()
  }

  // MARK: The request

  private func write(_ headers: [(name: String, value: String)], hasBody: Bool) throws(HTTPClientError) {
    // What libcurl would add of its own.
    var lines = ["Expect:"]
    if !headers.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
    for (name, value) in headers {
      guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }),
        value.utf8.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 })
      else { throw .request("the header field \(name) can't be written") }
      lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
    }
    for line in lines { fields = curl_slist_append(fields, line) }
  }

  private func set(_ request: HTTPClientRequest) {
    _ = rc_set_text(handle, CURLOPT_URL, request.url.description)
    _ = rc_set_list(handle, CURLOPT_HTTPHEADER, fields)
    _ = rc_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    switch request.method {
    case .get: _ = rc_set_number(handle, CURLOPT_HTTPGET, 1)
    case .head: _ = rc_set_number(handle, CURLOPT_NOBODY, 1)
    case .post, .put, .patch, .delete:
      if request.method != .delete || !request.body.isEmpty {
        _ = request.body.withUnsafeBytes { rc_set_body(handle, $0.baseAddress, $0.count) }
        // Of nothing libcurl would read standard input.
        if request.body.isEmpty { _ = rc_set_body(handle, "", 0) }
      }
      _ = rc_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }
    for (option, value) in [
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_TCP_NODELAY, 1), (CURLOPT_TCP_KEEPALIVE, 1), (CURLOPT_PATH_AS_IS, 1),
      (CURLOPT_FOLLOWLOCATION, 0),
      (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1), (CURLOPT_TIMEOUT_MS, request.milliseconds ?? 0),
      (CURLOPT_CONNECTTIMEOUT_MS, request.connectMilliseconds),
      // A name that isn't resolved is left to its thread: nothing else waits for that.
      (CURLOPT_QUICK_EXIT, 1),
    ] { _ = rc_set_number(handle, option, value) }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.redirectFollowed) { _ = rc_set_number(handle, CURLOPT_FOLLOWLOCATION, 1) }
    #endif
  }

  private func set(_ version: HTTPClient.Version) {
    switch version {
    case .http1: _ = rc_set_number(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    case .http2:
      for (option, value) in [
        (CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS),
        // Rather than open a connection of its own, a request waits for one that is being made.
        (CURLOPT_PIPEWAIT, 1),
        // Seconds for which it may have had nothing to do; libcurl's own bound is two minutes.
        (CURLOPT_MAXAGE_CONN, 86_400),
        (CURLOPT_TCP_KEEPIDLE, 30), (CURLOPT_TCP_KEEPINTVL, 10),
      ] { _ = rc_set_number(handle, option, value) }
    }
  }

  private func set(_ trust: HTTPClient.Trust) {
    let checks: Bool
    switch trust {
    case .system: checks = true
    case .file(let path):
      checks = true
      _ = rc_set_text(handle, CURLOPT_CAINFO, path)
      // libcurl would believe those of the system's directory beside them.
      _ = rc_set_text(handle, CURLOPT_CAPATH, nil)
    case .anyone: checks = false
    }
    _ = rc_set_number(handle, CURLOPT_SSL_VERIFYPEER, checks ? 1 : 0)
    _ = rc_set_number(handle, CURLOPT_SSL_VERIFYHOST, checks ? 2 : 0)
    _ = rc_set_number(handle, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
  }

  // MARK: The answer

  private func listen() {
    let owner = Unmanaged.passUnretained(self).toOpaque()
    _ = rc_set_memory(handle, CURLOPT_ERRORBUFFER, message)
    _ = rc_set_memory(handle, CURLOPT_HEADERDATA, owner)
    _ = rc_set_memory(handle, CURLOPT_WRITEDATA, owner)
    _ = rc_set_receiver(handle, CURLOPT_HEADERFUNCTION) { bytes, _, count, owner in
      Transfer.of(owner).hear(head: UnsafeRawBufferPointer(start: bytes, count: count))
    }
    _ = rc_set_receiver(handle, CURLOPT_WRITEFUNCTION) { bytes, _, count, owner in
      Transfer.of(owner).hear(body: UnsafeRawBufferPointer(start: bytes, count: count))
    }
  }

  private static func of(_ owner: UnsafeMutableRawPointer?) -> Transfer {
    guard let owner else { preconditionFailure("libcurl lost its user data") }
    return Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
  }

  /// - Returns: as many bytes as there were, or another number, which ends the transfer.
  private func hear(head line: UnsafeRawBufferPointer) -> Int {
    noteNews()
    guard head.read(line) else {
      failure = .tooLarge(limit: AnswerHeadReader.limit)
      return line.count - 1
    }
    return line.count
  }

  private func hear(body bytes: UnsafeRawBufferPointer) -> Int {
    noteNews()
    guard isStream || bytes.count <= limit - body.count else {
      failure = .tooLarge(limit: limit)
      return bytes.count - 1
    }
    body += bytes
    return bytes.count
  }

  private func noteNews() {
    guard !hasNews else { return }
    hasNews = true
    heard?.note(self)
  }

  func takeBody() -> [UInt8] {
    defer { body = [] }
    return body
  }

  /// Seconds that the server wants to be left alone for, as `Retry-After` says them or its date is away; nil: it says nothing.
  var retryAfter: Int? {
    var seconds: curl_off_t = 0
    return rc_get_offset(handle, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK && seconds > 0
      ? Int(seconds) : nil
  }

  /// What libcurl's result means; nil: the answer is whole.
  func error(_ code: CURLcode) -> HTTPClientError? {
    if let failure { return failure }
    let text = message[0] == 0 ? String(cString: curl_easy_strerror(code)) : String(cString: message)
    switch code {
    case CURLE_OK: return head.isComplete ? nil : .connection("the answer is no HTTP")
    case CURLE_OPERATION_TIMEDOUT: return .timeout
    case CURLE_PEER_FAILED_VERIFICATION: return .certificate(text)
    case CURLE_SSL_CACERT_BADFILE: return .authorities(text)
    default: return .connection(text)
    }
  }
}

/// The transfers of which something has come since their owner last asked, so that it needn't look at all of them.
final class HeardTransfers {
  private var waiting: [Transfer] = []

  fileprivate func note(_ transfer: Transfer) { waiting.append(transfer) }

  /// In the order in which they were begun.
  func take() -> [Transfer] {
    guard !waiting.isEmpty else { return [] }
    let taken = waiting.sorted { $0.id < $1.id }
    waiting = []
    for transfer in taken { transfer.hasNews = false }
    return taken
  }
}
