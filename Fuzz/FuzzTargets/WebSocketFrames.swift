import Glibc
import HTTPServer
import Model

/// A client's side of a WebSocket, step by step: any bytes, frames that are nearly right, time, and what the server says
/// meanwhile. Four bytes begin a step: its kind, time, a frame's first byte, and its size in words.
///
/// Messages keep their bound, all that leaves are whole frames without a mask, and a connection ends in the end.
func fuzzWebSocketFrames(_ input: UnsafeRawBufferPointer) {
  var ends: [Int32] = [0, 0]
  guard
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0
  else { return }
  defer { for end in ends { close(end) } }
  var limits = HTTPLimits()
  limits.messageBytes = 512
  var now = Instant(nanoseconds: 0)
  guard
    let connection = WebSocketConnection(descriptor: ends[0], early: [], limits: limits, now: now)
  else { return check(false, "a connection is made") }
  let client = FrameClient(ends[1])
  var offset = 0
  while offset + 4 <= input.count, connection.phase != .gone {
    let (kind, time, head) = (input[offset], input[offset + 1], input[offset + 2])
    let size = min(Int(input[offset + 3]) * 4, input.count - offset - 4)
    let bytes = Array(input[offset + 4..<offset + 4 + size])
    offset += 4 + size
    now = now + .milliseconds(Int(time) * 200)
    connection.expire(now: now)
    switch kind & 7 {
    case 0, 1, 2, 3: client.write(FrameClient.frame(head, bytes))
    case 4: client.write(bytes)
    case 5: connection.send(Array(String(decoding: bytes, as: UTF8.self).utf8))
    case 6: connection.close(code: 1_001, reason: String(decoding: bytes, as: UTF8.self), now: now)
    default: connection.expire(now: now)
    }
    for message in connection.read(now: now) {
      // Bytes that are no text become marks of three bytes each.
      check(message.utf8.count <= 3 * limits.messageBytes, "a message has its bound")
    }
    connection.flush(now: now)
    client.read()
    _ = connection.takeDone()
  }
  // Silent from here on.
  for _ in 0..<8 where connection.phase != .gone {
    now = max(now, connection.deadline)
    connection.expire(now: now)
    _ = connection.read(now: now)
    connection.flush(now: now)
    client.read()
  }
  check(connection.phase == .gone, "a silent client is given up")
  client.finish()
}

private final class FrameClient {
  private let descriptor: Int32
  private var heard: [UInt8] = []

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// A client's frame, masked with zeros (RFC 6455 §5.2).
  static func frame(_ head: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let count = payload.count
    let size: [UInt8] =
      count < 126 ? [0x80 | UInt8(count)] : [0x80 | 126, UInt8(count >> 8), UInt8(count & 255)]
    return [head] + size + [0, 0, 0, 0] + payload
  }

  func write(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  func read() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      heard += buffer[..<count]
    }
  }

  /// What was heard is whole frames, the last but for its end where the connection was cut.
  func finish() {
    var offset = 0
    var isClosed = false
    while offset + 2 <= heard.count {
      check(!isClosed, "nothing follows a close")
      let (head, size) = (heard[offset], Int(heard[offset + 1]))
      check(size < 128, "a server masks nothing")
      check([0x81, 0x88, 0x89, 0x8A].contains(head), "frames are texts and controls")
      check(head == 0x81 || size < 126, "controls are short")
      isClosed = head == 0x88
      guard size >= 126 else {
        offset += 2 + size
        continue
      }
      guard size == 126, offset + 4 <= heard.count else { return check(size == 126, "texts here are short") }
      offset += 4 + (Int(heard[offset + 2]) << 8 | Int(heard[offset + 3]))
    }
  }
}
