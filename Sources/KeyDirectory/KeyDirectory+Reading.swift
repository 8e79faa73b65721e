public import KeyLog
public import Model
public import Storage

extension KeyDirectory {
  /// The keys that a person's devices have.
  /// - Parameters:
  ///   - head: the size of a head that the reader has, to be shown that the log follows it.
  ///   - time: by the server's clock; it becomes part of the head.
  /// - Returns: `noSuchHead` of a size that the log has never had.
  public func currentKeys(
    of person: String, from head: Int? = nil, at time: WallTime, in transaction: borrowing Transaction
  ) throws(StoreError) -> Result<KeyAnswer, KeyRefusal> {
    var tree = try StoredTree.read(in: transaction)
    if let head, head < 0 || head > tree.size {
      return .failure(.noSuchHead(asked: head, size: tree.size))
    }
    let owner = try KeyRows.owner(person, in: transaction)
    var entries: [KeyEntry] = []
    if let owner { entries = try KeyRows.current(of: owner, in: transaction) }
    let proofs = try tree.proofs(of: entries, from: head, in: transaction)
    return .success(
      KeyAnswer(
        salt: owner?.salt, keys: Self.proven(entries, proofs),
        head: try sign(tree, root: proofs.root, at: time), consistency: head == nil ? nil : proofs.consistency
      ))
  }

  /// All entries of a person, the newest first, so that it sees those that it hasn't made.
  /// - Parameters:
  ///   - leaf: what `next` of the page before says; nil: the newest.
  ///   - limit: entries, at most `KeyBounds.page`.
  public func history(
    of person: String, before leaf: Int? = nil, limit: Int = 50, at time: WallTime,
    in transaction: borrowing Transaction
  ) throws(StoreError) -> KeyHistory {
    var tree = try StoredTree.read(in: transaction)
    let owner = try KeyRows.owner(person, in: transaction)
    let count = min(max(limit, 1), KeyBounds.page)
    var entries: [KeyEntry] = []
    if let owner {
      entries = try KeyRows.all(
        of: owner, before: leaf ?? tree.size, limit: count + 1, in: transaction)
    }
    let isLast = entries.count <= count
    entries = Array(entries.prefix(count))
    let proofs = try tree.proofs(of: entries, in: transaction)
    return KeyHistory(
      salt: owner?.salt, entries: Self.proven(entries, proofs),
      next: isLast ? nil : entries.last?.leaf, head: try sign(tree, root: proofs.root, at: time))
  }

  private static func proven(_ entries: [KeyEntry], _ proofs: StoredTree.Proofs) -> [ProvenEntry] {
    zip(entries, proofs.paths).map { ProvenEntry($0, path: $1) }
  }

  /// What the log is now.
  public func head(
    at time: WallTime, in transaction: borrowing Transaction
  ) throws(StoreError) -> SignedHead {
    var tree = try StoredTree.read(in: transaction)
    let proofs = try tree.proofs(in: transaction)
    return try sign(tree, root: proofs.root, at: time)
  }

  /// What shows that the log of one size follows that of another (RFC 6962 §2.1.2); nothing where the first has no leaf, or both are
  /// one.
  /// - Returns: `noSuchHead` of a size that the log has never had, and of a first one that is beyond the second.
  public func consistency(
    from old: Int, to new: Int, in transaction: borrowing Transaction
  ) throws(StoreError) -> Result<[MerkleHash], KeyRefusal> {
    let tree = try StoredTree.read(in: transaction)
    guard var then = tree.before(new) else { return .failure(.noSuchHead(asked: new, size: tree.size)) }
    guard old >= 0, old <= new else { return .failure(.noSuchHead(asked: old, size: new)) }
    return .success(try then.proofs(from: old, in: transaction).consistency)
  }

  // MARK: - What others ask in their own transactions

  /// Whether the log grows by it if this is a device's key from now on: who bounds how often someone appends asks before.
  /// - Parameter key: nil: the device has none any more.
  public func grows(
    by key: DeviceKey?, of person: String, device: String, in transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    var last: KeyEntry?
    if let owner = try KeyRows.owner(person, in: transaction) {
      last = try KeyRows.last(of: device, of: owner, in: transaction)
    }
    // Without a key the first time is none: what there never was can't be revoked.
    return last?.key != key
  }

  /// Whether what was wrapped for a key can be unwrapped by the device's key of now.
  public func isCurrent(
    _ id: KeyID, of person: String, device: String, in transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    try KeyRows.currentID(of: device, of: person, in: transaction) == id
  }

  /// The keys that a person's devices have, by their ids alone; none: the person has no key.
  public func currentKeyIDs(
    of person: String, in transaction: borrowing Transaction
  ) throws(StoreError) -> [DeviceKeyID] {
    try KeyRows.currentIDs(of: person, in: transaction)
  }
}
