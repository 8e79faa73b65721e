import Wire

/// Picks the sections that share the one transport (RFC 9143).
struct BundleChoice: Equatable {
  /// In the group's order; the first of them that is accepted carries the transport.
  private(set) var members: [Int] = []
  /// The offer groups them; else there is one section on its own.
  private(set) var isGroup = false

  /// The first BUNDLE group with an acceptable section; where there is none, the first acceptable section alone.
  /// - Parameter acceptable: for each section.
  init(of description: SessionDescription, acceptable: [Bool]) {
    var indices: [String: Int] = [:]
    for (index, section) in description.media.enumerated() {
      if let mid = section.mid { indices[mid] = index }
    }
    for group in description.groups where group.semantics == "BUNDLE" {
      var seen: Set<Int> = []
      let members = group.mids.compactMap { indices[$0] }.filter { seen.insert($0).inserted }
      if members.contains(where: { acceptable[$0] }) {
        self.members = members
        isGroup = true
        return
      }
    }
    members = acceptable.firstIndex(of: true).map { [$0] } ?? []
  }
}
