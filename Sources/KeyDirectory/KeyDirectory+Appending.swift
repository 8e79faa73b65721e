public import Model
public import Storage

extension KeyDirectory {
  /// Appends a key, which is its device's from then on, in place of an earlier one.
  ///
  /// The same once more is answered with the entry of then, whenever that was, as long as the key holds. How often a person appends is
  /// for the caller to bound: what is in the log stays.
  /// - Parameters:
  ///   - person: whose device it is, byte for byte; the caller has made sure of that.
  ///   - time: by the server's clock; it becomes part of the entry and of the head.
  /// - Returns: `badName`, `tooManyDevices` or `logFull` where it isn't done. What is returned is true once the transaction is committed.
  public func append(
    _ key: DeviceKey, of person: String, device: String, at time: WallTime,
    in transaction: borrowing Transaction
  ) throws(StoreError) -> Result<KeyReceipt, KeyRefusal> {
    guard Self.isName(person), Self.isName(device) else { return .failure(.badName) }
    let tree = try StoredTree.read(in: transaction)
    let known = try KeyRows.owner(person, in: transaction)
    if let known {
      let current = try KeyRows.current(of: known, in: transaction)
      #if PLANTED_DEFECTS
        let most = PlantedDefect.isOn(.devicesUnbounded) ? Int.max : KeyBounds.devices
      #else
        let most = KeyBounds.devices
      #endif
      if let entry = current.first(where: { $0.device.isExactly(device) }) {
        if entry.key == key { return .success(try receipt(entry, known, tree, at: time, in: transaction)) }
      } else if current.count >= most {
        return .failure(.tooManyDevices)
      }
    }
    guard !tree.isFull else { return .failure(.logFull) }
    let owner = known ?? KeyOwner(new: person)
    if known == nil { try KeyRows.add(owner, in: transaction) }
    return .success(try add(key, owner, device, tree, at: time, in: transaction))
  }

  /// Appends that a device has no key any more.
  ///
  /// The same once more is answered with the entry of then.
  /// - Returns: `unknownDevice` or `logFull` where it isn't done.
  public func revoke(
    device: String, of person: String, at time: WallTime, in transaction: borrowing Transaction
  ) throws(StoreError) -> Result<KeyReceipt, KeyRefusal> {
    guard let owner = try KeyRows.owner(person, in: transaction),
      let last = try KeyRows.last(of: device, of: owner, in: transaction)
    else { return .failure(.unknownDevice) }
    let tree = try StoredTree.read(in: transaction)
    guard last.key != nil else {
      return .success(try receipt(last, owner, tree, at: time, in: transaction))
    }
    guard !tree.isFull else { return .failure(.logFull) }
    return .success(try add(nil, owner, device, tree, at: time, in: transaction))
  }

  /// Deletes the salt of a person: nothing of it is given out from now on, and `eraseEntries` deletes its names and its keys. What is left
  /// then is hashes from which no one without the salt learns anything, so that every proof of others holds as before. Until that is done
  /// no key of the person may be appended, by which the entries would be found again; one that is appended later is another person's to
  /// the log.
  /// - Returns: whether there was anything to delete.
  public func beginErasing(_ person: String, in transaction: borrowing Transaction) throws(StoreError) -> Bool
  {
    try KeyRows.hide(person, in: transaction)
  }

  /// Deletes some of the entries of a person whose erasure has begun.
  /// - Returns: how many; fewer than `limit`: there are no more.
  public func eraseEntries(
    of person: String, limit: Int, in transaction: borrowing Transaction
  ) throws(StoreError) -> Int {
    try KeyRows.eraseEntries(of: person, limit: limit, in: transaction)
  }

  private static func isName(_ name: String) -> Bool { (1...KeyBounds.nameBytes).contains(name.utf8.count) }

  private func add(
    _ key: DeviceKey?, _ owner: KeyOwner, _ device: String, _ tree: StoredTree, at time: WallTime,
    in transaction: borrowing Transaction
  ) throws(StoreError) -> KeyReceipt {
    let entry = KeyEntry(leaf: tree.size, device: device, key: key, time: time, of: owner)
    var grown = tree
    try grown.append(entry.id.hash, in: transaction)
    try KeyRows.add(entry, of: owner, in: transaction)
    return try receipt(entry, owner, grown, isNew: true, at: time, in: transaction)
  }

  private func receipt(
    _ entry: KeyEntry, _ owner: KeyOwner, _ tree: StoredTree, isNew: Bool = false, at time: WallTime,
    in transaction: borrowing Transaction
  ) throws(StoreError) -> KeyReceipt {
    var tree = tree
    let proofs = try tree.proofs(of: [entry], in: transaction)
    return KeyReceipt(
      salt: owner.salt, proven: ProvenEntry(entry, path: proofs.paths[0]),
      head: try sign(tree, root: proofs.root, at: time), isNew: isNew)
  }
}
