import Glibc
import Model

/// A blocking client on a plain socket, so that a test decides about every byte and pause.
final class TestClient {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// What bytes go through after the handshake; nil: they go in clear.
  private(set) var tls: TestTLS?

  init(_ address: SocketAddress, receiveBuffer: Int32? = nil, tls: Bool = false) throws {
    let family = address.isIPv4 ? AF_INET : AF_INET6
    descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    wait(.seconds(8))
    if var receiveBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4) }
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.storeBytes(of: UInt16(family), as: UInt16.self)
      bytes.storeBytes(of: address.port.bigEndian, toByteOffset: 2, as: UInt16.self)
      if address.isIPv4 {
        bytes.storeBytes(of: address.ipv4.bigEndian, toByteOffset: 4, as: UInt32.self)
      } else {
        bytes.storeBytes(of: address.low.bigEndian, toByteOffset: 16, as: UInt64.self)
      }
    }
    let result = withUnsafePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    }
    guard result == 0 else { throw ClientError.refused(errno) }
    if tls { try startTLS() }
  }

  func startTLS(_ version: Int32? = nil) throws { tls = try TestTLS(descriptor, version: version) }

  deinit { Glibc.close(descriptor) }

  enum ClientError: Error {
    case refused(Int32)
    case ended, timedOut
  }

  struct Answer {
    var status: Int
    var head: String
    var body: String
  }

  func send(_ text: String) { send(Array(text.utf8)) }
  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        tls?.write($0) ?? Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Ends with a reset rather than in order.
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// - Parameter head: whether it answers HEAD. Field names are given in lower case.
  func answer(head: Bool = false) throws -> Answer {
    var text = ""
    while !text.hasSuffix("\r\n\r\n") { text += String(decoding: try read(1), as: UTF8.self) }
    text = text.split(separator: "\r\n", omittingEmptySubsequences: false).map { line in
      let name = line.prefix { $0 != ":" }
      return name.count < line.count ? name.lowercased() + line.dropFirst(name.count) : String(line)
    }.joined(separator: "\r\n")
    let status = Int(text.dropFirst(9).prefix(3)) ?? 0
    let length = text.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
    let size = head ? 0 : length.flatMap { Int($0.dropFirst(16)) } ?? 0
    return Answer(status: status, head: text, body: String(decoding: try read(size), as: UTF8.self))
  }

  private func wait(_ time: Duration) {
    let (seconds, attoseconds) = time.components
    var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Says that nothing more will be sent.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Whether the far end has closed; whatever came before is thrown away.
  func isClosed(within time: Duration = .seconds(8)) -> Bool {
    wait(time)
    defer { wait(.seconds(8)) }
    do {
      while true { _ = try read(1) }
    } catch ClientError.ended {
      return true
    } catch {
      return false
    }
  }

  /// All that still comes until the far end closes.
  func readToEnd() throws -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      while true { bytes += try read(1) }
    } catch ClientError.ended {
      return bytes
    }
  }

  func frame() throws -> (opcode: UInt8, payload: [UInt8]) {
    let head = try read(2)
    var size = Int(head[1])
    if size >= 126 { size = try read(size == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
    return (head[0] & 15, try read(size))
  }

  static let webSocketFields =
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

  /// A WebSocket's handshake (RFC 6455 §4.1).
  static func handshake(_ path: String, subprotocol: String? = "roost.v1") -> String {
    "GET \(path) HTTP/1.1\r\nHost: h\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
      + webSocketFields + (subprotocol.map { "Sec-WebSocket-Protocol: other, \($0)\r\n" } ?? "") + "\r\n"
  }

  func open(_ path: String, subprotocol: String? = "roost.v1") throws -> Answer {
    send(Self.handshake(path, subprotocol: subprotocol))
    return try answer()
  }

  /// The next message of text, whatever comes before it.
  func text() throws -> String {
    while true {
      let frame = try frame()
      if frame.opcode == 1 { return String(decoding: frame.payload, as: UTF8.self) }
    }
  }

  /// The code of a close frame, 1005 if it has none; whatever comes before it is thrown away.
  func closeCode() throws -> Int {
    while true {
      let frame = try frame()
      guard frame.opcode == 8 else { continue }
      return frame.payload.count < 2 ? 1005 : Int(frame.payload[0]) << 8 | Int(frame.payload[1])
    }
  }

  func read(_ size: Int) throws -> [UInt8] {
    while buffer.count < size {
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = tls?.read(&chunk) ?? recv(descriptor, &chunk, chunk.count, 0)
      if count < 0, errno == EAGAIN { throw ClientError.timedOut }
      guard count > 0 else { throw ClientError.ended }
      buffer += chunk[..<count]
    }
    defer { buffer.removeFirst(size) }
    return Array(buffer[..<size])
  }

  /// What there is, thrown away.
  /// - Returns: how many bytes; 0 at the end.
  func readSome(_ limit: Int) throws -> Int {
    var chunk = [UInt8](repeating: 0, count: limit)
    let count = recv(descriptor, &chunk, limit, 0)
    if count < 0 { throw errno == EAGAIN ? ClientError.timedOut : ClientError.ended }
    return count
  }
}

/// Whether it becomes true within three seconds.
func waitUntil(_ condition: () -> Bool) -> Bool {
  for _ in 0..<300 {
    if condition() { return true }
    usleep(10_000)
  }
  return condition()
}

/// Runs blocking code on a thread of its own, so that the handlers' threads stay free.
func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    let box = Unmanaged.passRetained(Job { continuation.resume(with: Result(catching: body)) })
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      {
        if let job = $0 { Unmanaged<Job>.fromOpaque(job).takeRetainedValue().run() }
        return nil
      }, box.toOpaque())
    pthread_detach(thread)
  }
}

private final class Job {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}

/// A client's frame (RFC 6455 §5.2).
func clientFrame(_ opcode: UInt8, _ payload: [UInt8], final: Bool = true, mask: Bool = true) -> [UInt8] {
  let flag: UInt8 = mask ? 0x80 : 0
  var bytes: [UInt8] = [(final ? 0x80 : 0) | opcode]
  switch payload.count {
  case ..<126: bytes.append(flag | UInt8(payload.count))
  case ...0xFFFF: bytes += [flag | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
  default:
    bytes.append(flag | 127)
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
  }
  guard mask else { return bytes + payload }
  let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
  return bytes + key + payload.enumerated().map { $1 ^ key[$0 & 3] }
}
