internal import CallDesk

/// Puts the events of one shared session into order. They are carried out beside each other, and one may overtake another; then it
/// waits for those before it, and where they don't come, within bounds, the rest goes out with a gap. Readers know it by the numbers.
struct SessionOrder {
  /// Events that wait for one before them, and bytes of their data.
  static let most = 64
  static let mostBytes = 262_144
  /// For how long.
  static let patience = Duration.milliseconds(500)

  /// The number that is to go out next; nil: none has.
  private var next: Int64?
  private var waiting: [Int64: Aftermath.Shared] = [:]
  private var bytes = 0
  /// Counts how often something has begun to wait.
  private(set) var gap = 0

  var waits: Bool { !waiting.isEmpty }

  /// - Returns: what goes out now, in order; one that has gone out is left out.
  mutating func take(_ shared: Aftermath.Shared) -> [Aftermath.Shared] {
    let seq = shared.event.seq
    if let next, seq < next { return [] }
    // An old one is no beginning.
    if next == nil, shared.isRepeated { return [] }
    guard waiting[seq] == nil else { return [] }
    let waited = waits
    waiting[seq] = shared
    bytes += shared.event.data.count
    let out = follow(from: next ?? seq)
    if waiting.count > Self.most || bytes > Self.mostBytes { return out + giveUp() }
    if waits, !waited { gap += 1 }
    return out
  }

  /// What didn't come is waited for no longer.
  mutating func giveUp() -> [Aftermath.Shared] {
    let out = waiting.values.sorted { $0.event.seq < $1.event.seq }
    waiting = [:]
    bytes = 0
    if let last = out.last { next = last.event.seq + 1 }
    return out
  }

  private mutating func follow(from first: Int64) -> [Aftermath.Shared] {
    var out: [Aftermath.Shared] = []
    var seq = first
    while let shared = waiting.removeValue(forKey: seq) {
      out.append(shared)
      bytes -= shared.event.data.count
      seq += 1
    }
    next = seq
    return out
  }
}
