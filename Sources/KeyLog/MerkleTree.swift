internal import Crypto

/// A hash of RFC 6962: 32 bytes.
public struct MerkleHash: Hashable, Sendable {
  public static let size = 32

  public let bytes: [UInt8]

  /// - Returns: nil of any other number of bytes.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size else { return nil }
    self.bytes = bytes
  }

  private init(of input: [UInt8]) { bytes = SHA256.digest(input) }

  /// Of no leaves (RFC 6962 §2.1).
  public static let empty = MerkleHash(of: [])

  /// Of a leaf by itself. The first byte keeps leaves and nodes apart.
  public init(leaf: [UInt8]) { self.init(of: [0] + leaf) }

  public init(left: MerkleHash, right: MerkleHash) { self.init(of: [1] + left.bytes + right.bytes) }
}

/// Where the hash of a whole subtree is: the one over the leaves from `index << level` on, `1 << level` of them.
public struct MerkleNode: Hashable, Sendable {
  /// From 0, which is a leaf.
  public var level: Int
  public var index: Int

  public init(level: Int, index: Int) {
    self.level = level
    self.index = index
  }
}

/// A tree that grows at its end (RFC 6962 §2.1): what it is over n leaves is known for ever. It is but its size; hashes are where
/// `read` finds them.
public struct MerkleTree: Hashable, Sendable {
  /// Leaves. As many as a level index can have; no log comes near it.
  public static let mostLeaves = 1 << 48

  public private(set) var size: Int

  /// - Returns: nil of a size that no tree has.
  public init?(size: Int = 0) {
    guard (0...Self.mostLeaves).contains(size) else { return nil }
    self.size = size
  }

  /// Appends a leaf.
  /// - Parameter read: gives the hash of a subtree that was given before.
  /// - Returns: the subtrees that are whole now, to be kept, from the leaf upwards; about two, and log n at most. nil: it has as
  ///   many leaves as a tree may have.
  public mutating func append<Failure: Error>(
    _ leaf: MerkleHash, read: (MerkleNode) throws(Failure) -> MerkleHash
  ) throws(Failure) -> [(node: MerkleNode, hash: MerkleHash)]? {
    guard size < Self.mostLeaves else { return nil }
    var new = [(node: MerkleNode(level: 0, index: size), hash: leaf)]
    var (node, hash) = new[0]
    while node.index % 2 == 1 {
      hash = MerkleHash(left: try read(MerkleNode(level: node.level, index: node.index - 1)), right: hash)
      node = MerkleNode(level: node.level + 1, index: node.index / 2)
      new.append((node, hash))
    }
    size += 1
    return new
  }

  /// The hash of all leaves.
  public func root<Failure: Error>(read: (MerkleNode) throws(Failure) -> MerkleHash) throws(Failure)
    -> MerkleHash
  {
    size == 0 ? .empty : try Self.hash(0..<size, read)
  }

  /// What shows that a leaf is in it (RFC 6962 §2.1.1), from the leaf upwards.
  /// - Returns: nil where there is no such leaf.
  public func inclusion<Failure: Error>(
    of leaf: Int, read: (MerkleNode) throws(Failure) -> MerkleHash
  ) throws(Failure) -> [MerkleHash]? {
    guard (0..<size).contains(leaf) else { return nil }
    var (range, path) = (0..<size, [MerkleHash]())
    while range.count > 1 {
      let middle = Self.middle(of: range)
      let (left, right) = (range.lowerBound..<middle, middle..<range.upperBound)
      path.append(try Self.hash(leaf < middle ? right : left, read))
      range = leaf < middle ? left : right
    }
    return path.reversed()
  }

  /// What shows that it was once the tree over the first leaves (RFC 6962 §2.1.2).
  /// - Parameter old: leaves, 1 to all.
  /// - Returns: nil where there were never so many, or none.
  public func consistency<Failure: Error>(
    from old: Int, read: (MerkleNode) throws(Failure) -> MerkleHash
  ) throws(Failure) -> [MerkleHash]? {
    guard (1...max(1, size)).contains(old), old <= size else { return nil }
    var (range, path, isWhole) = (0..<size, [MerkleHash](), true)
    while range.upperBound != old {
      let middle = Self.middle(of: range)
      if old <= middle {
        path.append(try Self.hash(middle..<range.upperBound, read))
        range = range.lowerBound..<middle
      } else {
        path.append(try Self.hash(range.lowerBound..<middle, read))
        range = middle..<range.upperBound
        isWhole = false
      }
    }
    // The old root itself is known to who asks.
    if !isWhole { path.append(try Self.hash(range, read)) }
    return path.reversed()
  }

  /// Of a range that the recursion of the RFC comes to: its whole subtrees, from the right.
  private static func hash<Failure: Error>(
    _ range: Range<Int>, _ read: (MerkleNode) throws(Failure) -> MerkleHash
  ) throws(Failure) -> MerkleHash {
    var (rest, parts) = (range, [MerkleHash]())
    while !rest.isEmpty {
      // The largest power of two that fits; the range begins at a multiple of it.
      let level = Int.bitWidth - 1 - rest.count.leadingZeroBitCount
      parts.append(try read(MerkleNode(level: level, index: rest.lowerBound >> level)))
      rest = (rest.lowerBound + (1 << level))..<rest.upperBound
    }
    var hash = parts[parts.count - 1]
    for part in parts.dropLast().reversed() { hash = MerkleHash(left: part, right: hash) }
    return hash
  }

  /// Where a range of more than one is split: the largest power of two that is less.
  private static func middle(of range: Range<Int>) -> Int {
    range.lowerBound + (1 << (Int.bitWidth - 1 - (range.count - 1).leadingZeroBitCount))
  }
}
