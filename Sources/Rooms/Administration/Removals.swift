/// Identities that were removed from a room, and when: their tokens of before let nobody in.
///
/// A value: it is told the time, in seconds since 1970.
struct Removals {
  private struct Key: Hashable {
    let room: String
    let identity: String
  }

  /// Beyond, whoever was removed first is forgotten.
  static let capacity = 65_536

  /// Seconds for which a removal is remembered: longer than tokens are valid.
  private let memory: Int
  private var moments: [Key: Int] = [:]
  /// In the order of their removals; entries that were renewed since stand here once more.
  private var order: [(key: Key, at: Int)] = []
  private var first = 0

  init(memory: Int) { self.memory = memory }

  var count: Int { moments.count }

  mutating func insert(room: String, identity: String, now: Int) {
    let key = Key(room: room, identity: identity)
    moments[key] = now
    order.append((key, now))
    while let oldest = order[first...].first,
      moments.count > Self.capacity || order.count - first > 2 * Self.capacity || oldest.at + memory <= now
    {
      first += 1
      if moments[oldest.key] == oldest.at { moments[oldest.key] = nil }
    }
    // Now and then, so that what was forgotten takes no memory.
    if first > Self.capacity / 4 {
      order.removeFirst(first)
      first = 0
    }
  }

  /// Whether a token may not be used.
  /// - Parameter issued: when it was issued; nil: it doesn't say, so that it may be older than any removal.
  func forbids(room: String, identity: String, issued: Int?, now: Int) -> Bool {
    guard let removed = moments[Key(room: room, identity: identity)], now < removed + memory else {
      return false
    }
    // Tokens have whole seconds: one of the same second may be older.
    return issued.map { $0 <= removed } ?? true
  }
}
