import Crypto
import ICE
import Model
import Wire

/// What the bytes of an attack tell to do, one step after the other: how to treat the message that follows, how much
/// time passes, on which path it comes, and its size in words.
struct AttackScript {
  struct Step {
    var kind: UInt8
    var time: UInt8
    var path: NetworkPath
    var message: [UInt8]
  }

  let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func next() -> Step? {
    guard offset + 4 <= bytes.count else { return nil }
    let size = min(Int(bytes[offset + 3]) * 4, bytes.count - offset - 4)
    let number = bytes[offset + 2]
    let step = Step(
      kind: bytes[offset], time: bytes[offset + 1],
      path: NetworkPath(
        remote: SocketAddress(ipv4: 192, 0, 2, number >> 2, port: 1_000 + UInt16(number >> 2)),
        local: SocketAddress(ipv4: 10, 0, 0, number & 3, port: 3_478)),
      message: Array(bytes[offset + 4..<offset + 4 + size]))
    offset += 4 + size
    return step
  }

  /// From a millisecond to minutes, so that every timer is met.
  static func span(_ time: UInt8) -> Duration { .milliseconds(Int(time & 63) << Int(time >> 6 * 4)) }
}

let ours = ICECredentials(ufrag: "a01newnewnewnew", password: "newnewnewnewnewnewnewnew")
let theirs = ICECredentials(ufrag: "far1", password: "farfarfarfarfarfarfarfar")

/// The message as one who knows the password would have sent it: cookie, length, integrity and fingerprint right.
/// - Parameter transaction: taken from another message, to be its answer.
func repaired(_ message: [UInt8], password: String, transaction: ArraySlice<UInt8>?) -> [UInt8] {
  guard message.count >= 20 else { return message }
  var bytes = message
  bytes[0] &= 0x3F
  bytes.replaceSubrange(4..<8, with: [0x21, 0x12, 0xA4, 0x42])
  if let transaction { bytes.replaceSubrange(8..<20, with: transaction) }
  func setLength(_ length: Int) {
    bytes[2] = UInt8(truncatingIfNeeded: length >> 8)
    bytes[3] = UInt8(truncatingIfNeeded: length)
  }
  setLength(bytes.count - 20 + 24)
  let code = HMAC.code(.sha1, key: Array(password.utf8), message: bytes)
  bytes += [0, 8, 0, 20] + code
  setLength(bytes.count - 20 + 8)
  let crc = bytes.withUnsafeBytes { STUNFingerprint.of($0) }
  bytes += [0x80, 0x28, 0, 4] + withUnsafeBytes(of: crc.bigEndian) { Array($0) }
  return bytes
}
