internal import Crypto
internal import Model
internal import SyntheticPeers

/// One number for everything that was ever sent and said, and when: two runs of a seed that differ in a bit differ in it.
struct Digest: ~Copyable {
  private var code = HMAC(.sha256, key: Array("roost-simulate".utf8))

  init() { code.begin() }

  mutating func add(_ bytes: [UInt8], path: NetworkPath, now: Instant) {
    var head = (
      now.nanoseconds.bigEndian, path.remote.low.bigEndian, path.local.low.bigEndian,
      (UInt64(path.remote.port) << 48 | UInt64(path.local.port) << 32 | UInt64(bytes.count)).bigEndian
    )
    withUnsafeBytes(of: &head) { code.update($0) }
    bytes.withUnsafeBytes { code.update($0) }
  }

  /// What was said on a socket.
  mutating func add(_ text: String, socket: Int, now: Instant) {
    var head = (now.nanoseconds.bigEndian, UInt64(socket).bigEndian, UInt64(text.utf8.count).bigEndian)
    withUnsafeBytes(of: &head) { code.update($0) }
    var text = text
    text.withUTF8 { code.update(UnsafeRawBufferPointer($0)) }
  }

  /// In hexadecimal.
  mutating func finish() -> String {
    var result = [UInt8](repeating: 0, count: 32)
    result.withUnsafeMutableBytes { code.finish(into: $0) }
    return result.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
