internal import CCurl
internal import Glibc

/// A connection that libcurl has opened, with TLS where asked for, and that carries bytes from then on.
final class CurlConnection {
  private let handle: UnsafeMutableRawPointer
  let descriptor: Int32
  /// Once a process, before its first connection.
  private static let started: Void = { _ = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }()

  /// Blocks until it is open.
  /// - Parameters:
  ///   - origin: scheme, host and port.
  ///   - checksCertificate: false takes a server's word for who it is.
  ///   - usesProxies: false: it connects to the host, whatever the environment names.
  ///   - authorities: a PEM file with those that are believed, and no others; nil: those of the system.
  init(
    origin: String, milliseconds: Int, usesProxies: Bool, checksCertificate: Bool, authorities: String? = nil
  ) throws(WebSocketClientError) {
    _ = Self.started
    guard let handle = curl_easy_init() else { throw .connection("libcurl failed to start") }
    let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    defer { message.deallocate() }
    _ = rc_set_text(handle, CURLOPT_URL, origin)
    _ = rc_set_memory(handle, CURLOPT_ERRORBUFFER, message)
    _ = rc_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    if !usesProxies { _ = rc_set_text(handle, CURLOPT_PROXY, "") }
    if let authorities {
      _ = rc_set_text(handle, CURLOPT_CAINFO, authorities)
      // libcurl would believe those of the system's directory beside them.
      _ = rc_set_text(handle, CURLOPT_CAPATH, nil)
    }
    for (option, value) in [
      (CURLOPT_CONNECT_ONLY, 1), (CURLOPT_NOSIGNAL, 1), (CURLOPT_TIMEOUT_MS, milliseconds),
      // An upgrade is of HTTP/1.1 alone.
      (CURLOPT_SSL_ENABLE_ALPN, 0), (CURLOPT_TCP_NODELAY, 1),
      (CURLOPT_SSL_VERIFYPEER, checksCertificate ? 1 : 0),
      (CURLOPT_SSL_VERIFYHOST, checksCertificate ? 2 : 0), (CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2),
      // A name that isn't resolved in time is left to its thread.
      (CURLOPT_QUICK_EXIT, 1),
    ] { _ = rc_set_number(handle, option, value) }
    let code = curl_easy_perform(handle)
    var socket: curl_socket_t = -1
    guard code == CURLE_OK, rc_get_socket(handle, &socket) == CURLE_OK, socket >= 0 else {
      let text = message[0] == 0 ? String(cString: curl_easy_strerror(code)) : String(cString: message)
      curl_easy_cleanup(handle)
      switch code {
      case CURLE_OPERATION_TIMEDOUT: throw .timeout
      case CURLE_SSL_CACERT_BADFILE: throw .authorities(text)
      case CURLE_PEER_FAILED_VERIFICATION: throw .certificate(text)
      default: throw .connection(text)
      }
    }
    // The buffer goes away with this call.
    _ = rc_set_memory(handle, CURLOPT_ERRORBUFFER, nil)
    self.handle = handle
    descriptor = socket
  }

  deinit { curl_easy_cleanup(handle) }

  enum Outcome: Equatable {
    case done(Int)
    case wouldBlock
    case gone
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    var count = 0
    switch curl_easy_recv(handle, buffer.baseAddress, buffer.count, &count) {
    case CURLE_OK: return count > 0 ? .done(count) : .gone
    case CURLE_AGAIN: return .wouldBlock
    default: return .gone
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    var count = 0
    switch curl_easy_send(handle, bytes.baseAddress, bytes.count, &count) {
    case CURLE_OK: return .done(count)
    case CURLE_AGAIN: return .wouldBlock
    default: return .gone
    }
  }

  /// - Returns: false when the time is over first.
  func wait(forWriting: Bool, milliseconds: Int) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(forWriting ? POLLOUT : POLLIN), revents: 0)
    return poll(&entry, 1, Int32(clamping: milliseconds)) > 0
  }
}
