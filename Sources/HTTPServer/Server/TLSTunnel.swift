internal import Crypto
internal import Glibc
internal import Model
internal import Polling

/// Stands between a client that speaks TLS and the part of the server that knows nothing of it: ciphertext on the
/// client's socket, plaintext on one end of a socket pair, whose other end is served like any plain connection.
///
///     client ══ ciphertext ══▶ session ── plaintext ──▶ inner │ far end: libmicrohttpd, wslay
///
/// Each direction ends by itself, as with a plain socket; a reset ends both.
final class TLSTunnel {
  enum Side { case client, inner }

  /// One of its two descriptors, as the poller knows it.
  final class End {
    let side: Side
    let descriptor: Int32
    let id: UInt64
    /// nil: it isn't watched.
    var watched: Poller.Interest?

    init(_ side: Side, _ descriptor: Int32, id: UInt64) {
      self.side = side
      self.descriptor = descriptor
      self.id = id
    }
  }

  let ends: [End]
  /// The number of the connection that it carries.
  let connection: UInt64
  /// When it is cut off: set once the far end has gone and the client is slow to hear the rest.
  private(set) var deadline = Instant.never
  /// Both descriptors may be closed.
  private(set) var isOver = false

  private let client: Int32
  private let inner: Int32
  private let session: TLSSession
  private let closeTime: Duration
  /// Plaintext for the inner side and ciphertext for the client, not yet taken.
  private var inward = ByteQueue()
  private var outward = ByteQueue()
  private var clientEnded = false
  private var innerEnded = false
  private var saidEnd = false
  private var farEndClosed = false
  private var began = false

  /// What either queue may hold before nothing more is read for it.
  private static let enough = 65_536

  /// - Parameter client: an accepted, non-blocking socket; the tunnel's from now on, also where nil is returned.
  /// - Returns: the tunnel and its far end, which is the caller's; nil: no descriptors or memory left.
  static func make(
    client: Int32, clientID: UInt64, innerID: UInt64, connection: UInt64, context: TLSContext,
    closeTime: Duration
  ) -> (TLSTunnel, farEnd: Int32)? {
    var pair: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else {
      close(client)
      return nil
    }
    guard let session = try? TLSSession(context) else {
      for descriptor in pair + [client] { close(descriptor) }
      return nil
    }
    let ends = [End(.client, client, id: clientID), End(.inner, pair[0], id: innerID)]
    return (TLSTunnel(ends, connection: connection, session: session, closeTime: closeTime), pair[1])
  }

  private init(_ ends: [End], connection: UInt64, session: TLSSession, closeTime: Duration) {
    self.ends = ends
    self.connection = connection
    client = ends[0].descriptor
    inner = ends[1].descriptor
    self.session = session
    self.closeTime = closeTime
    Listening.sendAtOnce(client)
  }

  deinit {
    close(client)
    close(inner)
  }

  /// What the descriptor of a side is to be watched for; nil: it has nothing more to tell.
  func interest(_ side: Side) -> Poller.Interest? {
    guard !isOver else { return nil }
    var interest: Poller.Interest = []
    switch side {
    case .client:
      if !clientEnded, inward.count < Self.enough { interest.insert(.readable) }
      if !outward.isEmpty { interest.insert(.writable) }
    case .inner:
      guard !farEndClosed else { return nil }
      if !innerEnded, session.isEstablished, outward.count < Self.enough { interest.insert(.readable) }
      if !inward.isEmpty { interest.insert(.writable) }
    }
    return interest
  }

  /// Moves what can be moved.
  func noticed(_ what: Poller.Interest, on side: Side, now: Instant) {
    switch side {
    case .client:
      // Reset, or ended by both.
      if !what.isDisjoint(with: .broken) { isOver = true }
      if what.contains(.readable) { readClient() }
    case .inner:
      if what.contains(.readable) { readInner() }
      if !what.isDisjoint(with: .broken) { farEndWent(now: now) }
    }
    flush()
  }

  /// Bounds what waits for the client in the system's buffer.
  func boundSending() { SendBuffer.bound(client) }

  /// Its deadline has passed. A client that reads again later finds the end all the same, as far as the system takes it.
  func expire() {
    if !outward.isEmpty {
      SendBuffer.stretch(client)
      flush()
    }
    isOver = true
  }

  private func readClient() {
    guard !clientEnded else { return }
    withUnsafeTemporaryAllocation(byteCount: TLSSession.largestRecord, alignment: 16) { buffer in
      let count = recv(client, buffer.baseAddress, buffer.count, SocketFlags.dontWait)
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      guard count > 0 else {
        if count < 0 { isOver = true }
        clientEnded = true
        return
      }
      if !began {
        began = true
        guard buffer[0] == Self.handshakeRecord else {
          refuseClearText(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
          return
        }
      }
      session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      decrypt(buffer)
    }
  }

  private func decrypt(_ buffer: UnsafeMutableRawBufferPointer) {
    while true {
      switch session.read(into: buffer) {
      case .bytes(let count): inward.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      case .wanting:
        collect()
        return
      case .ended:
        collect()
        clientEnded = true
        return
      case .failed:
        collect()
        fail()
        return
      }
    }
  }

  /// - Returns: whether something came.
  @discardableResult
  private func readInner() -> Bool {
    withUnsafeTemporaryAllocation(byteCount: TLSSession.largestRecord, alignment: 16) { buffer in
      let count = recv(inner, buffer.baseAddress, buffer.count, SocketFlags.dontWait)
      if count < 0, errno == EAGAIN || errno == EINTR { return false }
      guard count > 0 else {
        innerEnded = true
        return false
      }
      guard session.write(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else {
        fail()
        return false
      }
      collect()
      return true
    }
  }

  /// Takes what the session wants to be sent.
  private func collect() {
    withUnsafeTemporaryAllocation(byteCount: TLSSession.largestRecord, alignment: 16) { buffer in
      while true {
        let count = session.take(into: buffer)
        guard count > 0 else { return }
        outward.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
  }

  /// What still comes is not read, but the client should hear what was said.
  private func farEndWent(now: Instant) {
    farEndClosed = true
    while !innerEnded, readInner() {}
    innerEnded = true
    clientEnded = true
    inward.removeAll()
    deadline = now + closeTime
    if !session.isEstablished { isOver = true }
  }

  /// Nothing can be understood or said any more, but for the alert that waits.
  private func fail() {
    clientEnded = true
    innerEnded = true
    saidEnd = true
    inward.removeAll()
  }

  private func flush() {
    if innerEnded, !saidEnd, session.isEstablished {
      saidEnd = true
      session.end()
      collect()
    }
    // A far end that is gone says so by itself.
    if !inward.send(to: inner) { inward.removeAll() }
    if !outward.send(to: client) { isOver = true }
    if clientEnded, inward.isEmpty { shutdown(inner, SocketFlags.writing) }
    if innerEnded, outward.isEmpty { shutdown(client, SocketFlags.writing) }
    if clientEnded, innerEnded, inward.isEmpty, outward.isEmpty { isOver = true }
  }

  // MARK: people who forget the s

  /// The type of a record that starts a handshake (RFC 8446 §5.1).
  private static let handshakeRecord: UInt8 = 22

  /// A browser that was given `http://` shows what is wrong instead of a reset.
  private func refuseClearText(_ bytes: UnsafeRawBufferPointer) {
    fail()
    guard let first = bytes.first, (65...90).contains(first) else { return }
    let text = "This server speaks HTTPS. Use https:// instead of http://.\n"
    let answer =
      "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: \(text.utf8.count)\r\n"
      + "connection: close\r\n\r\n" + text
    Array(answer.utf8).withUnsafeBytes { outward.append($0) }
  }
}

/// Bytes that a socket hasn't taken yet.
struct ByteQueue {
  private var bytes: [UInt8] = []
  private var start = 0

  var count: Int { bytes.count - start }
  /// That it takes in memory.
  var capacity: Int { bytes.capacity }
  var isEmpty: Bool { count == 0 }

  /// Sent bytes that may still take memory. Without a bound, a client that never drains the queue makes it keep all that was ever sent.
  private static let mostGone = 65_536

  mutating func append(_ more: UnsafeRawBufferPointer) {
    if isEmpty { removeAll() }
    if start >= Self.mostGone {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= 131_072)
    start = 0
  }

  /// Sends what the socket takes.
  /// - Returns: false if the socket is no good any more.
  mutating func send(to descriptor: Int32) -> Bool {
    while !isEmpty {
      let count = bytes.withUnsafeBytes {
        Glibc.send(
          descriptor, $0.baseAddress?.advanced(by: start), $0.count - start,
          SocketFlags.dontWait | SocketFlags.noSignal)
      }
      if count < 0 { return errno == EAGAIN || errno == EINTR }
      start += count
    }
    removeAll()
    return true
  }
}
