import KeyLog
import TestProofs
import Testing

@Suite("The tree of keys", .timeLimit(.minutes(1)))
struct MerkleTreeTests {
  /// A tree with what it keeps.
  private struct Kept {
    var tree = MerkleTree()!
    var nodes: [MerkleNode: MerkleHash] = [:]
    var leaves: [MerkleHash] = []
    /// How often was read.
    var reads = 0

    mutating func append(_ leaf: [UInt8]) {
      let hash = MerkleHash(leaf: leaf)
      var count = 0
      let new = tree.append(hash) { node in
        count += 1
        return nodes[node]!
      }!
      for (node, hash) in new { nodes[node] = hash }
      reads += count
      leaves.append(hash)
    }

    func read(_ node: MerkleNode) -> MerkleHash { nodes[node]! }
    func root() -> MerkleHash { tree.root(read: read) }
  }

  /// As RFC 6962 §2.1 defines it, word by word.
  private func defined(_ leaves: ArraySlice<MerkleHash>) -> MerkleHash {
    guard leaves.count > 1 else { return leaves.first ?? .empty }
    var k = 1
    while k * 2 < leaves.count { k *= 2 }
    return MerkleHash(left: defined(leaves.prefix(k)), right: defined(leaves.dropFirst(k)))
  }

  private func hex(_ text: String) -> [UInt8] {
    stride(from: 0, to: text.utf8.count, by: 2).map {
      let start = text.index(text.startIndex, offsetBy: $0)
      return UInt8(text[start..<text.index(start, offsetBy: 2)], radix: 16)!
    }
  }

  @Test func `the reference tree of certificate transparency has its roots`() {
    let leaves = [
      "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    ]
    let roots = [
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
      "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
      "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
      "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
      "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
      "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]
    var kept = Kept()
    #expect(kept.root().bytes == hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    for (leaf, root) in zip(leaves, roots) {
      kept.append(hex(leaf))
      #expect(kept.root().bytes == hex(root))
    }
  }

  @Test func `every proof of every tree up to 70 leaves holds, and none for another leaf, place or root`()
    throws
  {
    var kept = Kept()
    var roots: [MerkleHash] = [.empty]
    for number in 0..<70 as Range<UInt8> {
      kept.append([number])
      let (size, root) = (kept.tree.size, kept.root())
      #expect(root == defined(kept.leaves[...]))
      roots.append(root)
      for leaf in 0..<size {
        let path = try #require(kept.tree.inclusion(of: leaf, read: kept.read))
        let holds = ProofVerifier.includes(kept.leaves[leaf], at: leaf, path: path, size: size, root: root)
        let others = [
          ProofVerifier.includes(MerkleHash(leaf: [200]), at: leaf, path: path, size: size, root: root),
          ProofVerifier.includes(kept.leaves[leaf], at: leaf, path: path, size: size, root: roots[size - 1]),
          ProofVerifier.includes(
            kept.leaves[leaf], at: (leaf + 1) % size, path: path, size: size, root: root),
        ]
        #expect(
          holds && !(size == 1 ? others.dropLast() : others[...]).contains(true), "leaf \(leaf) of \(size)")
      }
      for old in 1...size {
        let path = try #require(kept.tree.consistency(from: old, read: kept.read))
        let holds = ProofVerifier.extends(roots[old], oldSize: old, path: path, size: size, root: root)
        #expect(holds, "\(old) to \(size)")
        guard old < size else { continue }
        #expect(
          !ProofVerifier.extends(MerkleHash(leaf: [99]), oldSize: old, path: path, size: size, root: root))
        #expect(
          !ProofVerifier.extends(roots[old], oldSize: old, path: path, size: size, root: roots[size - 1]))
      }
    }
    #expect(
      kept.tree.inclusion(of: 70, read: kept.read) == nil
        && kept.tree.consistency(from: 0, read: kept.read) == nil)
    #expect(kept.tree.consistency(from: 71, read: kept.read) == nil && MerkleTree(size: -1) == nil)
  }

  @Test func `a forked log, a rewritten leaf and a head that was rolled back are each seen`() throws {
    var (kept, forked) = (Kept(), Kept())
    for number in 0..<40 as Range<UInt8> {
      kept.append([number])
      forked.append(number == 30 ? [255] : [number])
    }
    let old = kept.root()
    for number in 40..<60 as Range<UInt8> {
      kept.append([number])
      forked.append([number])
    }
    // The other tree goes on as if nothing were: it can't show that it was this one.
    let path = try #require(forked.tree.consistency(from: 40, read: forked.read))
    #expect(!ProofVerifier.extends(old, oldSize: 40, path: path, size: 60, root: forked.root()))
    // A leaf that is rewritten beneath its hash leads to no root that was signed.
    var rewritten = kept
    rewritten.nodes[MerkleNode(level: 0, index: 12)] = MerkleHash(leaf: [77])
    let leaf = try #require(rewritten.tree.inclusion(of: 12, read: rewritten.read))
    #expect(!ProofVerifier.includes(MerkleHash(leaf: [77]), at: 12, path: leaf, size: 60, root: kept.root()))
    // A head that is smaller than one that was seen can't be shown to follow it.
    #expect(!ProofVerifier.extends(kept.root(), oldSize: 60, path: [], size: 40, root: old))
  }

  @Test func `a tree has as many leaves as it may have, and no more`() throws {
    let most = MerkleTree.mostLeaves
    #expect(MerkleTree(size: most + 1) == nil)
    var tree = try #require(MerkleTree(size: most - 1))
    let read = { (node: MerkleNode) in MerkleHash(leaf: [UInt8(node.level)]) }
    let last = tree.append(MerkleHash(leaf: []), read: read)
    let new = try #require(last)
    #expect(new.count == 49 && new.last?.node == MerkleNode(level: 48, index: 0) && tree.size == most)
    let more = tree.append(MerkleHash(leaf: []), read: read)
    #expect(more == nil && tree.size == most)
    #expect(tree.inclusion(of: most - 1, read: read)?.count == 48)
    #expect(
      tree.inclusion(of: most, read: read) == nil && tree.consistency(from: most + 1, read: read) == nil)
  }

  @Test func `what isn't in a tree is never read`() throws {
    for size in 0...70 {
      let tree = try #require(MerkleTree(size: size))
      var strange: [MerkleNode] = []
      let read = { (node: MerkleNode) -> MerkleHash in
        if (node.index + 1) << node.level > size { strange.append(node) }
        return .empty
      }
      _ = tree.root(read: read)
      for number in -1...(size + 1) {
        let (path, proof) = (
          tree.inclusion(of: number, read: read), tree.consistency(from: number, read: read)
        )
        #expect((path == nil) == (number < 0 || number >= size), "\(number) of \(size)")
        #expect((proof == nil) == (number < 1 || number > size), "\(number) of \(size)")
      }
      #expect(strange.isEmpty)
    }
  }

  @Test func `appending reads and keeps a few hashes, however many leaves there are`() {
    var kept = Kept()
    for number in 0..<20_000 { kept.append([UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF)]) }
    #expect(kept.reads < 20_000 && kept.nodes.count < 40_000)
    var reads = 0
    _ = kept.tree.inclusion(of: 12_345) { node in
      reads += 1
      return kept.read(node)
    }
    #expect(reads < 15 * 15)
  }
}
