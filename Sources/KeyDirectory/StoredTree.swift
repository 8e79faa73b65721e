internal import KeyLog
internal import Storage

#if PLANTED_DEFECTS
  internal import Model
#endif

/// The log's tree as the store has it, for the length of a transaction.
///
/// What a proof needs is asked for at once: with PostgreSQL each statement is a way there and back.
struct StoredTree {
  struct Proofs {
    let root: MerkleHash
    /// Of each entry.
    let paths: [[MerkleHash]]
    let consistency: [MerkleHash]
  }

  private(set) var tree: MerkleTree
  /// Those that were read or made.
  private var known: [MerkleNode: MerkleHash] = [:]

  private init(_ tree: MerkleTree) { self.tree = tree }

  static func read(in transaction: borrowing Transaction) throws(StoreError) -> StoredTree {
    guard let row = try transaction.run("SELECT size FROM key_log WHERE one = 1").first else {
      throw .unreadable("there is no log of keys")
    }
    let size = try row.integer(0)
    guard let tree = MerkleTree(size: Int(size)) else {
      throw .unreadable("the log of keys can't have \(size) leaves")
    }
    return StoredTree(tree)
  }

  /// As it was when it had fewer leaves.
  /// - Returns: nil: it never had as many.
  func before(_ size: Int) -> StoredTree? {
    guard size <= tree.size, let old = MerkleTree(size: size) else { return nil }
    return StoredTree(old)
  }

  var size: Int { tree.size }
  var isFull: Bool { tree.size >= MerkleTree.mostLeaves }

  // MARK: - Appending

  /// Appends a leaf where it isn't full.
  mutating func append(_ leaf: MerkleHash, in transaction: borrowing Transaction) throws(StoreError) {
    var wanted: Set<MerkleNode> = []
    var trial = tree
    _ = trial.append(leaf) { node in
      wanted.insert(node)
      return leaf
    }
    try load(wanted, in: transaction)
    var grown = tree
    guard let new = try grown.append(leaf, read: hash(of:)) else { throw .failed("the log of keys is full") }
    try transaction.run(
      "INSERT INTO key_nodes (node, hash) VALUES ($1, $2)",
      each: new.map { [.integer(Self.number(of: $0.node)), .bytes($0.hash.bytes)] })
    try transaction.run("UPDATE key_log SET size = $1 WHERE one = 1", [.integer(grown.size)])
    tree = grown
    for (node, hash) in new { known[node] = hash }
  }

  // MARK: - Proving

  /// The root, the paths of entries, and what shows that it follows the tree of its first leaves.
  /// - Parameter old: leaves; nil: all, of which there is nothing to show.
  mutating func proofs(
    of entries: [KeyEntry] = [], from old: Int? = nil, in transaction: borrowing Transaction
  ) throws(StoreError) -> Proofs {
    let leaves = entries.map(\.leaf)
    guard leaves.allSatisfy({ $0 < tree.size }) else {
      throw .unreadable("an entry lies beyond the end of the log of keys")
    }
    var wanted = Set(leaves.map { MerkleNode(level: 0, index: $0) })
    _ = made(of: leaves, from: old ?? tree.size) { node in
      wanted.insert(node)
      return .empty
    }
    try load(wanted, in: transaction)
    for entry in entries {
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.leafUnchecked) { continue }
      #endif
      let leaf = try hash(of: MerkleNode(level: 0, index: entry.leaf))
      guard leaf == entry.id.hash else {
        throw .unreadable("the entry \(entry.leaf) of the log of keys isn't what the tree has there")
      }
    }
    guard let proofs = try made(of: leaves, from: old ?? tree.size, read: hash(of:)) else {
      throw .failed("the log of keys has no proof from \(old ?? tree.size) of \(tree.size) leaves")
    }
    return proofs
  }

  private func made<Failure: Error>(
    of leaves: [Int], from old: Int, read: (MerkleNode) throws(Failure) -> MerkleHash
  ) throws(Failure) -> Proofs? {
    var paths: [[MerkleHash]] = []
    for leaf in leaves {
      guard let path = try tree.inclusion(of: leaf, read: read) else { return nil }
      paths.append(path)
    }
    // Every tree follows the one without leaves.
    let consistency: [MerkleHash]? = old == 0 ? [] : try tree.consistency(from: old, read: read)
    guard let consistency else { return nil }
    return Proofs(root: try tree.root(read: read), paths: paths, consistency: consistency)
  }

  // MARK: - Rows

  private func hash(of node: MerkleNode) throws(StoreError) -> MerkleHash {
    guard let hash = known[node] else {
      throw .unreadable("the log of keys lacks the hash \(node.index) of level \(node.level)")
    }
    return hash
  }

  /// In order: between the numbers of what is below it to the left and to the right. So one number is a place, those of a leaf are
  /// even, and what is appended comes to lie near the end of the table.
  static func number(of node: MerkleNode) -> Int64 {
    Int64(node.index) << Int64(node.level + 1) | (Int64(1) << Int64(node.level) - 1)
  }

  private static let batch = 32
  private static let select: SQLStatement = """
    SELECT node, hash FROM key_nodes WHERE node IN (
      $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
      $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32
    )
    """

  /// Reads what isn't known of nodes, as far as the store has it.
  private mutating func load(
    _ nodes: Set<MerkleNode>, in transaction: borrowing Transaction
  ) throws(StoreError) {
    var places: [Int64: MerkleNode] = [:]
    for node in nodes where known[node] == nil { places[Self.number(of: node)] = node }
    var rest = places.keys.sorted()[...]
    while !rest.isEmpty {
      let numbers = rest.prefix(Self.batch)
      rest = rest.dropFirst(Self.batch)
      // No node has the number -1.
      let padding = Array(repeating: Int64(-1), count: Self.batch - numbers.count)
      for row in try transaction.run(Self.select, (numbers + padding).map { .integer($0) }) {
        guard let node = places[try row.integer(0)], let hash = MerkleHash(try row.bytes(1)) else {
          throw .unreadable("the log of keys has a hash that is none")
        }
        known[node] = hash
      }
    }
  }
}
