/// How many of something are whose: everybody has a share, so that no one uses up what there is for all.
struct ShareCount<Owner: Hashable & Sendable>: Sendable {
  private(set) var all = 0
  private var byOwner: [Owner: Int] = [:]

  /// - Returns: false where there are so many of all, or of this one.
  mutating func take(_ owner: Owner, most: Int, share: Int) -> Bool {
    guard all < most, byOwner[owner, default: 0] < share else { return false }
    all += 1
    byOwner[owner, default: 0] += 1
    return true
  }

  mutating func giveBack(_ owner: Owner) {
    guard let count = byOwner[owner] else { return }
    all -= 1
    byOwner[owner] = count > 1 ? count - 1 : nil
  }
}
