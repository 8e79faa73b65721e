import KeyLog

/// A log of as many leaves as the first byte says, and proofs of what the others name: each holds, and none for another leaf or another
/// root. They are followed here as RFC 9162 §2.1.3.2 and §2.1.4.2 say, and not by what makes them.
@Sendable func fuzzKeyLog(_ input: UnsafeRawBufferPointer) {
  guard let first = input.first, var tree = MerkleTree() else { return }
  let count = Int(first) % 96 + 1
  var nodes: [MerkleNode: MerkleHash] = [:]
  var leaves: [MerkleHash] = []
  var roots = [MerkleHash.empty]
  for place in 0..<count {
    let leaf = MerkleHash(leaf: [UInt8(place), input[place % input.count]])
    guard let new = tree.append(leaf, read: { nodes[$0] ?? .empty }) else {
      return check(false, "so few leaves have room")
    }
    for (node, hash) in new { nodes[node] = hash }
    leaves.append(leaf)
    roots.append(tree.root { nodes[$0] ?? .empty })
  }
  for place in stride(from: 1, to: min(input.count - 1, 64), by: 2) {
    let (leaf, old) = (Int(input[place]) % (count + 4), Int(input[place + 1]) % (count + 4))
    let path = tree.inclusion(of: leaf) { nodes[$0] ?? .empty }
    check((path == nil) == (leaf >= count), "what is there is proven, and what isn't is not")
    if let path {
      check(
        LogProof.root(of: leaves[leaf], at: leaf, in: count, path) == roots[count], "a path leads to the root"
      )
      let other = MerkleHash(leaf: [255, 255, 255])
      check(LogProof.root(of: other, at: leaf, in: count, path) != roots[count], "and no other leaf does")
    }
    let found = tree.consistency(from: old) { nodes[$0] ?? .empty }
    check((found == nil) == (old == 0 || old > count), "what was is proven, and what never was is not")
    guard let proof = found else { continue }
    check(LogProof.follows(proof, from: old, roots[old], to: count, roots[count]), "the log follows itself")
    if old < count {
      check(!LogProof.follows(proof, from: old, .empty, to: count, roots[count]), "and no other log")
    }
  }
}

/// How a client follows proofs.
private enum LogProof {
  /// - Returns: nil: the path is too long or too short.
  static func root(of leaf: MerkleHash, at place: Int, in size: Int, _ path: [MerkleHash]) -> MerkleHash? {
    var (first, last, hash) = (place, size - 1, leaf)
    for part in path {
      guard last > 0 else { return nil }
      if first & 1 == 1 || first == last {
        hash = MerkleHash(left: part, right: hash)
        while first & 1 == 0, first != 0 { (first, last) = (first >> 1, last >> 1) }
      } else {
        hash = MerkleHash(left: hash, right: part)
      }
      (first, last) = (first >> 1, last >> 1)
    }
    return last == 0 ? hash : nil
  }

  static func follows(
    _ proof: [MerkleHash], from old: Int, _ oldRoot: MerkleHash, to size: Int, _ root: MerkleHash
  ) -> Bool {
    guard old != size else { return proof.isEmpty && oldRoot == root }
    // The old root itself begins the path where its tree is whole.
    var path = proof[...]
    if old & (old - 1) == 0 { path = ([oldRoot] + proof)[...] }
    guard let start = path.popFirst() else { return false }
    var (first, last) = (old - 1, size - 1)
    while first & 1 == 1 { (first, last) = (first >> 1, last >> 1) }
    var (before, after) = (start, start)
    for part in path {
      guard last > 0 else { return false }
      if first & 1 == 1 || first == last {
        before = MerkleHash(left: part, right: before)
        after = MerkleHash(left: part, right: after)
        while first & 1 == 0, first != 0 { (first, last) = (first >> 1, last >> 1) }
      } else {
        after = MerkleHash(left: after, right: part)
      }
      (first, last) = (first >> 1, last >> 1)
    }
    return before == oldRoot && after == root && last == 0
  }
}
