public import KeyLog

/// What became of a key that was put or revoked.
public struct KeyReceipt: Equatable, Sendable {
  /// Under which the entry's names are hashed.
  public let salt: [UInt8]
  public let proven: ProvenEntry
  public let head: SignedHead
  /// Whether it is an entry that was made now; false: the same was asked for before, and this is the entry of then.
  public let isNew: Bool
}

/// The keys that a person's devices have now.
public struct KeyAnswer: Equatable, Sendable {
  /// nil: the person has never had a key, or was erased.
  public let salt: [UInt8]?
  /// One of each device that has one, in the order in which they came.
  public let keys: [ProvenEntry]
  public let head: SignedHead
  /// What shows that the log is the one whose head was named (RFC 6962 §2.1.2); nil: none was.
  public let consistency: [MerkleHash]?
}

/// A page of all entries of a person, the newest first.
public struct KeyHistory: Equatable, Sendable {
  /// nil: there is no entry.
  public let salt: [UInt8]?
  public let entries: [ProvenEntry]
  /// Before which leaf the next page begins; nil: this is the last.
  public let next: Int?
  public let head: SignedHead
}

/// The key of a device, by its id alone.
public struct DeviceKeyID: Equatable, Sendable {
  public let device: String
  public let id: KeyID
}
