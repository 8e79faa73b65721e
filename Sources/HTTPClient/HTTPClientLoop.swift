internal import CCurl
internal import Glibc
internal import Polling

/// The client's thread: libcurl's multi interface with what is under way.
///
/// Unchecked: `wake` is the one call that other threads make, and libcurl allows it; all else is the thread's own.
final class HTTPClientLoop: @unchecked Sendable {
  typealias Reply = @Sendable (Result<HTTPClientAnswer, HTTPClientError>) -> Void

  enum Command: Sendable {
    case send(HTTPClientRequest, Reply)
    case stop
  }

  private let multi: UnsafeMutableRawPointer
  private let authorities: String?
  private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
  /// Once a process, before its first connection.
  private static let started: Void = { _ = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }()

  /// One request on its way, with what libcurl has pointers to.
  private final class Transfer {
    let reply: Reply
    let headers: UnsafeMutablePointer<curl_slist>?
    var read = 0

    init(_ reply: @escaping Reply, headers: UnsafeMutablePointer<curl_slist>?) {
      self.reply = reply
      self.headers = headers
    }

    deinit { curl_slist_free_all(headers) }
  }

  init(authorities: String?, connectionsPerHost: Int) {
    _ = Self.started
    guard let multi = curl_multi_init() else { preconditionFailure("libcurl has no memory to start with") }
    self.multi = multi
    self.authorities = authorities
    _ = rc_multi_set_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost)
    _ = rc_multi_set_number(multi, CURLMOPT_MAXCONNECTS, 64)
  }

  deinit { curl_multi_cleanup(multi) }

  func wake() { curl_multi_wakeup(multi) }

  /// - Parameter box: what the thread is asked; it ends with `stop`.
  func start(_ box: Mailbox<Command>) {
    let start = Unmanaged.passRetained(Start(self, box)).toOpaque()
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { start in
        if let start {
          let start = Unmanaged<Start>.fromOpaque(start).takeRetainedValue()
          start.loop.run(start.box)
        }
        return nil
      }, start)
    precondition(result == 0, "no thread for the HTTP client: \(result)")
    pthread_detach(thread)
  }

  private final class Start {
    let loop: HTTPClientLoop
    let box: Mailbox<Command>

    init(_ loop: HTTPClientLoop, _ box: Mailbox<Command>) {
      self.loop = loop
      self.box = box
    }
  }

  private func run(_ box: Mailbox<Command>) {
    var isStopped = false
    while !isStopped {
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      settle()
      // Until something comes on a socket, a time is over, or it is woken.
      curl_multi_poll(multi, nil, 0, 60_000, nil)
      for command in box.take() {
        switch command {
        case .send(let request, let reply): isStopped ? reply(.failure(.stopped)) : begin(request, reply)
        case .stop: isStopped = true
        }
      }
    }
    for case .send(_, let reply) in box.close() { reply(.failure(.stopped)) }
    for (handle, transfer) in transfers {
      curl_multi_remove_handle(multi, handle)
      curl_easy_cleanup(handle)
      transfer.reply(.failure(.stopped))
    }
    transfers = [:]
  }

  // MARK: - Requests

  /// Bytes of an answer's body that are read, and thrown away, so that the connection can be used again.
  private static let longestAnswer = 65_536

  private func begin(_ request: HTTPClientRequest, _ reply: @escaping Reply) {
    guard let handle = curl_easy_init() else { return reply(.failure(.failed("libcurl has no memory"))) }
    var list: UnsafeMutablePointer<curl_slist>?
    // Else libcurl asks first whether a larger body may come.
    for (name, value) in request.headers + [("Expect", "")] {
      list = curl_slist_append(list, value.isEmpty ? "\(name):" : "\(name): \(value)") ?? list
    }
    let transfer = Transfer(reply, headers: list)
    transfers[handle] = transfer
    _ = rc_set_text(handle, CURLOPT_URL, request.url)
    _ = rc_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    // None, whatever the environment names.
    _ = rc_set_text(handle, CURLOPT_PROXY, "")
    _ = rc_set_text(handle, CURLOPT_USERAGENT, "roost")
    if let authorities { _ = rc_set_text(handle, CURLOPT_CAINFO, authorities) }
    for (option, value) in [
      (CURLOPT_POST, 1), (CURLOPT_POSTFIELDSIZE, request.body.count), (CURLOPT_NOSIGNAL, 1),
      (CURLOPT_TIMEOUT_MS, request.milliseconds), (CURLOPT_CONNECTTIMEOUT_MS, request.milliseconds),
      (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
      (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)), (CURLOPT_TCP_NODELAY, 1),
    ] { _ = rc_set_number(handle, option, value) }
    // Copied; after its size, which may have zero bytes in it.
    var body = request.body
    body.withUnsafeMutableBytes { _ = rc_set_memory(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
    _ = rc_set_memory(handle, CURLOPT_HTTPHEADER, list)
    _ = rc_set_writer(
      handle,
      { _, size, count, owner in
        guard let owner else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
        transfer.read += size * count
        // Anything else than what came ends the transfer.
        return transfer.read <= HTTPClientLoop.longestAnswer ? size * count : 0
      }, Unmanaged.passUnretained(transfer).toOpaque())
    let code = curl_multi_add_handle(multi, handle)
    if code != CURLM_OK { end(handle, .failure(.failed(String(cString: curl_multi_strerror(code))))) }
  }

  private func settle() {
    var result = CURLE_OK
    while let handle = rc_multi_next_done(multi, &result) {
      curl_multi_remove_handle(multi, handle)
      let isTooLong = transfers[handle].map { $0.read > Self.longestAnswer } ?? false
      switch result {
      case CURLE_OK:
        var status = 0
        var wait: curl_off_t = 0
        _ = rc_get_number(handle, CURLINFO_RESPONSE_CODE, &status)
        _ = rc_get_offset(handle, CURLINFO_RETRY_AFTER, &wait)
        end(handle, .success(HTTPClientAnswer(status: status, retryAfter: wait > 0 ? Int(wait) : nil)))
      case CURLE_OPERATION_TIMEDOUT: end(handle, .failure(.timedOut))
      case CURLE_WRITE_ERROR where isTooLong: end(handle, .failure(.tooLong))
      default: end(handle, .failure(.failed(String(cString: curl_easy_strerror(result)))))
      }
    }
  }

  private func end(
    _ handle: UnsafeMutableRawPointer, _ result: Result<HTTPClientAnswer, HTTPClientError>
  ) {
    let transfer = transfers.removeValue(forKey: handle)
    curl_easy_cleanup(handle)
    transfer?.reply(result)
  }
}
