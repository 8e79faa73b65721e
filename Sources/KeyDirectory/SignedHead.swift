public import KeyLog
public import Model

/// What the log was at a moment, with the log's word for it.
public struct SignedHead: Equatable, Sendable {
  /// Leaves.
  public let size: Int
  public let root: MerkleHash
  /// When it was signed, by the server's clock.
  public let time: WallTime
  /// By ECDSA P-256 with SHA-256, over `message`: r and s, 32 bytes each.
  public let signature: [UInt8]

  /// The bytes that are signed, 64 of them; docs/keys.md has the layout.
  static func message(size: Int, root: MerkleHash, time: WallTime) -> [UInt8] {
    // So that the key signs nothing else by mistake.
    var bytes = Array("roost-key-log-v1".utf8)
    bytes.append(bigEndian: UInt64(truncatingIfNeeded: size))
    bytes.append(bigEndian: UInt64(bitPattern: time.milliseconds))
    return bytes + root.bytes
  }
}
