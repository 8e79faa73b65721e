internal import KeyLog
internal import Model
internal import Storage

/// Whose keys the log has, on the store's thread. A row that none of ours can be is unreadable, which is of one
/// write or read alone.
enum KeyRows {
  // MARK: - People

  static func owner(_ person: String, in transaction: borrowing Transaction) throws(StoreError) -> KeyOwner? {
    let rows = try transaction.run("SELECT salt FROM key_people WHERE person = $1", [.bytes(of: person)])
    guard let row = rows.first else { return nil }
    let salt = try row.bytes(0)
    guard salt.count == KeyOwner.saltSize else {
      throw .unreadable("a salt of the log of keys has \(salt.count) bytes")
    }
    return KeyOwner(person: person, salt: salt)
  }

  static func add(_ owner: KeyOwner, in transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run(
      "INSERT INTO key_people (person, salt) VALUES ($1, $2)", [.bytes(of: owner.person), .bytes(owner.salt)])
  }

  /// Takes away the salt of a person, without which none of its entries is found.
  /// - Returns: whether there was one.
  static func hide(_ person: String, in transaction: borrowing Transaction) throws(StoreError) -> Bool {
    let name: [SQLValue] = [.bytes(of: person)]
    let isKnown = try !transaction.run("SELECT 1 FROM key_people WHERE person = $1", name).isEmpty
    try transaction.run("DELETE FROM current_keys WHERE person = $1", name)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.saltKept) { return isKnown }
    #endif
    try transaction.run("DELETE FROM key_people WHERE person = $1", name)
    return isKnown
  }

  /// Deletes entries of a person, the oldest first, some at a time.
  /// - Returns: how many they were.
  static func eraseEntries(
    of person: String, limit: Int, in transaction: borrowing Transaction
  ) throws(StoreError) -> Int {
    let rows = try transaction.run(
      "SELECT leaf FROM key_entries WHERE person = $1 ORDER BY leaf LIMIT $2",
      [.bytes(of: person), .integer(limit)])
    guard let last = try rows.last?.integer(0) else { return 0 }
    try transaction.run(
      "DELETE FROM key_entries WHERE person = $1 AND leaf <= $2", [.bytes(of: person), .integer(last)])
    return rows.count
  }

  // MARK: - Entries

  static func add(
    _ entry: KeyEntry, of owner: KeyOwner, in transaction: borrowing Transaction
  ) throws(StoreError) {
    let names: [SQLValue] = [.bytes(of: owner.person), .bytes(of: entry.device)]
    try transaction.run(
      """
      INSERT INTO key_entries (person, device, leaf, algorithm, public_key, time)
      VALUES ($1, $2, $3, $4, $5, $6)
      """,
      names + [
        .integer(entry.leaf), .integer(Int(entry.key?.algorithm.rawValue ?? 0)),
        .bytes(entry.key?.bytes ?? []), .integer(entry.time.milliseconds),
      ])
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.revokedCurrent), entry.key == nil { return }
    #endif
    guard entry.key != nil else {
      try transaction.run("DELETE FROM current_keys WHERE person = $1 AND device = $2", names)
      return
    }
    try transaction.run(
      """
      INSERT INTO current_keys (person, device, leaf) VALUES ($1, $2, $3)
      ON CONFLICT (person, device) DO UPDATE SET leaf = excluded.leaf
      """, names + [.integer(entry.leaf)])
  }

  /// The entries that hold, in their order.
  static func current(
    of owner: KeyOwner, in transaction: borrowing Transaction
  ) throws(StoreError) -> [KeyEntry] {
    let rows = try transaction.run(
      """
      SELECT key_entries.leaf, key_entries.device, algorithm, public_key, time FROM current_keys
      LEFT JOIN key_entries ON key_entries.leaf = current_keys.leaf
        AND key_entries.person = current_keys.person AND key_entries.device = current_keys.device
      WHERE current_keys.person = $1 ORDER BY current_keys.leaf LIMIT $2
      """, [.bytes(of: owner.person), .integer(KeyBounds.devices + 1)])
    try check(rows)
    return try rows.map { row throws(StoreError) in try entry(row, of: owner) }
  }

  /// The newest of a device.
  static func last(
    of device: String, of owner: KeyOwner, in transaction: borrowing Transaction
  ) throws(StoreError) -> KeyEntry? {
    let rows = try transaction.run(
      """
      SELECT leaf, device, algorithm, public_key, time FROM key_entries
      WHERE person = $1 AND device = $2 ORDER BY leaf DESC LIMIT 1
      """, [.bytes(of: owner.person), .bytes(of: device)])
    return try rows.first.map { row throws(StoreError) in try entry(row, of: owner) }
  }

  /// All, the newest first.
  /// - Parameter leaf: those before it.
  static func all(
    of owner: KeyOwner, before leaf: Int, limit: Int, in transaction: borrowing Transaction
  ) throws(StoreError) -> [KeyEntry] {
    let rows = try transaction.run(
      """
      SELECT leaf, device, algorithm, public_key, time FROM key_entries
      WHERE person = $1 AND leaf < $2 ORDER BY leaf DESC LIMIT $3
      """, [.bytes(of: owner.person), .integer(leaf), .integer(limit)])
    return try rows.map { row throws(StoreError) in try entry(row, of: owner) }
  }

  private static func entry(_ row: SQLRow, of owner: KeyOwner) throws(StoreError) -> KeyEntry {
    let (leaf, number, bytes) = (try row.integer(0), try row.integer(2), try row.bytes(3))
    guard leaf >= 0, leaf < Int64(MerkleTree.mostLeaves) else {
      throw .unreadable("the log of keys has no place \(leaf)")
    }
    var key: DeviceKey?
    if number != 0 || !bytes.isEmpty {
      guard let algorithm = UInt8(exactly: number).flatMap(KeyAlgorithm.init(rawValue:)),
        (1...DeviceKey.mostBytes).contains(bytes.count)
      else { throw .unreadable("the entry \(leaf) of the log of keys is no key") }
      key = DeviceKey(stored: algorithm, bytes)
    }
    return KeyEntry(
      leaf: Int(leaf), device: try row.string(1), key: key,
      time: WallTime(milliseconds: try row.integer(4)), of: owner)
  }

  // MARK: - Ids

  /// Of the keys that hold, in the order of their entries.
  static func currentIDs(
    of person: String, in transaction: borrowing Transaction
  ) throws(StoreError) -> [DeviceKeyID] {
    let rows = try transaction.run(
      """
      SELECT device, hash FROM current_keys LEFT JOIN key_nodes ON key_nodes.node = current_keys.leaf * 2
      WHERE person = $1 ORDER BY leaf LIMIT $2
      """, [.bytes(of: person), .integer(KeyBounds.devices + 1)])
    try check(rows)
    return try rows.map { row throws(StoreError) in
      DeviceKeyID(device: try row.string(0), id: try id(row, 1))
    }
  }

  static func currentID(
    of device: String, of person: String, in transaction: borrowing Transaction
  ) throws(StoreError) -> KeyID? {
    let rows = try transaction.run(
      """
      SELECT hash FROM current_keys LEFT JOIN key_nodes ON key_nodes.node = current_keys.leaf * 2
      WHERE person = $1 AND device = $2
      """, [.bytes(of: person), .bytes(of: device)])
    return try rows.first.map { row throws(StoreError) in try id(row, 0) }
  }

  private static func id(_ row: SQLRow, _ column: Int) throws(StoreError) -> KeyID {
    guard let hash = MerkleHash(try row.bytes(column)) else {
      throw .unreadable("the log of keys has a hash that is none")
    }
    return KeyID(hash)
  }

  /// That there are no more than one can have: what others have written is not answered without end.
  private static func check(_ rows: [SQLRow]) throws(StoreError) {
    guard rows.count <= KeyBounds.devices else {
      throw .unreadable("a person has keys for more than \(KeyBounds.devices) devices")
    }
  }
}
