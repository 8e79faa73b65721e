internal import Model

/// Whose the datagrams of each path are, where several peers name the same path.
///
/// A valid check says that its sender knows a peer's credentials, and nothing of the address that it bears: a
/// participant may send one under anybody's. So a path that one peer has proven, by answering a check of ours there, is
/// given up for nothing less than another peer's proof, and comes back to it when that one goes.
///
///     unproven claim ──no owner, or an unproven one──▶ owner
///         │  └──a proven owner──▶ rival: hears the answers to its own checks there, and nothing else
///         └──proof──▶ owner; the one before becomes a rival ──the owner goes──▶ owner again
struct PathClaims: ~Copyable {
  struct Claim: Equatable {
    var destination: PathTable.Destination
    var isProven: Bool
  }

  /// Of one path, beside its owner.
  static let rivalLimit = 8

  private var table: PathTable
  /// By path: those who claim it and aren't its owner, the latest last.
  private var rivals: [NetworkPath: [Claim]] = [:]

  /// - Parameters:
  ///   - limit: the most paths that it has room for.
  ///   - random: keys the hash.
  init(limit: Int, random: inout RandomSource) { table = PathTable(limit: limit, random: &random) }

  var count: Int { table.count }
  /// Paths that more than one claim.
  var contestedCount: Int { rivals.count }

  /// The path's owner.
  @inline(__always)
  func find(_ path: NetworkPath) -> PathTable.Destination? { table.find(path) }

  /// Every path with its owner and those that claim it as well, the latest last; a walk.
  var all: [(path: NetworkPath, owner: Claim, rivals: [Claim])] {
    table.all.map { ($0.path, $0.claim, rivals[$0.path] ?? []) }
  }

  /// As it was before; the path is new.
  mutating func restore(_ path: NetworkPath, owner: Claim, rivals others: [Claim]) {
    guard table.set(path, owner) else { return }
    rivals[path] = others.isEmpty ? nil : others.suffix(Self.rivalLimit)
  }

  /// The owner, and whether it has proven that.
  func claim(_ path: NetworkPath) -> Claim? { table.claim(path) }

  func rivals(of path: NetworkPath) -> [Claim] { rivals.isEmpty ? [] : rivals[path] ?? [] }

  /// Whether that claim still stands: too many others may have pushed it out, and then it has to be made again.
  func holds(_ path: NetworkPath, _ destination: PathTable.Destination) -> Bool {
    find(path) == destination || rivals(of: path).contains { $0.destination == destination }
  }

  /// A peer, or another worker for one of its own, claims the path, or says again whether it is proven.
  /// - Returns: false when the table is full.
  mutating func enter(_ path: NetworkPath, _ claim: Claim) -> Bool {
    guard let owner = table.claim(path) else { return table.set(path, claim) }
    guard owner.destination != claim.destination else {
      _ = table.set(path, claim)
      // Proven no longer: another may be.
      if !claim.isProven, let next = rivals(of: path).last(where: \.isProven) { swap(path, claim, for: next) }
      return true
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.pathDisplaced), owner.isProven, !claim.isProven {
        swap(path, owner, for: claim)
        return true
      }
    #endif
    if claim.isProven && !isProvenRival(claim, path) || !owner.isProven {
      swap(path, owner, for: claim)
    } else {
      note(claim, on: path)
    }
    return true
  }

  /// A peer gives a claim up: the path goes back to who has proven it, else to who claimed it last.
  mutating func leave(_ path: NetworkPath, _ destination: PathTable.Destination) {
    guard let owner = table.claim(path), owner.destination == destination else {
      remove(destination, from: path)
      return
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.pathNotReturned) { return table.remove(path) }
    #endif
    let others = rivals(of: path)
    guard let next = others.last(where: \.isProven) ?? others.last else { return table.remove(path) }
    remove(next.destination, from: path)
    _ = table.set(path, next)
  }

  /// Whether the claim was proven before: what is said once more moves nothing.
  private func isProvenRival(_ claim: Claim, _ path: NetworkPath) -> Bool {
    rivals(of: path).contains { $0.destination == claim.destination && $0.isProven }
  }

  private mutating func swap(_ path: NetworkPath, _ owner: Claim, for next: Claim) {
    remove(next.destination, from: path)
    _ = table.set(path, next)
    note(owner, on: path)
  }

  private mutating func note(_ claim: Claim, on path: NetworkPath) {
    remove(claim.destination, from: path)
    var all = rivals[path] ?? []
    // The oldest that has proven nothing gives way, else the oldest.
    if all.count >= Self.rivalLimit { all.remove(at: all.firstIndex { !$0.isProven } ?? 0) }
    all.append(claim)
    rivals[path] = all
  }

  private mutating func remove(_ destination: PathTable.Destination, from path: NetworkPath) {
    guard !rivals.isEmpty, var all = rivals[path] else { return }
    all.removeAll { $0.destination == destination }
    rivals[path] = all.isEmpty ? nil : all
  }
}
