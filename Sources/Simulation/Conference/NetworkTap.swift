internal import Model

/// Listens where the server's cable is: what any stranger could see of what goes in and out, and what must hold
/// of it.
struct NetworkTap {
  private struct Remote {
    var isValidated = false
    var received = 0
    var sent = 0
  }

  private var remotes: [SocketAddress: Remote] = [:]

  /// A datagram reached the server.
  mutating func noteArrival(_ bytes: [UInt8], from remote: SocketAddress) {
    remotes[remote, default: Remote()].received += bytes.count
    // A Binding success response: this address has answered a check of the server's (RFC 8489 §5).
    if bytes.count >= 20, bytes[0] == 0x01, bytes[1] == 0x01 { remotes[remote]?.isValidated = true }
  }

  func isValidated(_ remote: SocketAddress) -> Bool { remotes[remote]?.isValidated ?? false }

  /// The server sends a datagram.
  /// - Returns: what is wrong with that.
  mutating func noteDeparture(_ bytes: [UInt8], to remote: SocketAddress) -> String? {
    guard remotes[remote]?.isValidated != true else { return nil }
    remotes[remote, default: Remote()].sent += bytes.count
    guard let entry = remotes[remote] else { return nil }
    guard let first = bytes.first, first <= 3 else {
      return "\(bytes.count) bytes that are not STUN go to \(remote), which answered no check"
    }
    guard entry.sent <= 3 * entry.received else {
      return "\(entry.sent) bytes go to \(remote), which sent \(entry.received) and answered no check"
    }
    return nil
  }

  /// 64 bits that two different datagrams hardly share.
  static func fingerprint(_ bytes: [UInt8]) -> UInt64 {
    bytes.withUnsafeBytes { buffer in
      var hash = UInt64(buffer.count) &* 0x9E37_79B9_7F4A_7C15
      var offset = 0
      while offset + 8 <= buffer.count {
        let word = buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        hash ^= hash >> 32
        offset += 8
      }
      while offset < buffer.count {
        hash = (hash ^ UInt64(buffer[offset])) &* 0x100_0000_01B3
        offset += 1
      }
      return hash ^ hash >> 29
    }
  }
}
