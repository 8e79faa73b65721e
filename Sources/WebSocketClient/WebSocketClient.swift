internal import CWslay
internal import Crypto
internal import Glibc
internal import Model

/// The client's side of a WebSocket (RFC 6455): libcurl connects, wslay reads and makes the frames.
///
/// Opening blocks; from then on nothing does. Its owner waits for `descriptor` to be readable, and writable while
/// `wantsToWrite`, and calls `read` and `flush`.
///
/// Unchecked: the thread that opens one may hand it to another, which alone uses it then.
public final class WebSocketClient: @unchecked Sendable {
  /// What became of it.
  public enum State: Equatable, Sendable {
    case open
    /// With the code and reason of the server's close frame; 1006 where there was none (§7.1.5).
    case closed(code: UInt16, reason: String)
  }

  public private(set) var state = State.open
  public let descriptor: Int32

  private let connection: CurlConnection
  private var context: wslay_event_context_ptr?
  /// Bytes that came with the handshake's answer.
  private var early: ArraySlice<UInt8>
  private var received: [String] = []
  private static let messageLimit: UInt64 = 4 * 1_024 * 1_024
  private static let answerLimit = 16 * 1_024

  /// Connects and upgrades.
  /// - Parameters:
  ///   - headers: further ones of the request; what would end a field or the request is refused.
  ///   - milliseconds: for all of it.
  ///   - authorities: a PEM file with those that are believed, and no others; nil: those of the system.
  public init(
    _ url: WebSocketURL, protocol name: String, headers: [(String, String)] = [], milliseconds: Int = 10_000,
    checksCertificate: Bool = true, authorities: String? = nil
  ) throws(WebSocketClientError) {
    try Self.check(headers)
    let began = Self.milliseconds()
    connection = try CurlConnection(
      origin: url.origin, milliseconds: milliseconds, usesProxies: !LoopbackHost.contains(url.host),
      checksCertificate: checksCertificate, authorities: authorities)
    descriptor = connection.descriptor
    let nonce = Base64.encode(Random.bytes(16))
    var request = "GET \(url.target) HTTP/1.1\r\nHost: \(url.hostHeader)\r\n"
    request += "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    request += "Sec-WebSocket-Key: \(nonce)\r\nSec-WebSocket-Protocol: \(name)\r\n"
    for (name, value) in headers { request += "\(name): \(value)\r\n" }
    let deadline = began + milliseconds
    try Self.write(Array((request + "\r\n").utf8), connection, until: deadline)
    early = try Self.readAnswer(connection, nonce: nonce, protocol: name, until: deadline)
    startFrames()
  }

  deinit { wslay_event_context_free(context) }

  // MARK: Messages

  public var wantsToWrite: Bool { state == .open && wslay_event_want_write(context) != 0 }

  /// Takes what has come.
  /// - Returns: the text messages that are complete, in order.
  public func read() -> [String] {
    guard state == .open else { return [] }
    let result = wslay_event_recv(context)
    // A close frame whose code wslay doesn't know, as 1013, is none to it; it reads no further then.
    if state == .open, result != 0 || wslay_event_get_read_enabled(context) == 0 {
      // The answer to its close frame, as far as it goes.
      _ = wslay_event_send(context)
      let isSaid = result == 0 && wslay_event_get_close_received(context) != 0
      state = .closed(code: isSaid ? wslay_event_get_status_code_received(context) : 1_006, reason: "")
    }
    defer { received = [] }
    return received
  }

  /// Queues one text message; `flush` sends it.
  public func send(_ text: String) {
    guard state == .open else { return }
    var text = text
    text.withUTF8 { bytes in
      var message = wslay_event_msg(
        opcode: UInt8(WSLAY_TEXT_FRAME.rawValue), msg: bytes.baseAddress, msg_length: bytes.count)
      wslay_event_queue_msg(context, &message)
    }
  }

  /// Gives the connection as much as it takes.
  public func flush() {
    guard state == .open else { return }
    if wslay_event_send(context) != 0 { state = .closed(code: 1_006, reason: "") }
  }

  /// Says goodbye; what the server says to it is not waited for.
  public func close() {
    guard state == .open else { return }
    wslay_event_queue_close(context, 1_000, nil, 0)
    _ = wslay_event_send(context)
    state = .closed(code: 1_000, reason: "")
  }
}

// MARK: - Handshake

extension WebSocketClient {
  private static func milliseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int(time.tv_sec) * 1_000 + Int(time.tv_nsec) / 1_000_000
  }

  private static func check(_ headers: [(String, String)]) throws(WebSocketClientError) {
    for (name, value) in headers {
      guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }),
        value.utf8.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 })
      else { throw .request("the header field \(name) can't be written") }
    }
  }

  private static func write(
    _ bytes: [UInt8], _ connection: CurlConnection, until deadline: Int
  ) throws(WebSocketClientError) {
    var sent = 0
    while sent < bytes.count {
      switch bytes.withUnsafeBytes({ connection.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) {
      case .done(let count): sent += count
      case .gone: throw .handshake("the connection ended")
      case .wouldBlock:
        let left = deadline - milliseconds()
        guard left > 0, connection.wait(forWriting: true, milliseconds: left) else { throw .timeout }
      }
    }
  }

  /// - Returns: what came behind the answer's head.
  private static func readAnswer(
    _ connection: CurlConnection, nonce: String, protocol name: String, until deadline: Int
  ) throws(WebSocketClientError) -> ArraySlice<UInt8> {
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
      switch chunk.withUnsafeMutableBytes({ connection.read($0) }) {
      case .done(let count): answer += chunk[..<count]
      case .gone:
        // A refusal may end with the connection.
        guard !answer.isEmpty else { throw .handshake("the connection ended before an answer") }
        return try UpgradeAnswer(answer, isWhole: true).check(nonce: nonce, protocol: name)
      case .wouldBlock:
        let left = deadline - milliseconds()
        guard left > 0, connection.wait(forWriting: false, milliseconds: left) else { throw .timeout }
        continue
      }
      guard answer.count <= answerLimit else { throw .handshake("the answer is too long") }
      let read = try UpgradeAnswer(answer, isWhole: false)
      if read.isComplete { return try read.check(nonce: nonce, protocol: name) }
    }
  }

  private func startFrames() {
    var callbacks = wslay_event_callbacks()
    callbacks.recv_callback = { context, buffer, size, _, owner in
      WebSocketClient.of(owner).receive(
        UnsafeMutableRawBufferPointer(start: buffer, count: size), context)
    }
    callbacks.send_callback = { context, bytes, size, _, owner in
      let outcome = WebSocketClient.of(owner).connection.write(
        UnsafeRawBufferPointer(start: bytes, count: size))
      return WebSocketClient.result(outcome, context)
    }
    callbacks.genmask_callback = { _, buffer, size, _ in
      Random.fill(UnsafeMutableRawBufferPointer(start: buffer, count: size))
      return 0
    }
    callbacks.on_msg_recv_callback = { _, message, owner in
      guard let message = message?.pointee, message.opcode == WSLAY_TEXT_FRAME.rawValue else { return }
      let bytes = UnsafeRawBufferPointer(start: message.msg, count: message.msg_length)
      WebSocketClient.of(owner).received.append(String(decoding: bytes, as: UTF8.self))
    }
    let owner = Unmanaged.passUnretained(self).toOpaque()
    let made = wslay_event_context_client_init(&context, &callbacks, owner)
    precondition(made == 0, "wslay makes no context")
    wslay_event_config_set_max_recv_msg_length(context, Self.messageLimit)
  }

  private static func of(_ owner: UnsafeMutableRawPointer?) -> WebSocketClient {
    guard let owner else { preconditionFailure("wslay lost its user data") }
    return Unmanaged<WebSocketClient>.fromOpaque(owner).takeUnretainedValue()
  }

  private static func result(_ outcome: CurlConnection.Outcome, _ context: wslay_event_context_ptr?) -> Int {
    switch outcome {
    case .done(let count): return count
    case .wouldBlock: wslay_event_set_error(context, Int32(WSLAY_ERR_WOULDBLOCK.rawValue))
    case .gone: wslay_event_set_error(context, Int32(WSLAY_ERR_CALLBACK_FAILURE.rawValue))
    }
    return -1
  }

  private func receive(_ buffer: UnsafeMutableRawBufferPointer, _ context: wslay_event_context_ptr?) -> Int {
    guard early.isEmpty else {
      let count = min(early.count, buffer.count)
      buffer.copyBytes(from: early.prefix(count))
      early = early.dropFirst(count)
      return count
    }
    return Self.result(connection.read(buffer), context)
  }
}
