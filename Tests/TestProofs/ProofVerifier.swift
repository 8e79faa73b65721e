public import KeyLog

/// Judges proofs as RFC 9162 §2.1.3.2 and §2.1.4.2 describe it: walking upwards by the bits of numbers, where the tree walks down by
/// ranges. It has nothing in common with what makes them but the two hashes.
public enum ProofVerifier {
  public static func includes(
    _ leaf: MerkleHash, at index: Int, path: [MerkleHash], size: Int, root: MerkleHash
  ) -> Bool {
    guard index >= 0, index < size else { return false }
    var (place, last, hash) = (index, size - 1, leaf)
    for step in path {
      guard last > 0 else { return false }
      if place & 1 == 1 || place == last {
        hash = MerkleHash(left: step, right: hash)
        while place & 1 == 0, place != 0 {
          place >>= 1
          last >>= 1
        }
      } else {
        hash = MerkleHash(left: hash, right: step)
      }
      place >>= 1
      last >>= 1
    }
    return last == 0 && hash == root
  }

  public static func extends(
    _ oldRoot: MerkleHash, oldSize: Int, path: [MerkleHash], size: Int, root: MerkleHash
  ) -> Bool {
    guard oldSize > 0, oldSize <= size else { return false }
    if oldSize == size { return path.isEmpty && oldRoot == root }
    var steps = path
    if oldSize & (oldSize - 1) == 0 { steps.insert(oldRoot, at: 0) }
    guard let first = steps.first else { return false }
    var (place, last) = (oldSize - 1, size - 1)
    while place & 1 == 1 {
      place >>= 1
      last >>= 1
    }
    var (old, new) = (first, first)
    for step in steps.dropFirst() {
      guard last > 0 else { return false }
      if place & 1 == 1 || place == last {
        old = MerkleHash(left: step, right: old)
        new = MerkleHash(left: step, right: new)
        while place & 1 == 0, place != 0 {
          place >>= 1
          last >>= 1
        }
      } else {
        new = MerkleHash(left: new, right: step)
      }
      place >>= 1
      last >>= 1
    }
    return last == 0 && old == oldRoot && new == root
  }
}
