import Crypto
import KeyDirectory
import KeyLog
import Model
import TestProofs

/// What a client keeps of a log, and by which it judges every answer: the log's key, pinned, and the last head that it has taken.
///
/// It makes leaves and the bytes of heads by itself, as docs/keys.md says, and has nothing of the directory but its answers.
struct ClientMemory {
  enum Refusal: Error, Equatable {
    /// The head isn't signed by the pinned key.
    case badSignature
    /// The head has fewer leaves than one that was seen.
    case rolledBack
    /// The log isn't the one that was seen.
    case forked
    /// An entry isn't in the log of the head.
    case notIncluded
  }

  let logKey: [UInt8]
  private(set) var size = 0
  private(set) var root = MerkleHash.empty

  init(logKey: [UInt8]) { self.logKey = logKey }

  /// Takes a head, if it follows the last one.
  /// - Parameter consistency: from the last one's size.
  mutating func take(_ head: SignedHead, _ consistency: [MerkleHash]?) throws(Refusal) {
    try check(head)
    guard head.size >= size else { throw .rolledBack }
    let follows =
      if size == 0 {
        head.size > 0 || head.root == .empty
      } else if head.size == size {
        head.root == root
      } else {
        ProofVerifier.extends(
          root, oldSize: size, path: consistency ?? [], size: head.size, root: head.root)
      }
    guard follows else { throw .forked }
    (size, root) = (head.size, head.root)
  }

  func check(_ head: SignedHead) throws(Refusal) {
    var message = Array("roost-key-log-v1".utf8)
    message += Self.bigEndian(UInt64(head.size), 8)
    message += Self.bigEndian(UInt64(bitPattern: head.time.milliseconds), 8)
    message += head.root.bytes
    guard SignatureVerifier.holds(head.signature, of: message, by: logKey) else { throw .badSignature }
  }

  /// Takes an answer as a whole.
  /// - Returns: the keys, by their devices.
  @discardableResult
  mutating func take(_ answer: KeyAnswer, of person: String) throws(Refusal) -> [String: DeviceKey] {
    try take(answer.head, answer.consistency)
    var keys: [String: DeviceKey] = [:]
    for proven in answer.keys {
      try check(proven, of: person, salt: answer.salt ?? [], in: answer.head)
      keys[proven.entry.device] = proven.entry.key
    }
    return keys
  }

  /// - Parameter head: one that was taken.
  func check(
    _ proven: ProvenEntry, of person: String, salt: [UInt8], in head: SignedHead
  ) throws(Refusal) {
    let entry = proven.entry
    let leaf = MerkleHash(
      leaf: Self.leaf(device: entry.device, key: entry.key, time: entry.time, of: person, salt: salt))
    guard KeyID(leaf) == entry.id,
      ProofVerifier.includes(leaf, at: entry.leaf, path: proven.path, size: head.size, root: head.root)
    else { throw .notIncluded }
  }

  static func leaf(
    device: String, key: DeviceKey?, time: WallTime, of person: String, salt: [UInt8]
  ) -> [UInt8] {
    var bytes: [UInt8] = [1, key == nil ? 2 : 1]
    bytes += bigEndian(UInt64(bitPattern: time.milliseconds), 8)
    for name in [person, device] { bytes += SHA256.digest(salt + Array(name.utf8)) }
    switch key?.algorithm {
    case .p256: bytes.append(1)
    case .rsaOAEP256: bytes.append(2)
    case nil: bytes.append(0)
    }
    let key = key?.bytes ?? []
    bytes += bigEndian(UInt64(key.count), 2)
    return bytes + key
  }

  private static func bigEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
  }
}
