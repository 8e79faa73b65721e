/// What one device has heard of rings, and that it heard each thing once.
struct RingLedger: Equatable, Sendable {
  private var heard: Set<String> = []
  private var ended: Set<String> = []
  private var lastID = -1
  private(set) var problems: [String] = []

  /// - Returns: whether the ring is heard for the first time.
  mutating func noteRing(_ ring: String) -> Bool {
    let isNew = heard.insert(ring).inserted
    if !isNew { problems.append("ring \(ring) was heard twice") }
    return isNew
  }

  mutating func noteEnd(of ring: String) {
    if !ended.insert(ring).inserted { problems.append("ring \(ring) ended twice") }
  }

  /// Events are numbered upwards, also across a stream that broke off.
  /// - Parameter isState: it stands for all before it, and has the number of the last of them.
  mutating func noteEvent(_ id: String, isState: Bool) {
    guard let number = Int(id) else {
      problems.append("an event has the id \(id)")
      return
    }
    if isState ? number < lastID : number <= lastID {
      problems.append("event \(number) came behind event \(lastID)")
    }
    lastID = max(lastID, number)
  }
}
