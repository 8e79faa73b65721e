internal import CMicroHTTPD
internal import Glibc
internal import Model

/// libmicrohttpd as the server uses it: without a thread or a listening socket, polled by the server's own loop
/// and called back on its thread. One daemon reads and writes HTTP for all listeners.
struct Daemon: ~Copyable {
  private let daemon: OpaquePointer

  /// - Parameters:
  ///   - owner: given to each callback; has to outlive the daemon.
  ///   - headBytes: what a head may have. libmicrohttpd gets twice as much per connection, for its own records of
  ///     the fields and for the head of the answer.
  init(
    owner: UnsafeMutableRawPointer, callbacks: roost_mhd_callbacks, connections: Int, headBytes: Int
  ) throws(HTTPServerError) {
    guard
      let daemon = roost_mhd_start(owner, callbacks, UInt32(clamping: connections), max(headBytes * 2, 8192))
    else { throw .cannotStart(step: "MHD_start_daemon", errno: errno) }
    self.daemon = daemon
  }

  /// Ends every connection. None may be put aside then.
  deinit { MHD_stop_daemon(daemon) }

  /// Readable when there is something to do.
  var descriptor: Int32 { roost_mhd_descriptor(daemon) }

  /// Hands over a socket, also when it is refused.
  borrowing func add(_ socket: Int32, from remote: SocketAddress) -> Bool {
    Listening.withSystemAddress(remote) { address, size in MHD_add_connection(daemon, socket, address, size) }
      == .YES
  }

  /// Does what can be done without waiting.
  /// - Returns: when it wants to be called again even if nothing comes.
  borrowing func run(now: Instant) -> Instant {
    MHD_run(daemon)
    var milliseconds: UInt64 = 0
    guard MHD_get_timeout(daemon, &milliseconds) == .YES else { return .never }
    return now + .milliseconds(Int64(clamping: milliseconds))
  }
}

extension HTTPResponse {
  /// As libmicrohttpd takes it; the caller destroys it.
  func made(closing: Bool) -> OpaquePointer? {
    var bytes = body
    let response = bytes.withUnsafeMutableBytes {
      MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
    }
    guard let response else { return nil }
    for (name, value) in headers.fields where !Self.ownFields.contains(name) {
      MHD_add_response_header(response, name, value)
    }
    if closing { MHD_add_response_header(response, "connection", "close") }
    return response
  }
}
