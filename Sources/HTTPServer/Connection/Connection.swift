internal import Model
internal import Polling

/// One TCP connection with what belongs to it; only the server's thread touches it.
///
///     head ─▶ body ─▶ answering ─▶ writing ─▶ head (kept alive) ─▶ …
///       │               │  ├─ an upgrade accepted ─▶ upgrading ─▶ webSocket ─┐
///       │               │  └─ an answer over time ─▶ streaming ─┐             │
///       └── refused ────┴─▶ writing ─▶ lingering ◀──────────────┘─────────────┴▶ gone
final class Connection {
  enum Phase {
    /// A request is waited for, or its head is being read.
    case head
    case body
    /// The handler's task is at work; libmicrohttpd has put the connection aside.
    case answering
    case writing
    /// A 101 is being written.
    case upgrading
    case webSocket
    /// The server writes to the socket itself, while libmicrohttpd has the connection put aside.
    case streaming
    /// libmicrohttpd is done with it; what still comes is thrown away, so that the last answer isn't lost to a
    /// reset (RFC 9112 §9.6).
    case lingering
    case gone
  }

  /// What is to become of a connection that was put aside.
  enum Outcome {
    case response(HTTPResponse, closing: Bool)
    case accept(subprotocol: String?, greets: Bool, serve: @Sendable (WebSocket) async -> Void)
    case cut
  }

  let id: UInt64
  let listener: Int
  let remote: SocketAddress
  /// libmicrohttpd's until it lingers, the server's own from then on.
  var descriptor: Int32
  /// libmicrohttpd's connection; nil before it has one and once it has let go.
  var handle: OpaquePointer?

  var phase = Phase.head
  /// Has been answered and waits for another request, which need not come.
  var isKept = false
  /// When the server acts by itself.
  var deadline = Instant.never

  /// Set from the end of the request line on; its target is nil where it can't be read.
  var requestLine: RequestLine?
  var head: RequestHead?
  var body: [UInt8] = []
  var upload = Upload()
  var task: Task<Void, Never>?
  var outcome: Outcome?

  /// libmicrohttpd's handle of an upgraded connection.
  var upgraded: OpaquePointer?
  var frames: WebSocketConnection?
  var socket: WebSocket?
  /// An answer that is produced over time.
  var stream: StreamTable.Stream?
  /// The client has shut its side, which is the end of a request that isn't answered yet.
  var farEndGone = false
  /// What the descriptor is watched for by the server's own poller; nil: it isn't.
  var watched: Poller.Interest?

  /// How a body comes.
  struct Upload {
    /// How often something of it came, and that with the bytes that waited at the last look.
    var count: UInt64 = 0
    var mark: (count: UInt64, unread: Int32)?
  }

  struct RequestLine {
    var target: RequestTarget?
    /// Where libmicrohttpd's text of the target begins and ends; valid as long as the request.
    var start: UnsafePointer<CChar>
    var end: UnsafePointer<CChar>
  }

  init(id: UInt64, listener: Int, remote: SocketAddress, descriptor: Int32) {
    self.id = id
    self.listener = listener
    self.remote = remote
    self.descriptor = descriptor
  }

  func request(trusting proxies: [AddressPrefix]) -> HTTPRequest? {
    head.map {
      HTTPRequest(
        method: $0.method, path: $0.target.path, query: $0.target.query, headers: $0.headers, body: body,
        remote: ForwardedFor.client(of: remote, $0.headers, trusting: proxies), listener: listener)
    }
  }

  /// Forgets the request, for the next one on this connection.
  func reset() {
    requestLine = nil
    head = nil
    body = []
    upload.mark = nil
    outcome = nil
    endTask()
  }

  func endTask() {
    task?.cancel()
    task = nil
  }
}
