internal import Model

/// Paths of peers that went to another worker a moment ago: what is still handed over on them goes after the peer.
///
/// Other workers hear of the new owner within a batch or two; a path is kept for far longer than that, and no longer
/// than the next peer that goes.
struct DepartedPaths {
  static let time = Duration.seconds(2)
  /// Beyond it the oldest are forgotten: what comes in on them is dropped and counted.
  static let limit = 4_096

  private struct Entry {
    var key: PeerKey
    var until: Instant
  }

  private var entries: [NetworkPath: Entry] = [:]
  /// In the order of their ends.
  private var queue: [(path: NetworkPath, until: Instant)] = []

  var count: Int { entries.count }

  mutating func note(_ path: NetworkPath, of key: PeerKey, now: Instant) {
    let gone = max(queue.firstIndex { $0.until > now } ?? queue.count, queue.count + 1 - Self.limit)
    for entry in queue.prefix(gone) where entries[entry.path]?.until == entry.until {
      entries[entry.path] = nil
    }
    queue.removeFirst(max(gone, 0))
    entries[path] = Entry(key: key, until: now + Self.time)
    queue.append((path, now + Self.time))
  }

  func find(_ path: NetworkPath, now: Instant) -> PeerKey? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.departedForEver) { return entries[path]?.key }
    #endif
    guard !entries.isEmpty, let entry = entries[path], now < entry.until else { return nil }
    return entry.key
  }
}
