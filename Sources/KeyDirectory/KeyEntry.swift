public import KeyLog
public import Model

/// An entry of the log: from then on a device has this key, or none.
public struct KeyEntry: Equatable, Sendable {
  public let id: KeyID
  /// Its place in the log, from 0.
  public let leaf: Int
  public let device: String
  /// nil: the device's key is revoked.
  public let key: DeviceKey?
  /// By the server's clock, which may have been set back: places say what came first.
  public let time: WallTime

  init(leaf: Int, device: String, key: DeviceKey?, time: WallTime, of owner: KeyOwner) {
    id = KeyID(MerkleHash(leaf: Self.leafBytes(of: owner, device: device, key: key, time: time)))
    self.leaf = leaf
    self.device = device
    self.key = key
    self.time = time
  }

  /// What the tree has the hash of; docs/keys.md has the layout.
  static func leafBytes(of owner: KeyOwner, device: String, key: DeviceKey?, time: WallTime) -> [UInt8] {
    var bytes: [UInt8] = [1, key == nil ? 2 : 1]
    bytes.append(bigEndian: UInt64(bitPattern: time.milliseconds))
    bytes += owner.hash(of: owner.person)
    bytes += owner.hash(of: device)
    bytes.append(key?.algorithm.rawValue ?? 0)
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: key?.bytes.count ?? 0))
    return bytes + (key?.bytes ?? [])
  }
}

/// An entry with what shows that it is in the log of the head beside it.
public struct ProvenEntry: Equatable, Sendable {
  public let entry: KeyEntry
  /// From the leaf upwards (RFC 6962 §2.1.1).
  public let path: [MerkleHash]

  init(_ entry: KeyEntry, path: [MerkleHash]) {
    self.entry = entry
    self.path = path
  }
}

extension [UInt8] {
  mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
