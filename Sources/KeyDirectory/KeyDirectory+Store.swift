public import KeyLog
public import Model
public import Storage

/// The same by itself: each returns once it is on the disk.
extension KeyDirectory {
  public func append(
    _ key: DeviceKey, of person: String, device: String, at time: WallTime
  ) async throws(StoreError) -> Result<KeyReceipt, KeyRefusal> {
    try await store.write(bytes: 512 + key.bytes.count) { transaction throws(StoreError) in
      try append(key, of: person, device: device, at: time, in: transaction)
    }
  }

  public func revoke(
    device: String, of person: String, at time: WallTime
  ) async throws(StoreError) -> Result<KeyReceipt, KeyRefusal> {
    try await store.write(bytes: 512) { transaction throws(StoreError) in
      try revoke(device: device, of: person, at: time, in: transaction)
    }
  }

  public func currentKeys(
    of person: String, from head: Int? = nil, at time: WallTime
  ) async throws(StoreError) -> Result<KeyAnswer, KeyRefusal> {
    try await store.read { transaction throws(StoreError) in
      try currentKeys(of: person, from: head, at: time, in: transaction)
    }
  }

  public func history(
    of person: String, before leaf: Int? = nil, limit: Int = 50, at time: WallTime
  ) async throws(StoreError) -> KeyHistory {
    try await store.read { transaction throws(StoreError) in
      try history(of: person, before: leaf, limit: limit, at: time, in: transaction)
    }
  }

  public func head(at time: WallTime) async throws(StoreError) -> SignedHead {
    try await store.read { transaction throws(StoreError) in try head(at: time, in: transaction) }
  }

  public func consistency(
    from old: Int, to new: Int
  ) async throws(StoreError) -> Result<[MerkleHash], KeyRefusal> {
    try await store.read { transaction throws(StoreError) in
      try consistency(from: old, to: new, in: transaction)
    }
  }

  public func isCurrent(_ id: KeyID, of person: String, device: String) async throws(StoreError) -> Bool {
    try await store.read { transaction throws(StoreError) in
      try isCurrent(id, of: person, device: device, in: transaction)
    }
  }

  public func currentKeyIDs(of person: String) async throws(StoreError) -> [DeviceKeyID] {
    try await store.read { transaction throws(StoreError) in
      try currentKeyIDs(of: person, in: transaction)
    }
  }
}
