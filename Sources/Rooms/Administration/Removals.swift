internal import Model

/// Identities that were removed from a room, and when: tokens issued before open no door.
///
/// Each room has a share of its own, so that an administrator of one makes no other forget; where all rooms together
/// have as many as may be, a room that has none yet can't have any remembered.
///
/// A value: it is given the time, in seconds since 1970, and lists what it has forgotten until that is taken.
struct Removals {
  /// Of one room. Beyond, the identity that was removed first is forgotten.
  static let perRoom = 4_096
  /// Of all rooms.
  static let capacity = 262_144

  /// Of one room.
  private struct Record {
    /// The last removal of each identity: when, and its number among the room's removals.
    var moments: [ExactName: (at: Int, number: Int)] = [:]
    /// In the order of the removals; an identity that was removed again stands here once more.
    var order: [(identity: ExactName, at: Int, number: Int)] = []
    var first = 0
    var number = 0
    /// Identities that are remembered no more, and when each had been removed last.
    var forgotten: [(identity: ExactName, at: Int)] = []

    mutating func dropFirst() {
      let oldest = order[first]
      first += 1
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.removalForgotten) { moments[oldest.identity] = nil }
      #endif
      if moments[oldest.identity]?.number == oldest.number {
        moments[oldest.identity] = nil
        forgotten.append((oldest.identity, oldest.at))
      }
      // Now and then, so that what was forgotten takes no memory.
      guard first > 64, first > order.count / 2 else { return }
      order.removeFirst(first)
      first = 0
    }

    /// Forgets what is older than the memory.
    mutating func expire(before moment: Int) {
      while first < order.count, order[first].at <= moment { dropFirst() }
    }

    /// - Parameter isFull: a newcomer takes the place of the oldest.
    /// - Returns: by how many there are more.
    mutating func insert(_ identity: ExactName, now: Int, memory: Int, isFull: Bool) -> Int {
      let before = moments.count
      expire(before: now - memory)
      if isFull, moments[identity] == nil, !moments.isEmpty {
        let kept = moments.count
        while moments.count == kept { dropFirst() }
      }
      number += 1
      moments[identity] = (now, number)
      order.append((identity, now, number))
      while moments.count > Removals.perRoom { dropFirst() }
      if order.count - first > 2 * Removals.perRoom { forgetRepeated() }
      return moments.count - before
    }

    /// Leaves one place in the order to each identity, that of its last removal; none is forgotten by it.
    private mutating func forgetRepeated() {
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.removalCrowdedOut) { return dropFirst() }
      #endif
      order = order[first...].filter { moments[$0.identity]?.number == $0.number }
      first = 0
    }
  }

  /// Seconds for which a removal is remembered: longer than tokens are valid.
  private let memory: Int
  private var rooms: [ExactName: Record] = [:]
  private(set) var count = 0
  private var forgotten: [Removal] = []
  /// When all rooms were last rid of what is too old.
  private var swept = Int.min

  init(memory: Int) { self.memory = memory }

  /// - Returns: false: no more can be remembered.
  mutating func insert(room: String, identity: String, now: Int) -> Bool {
    if count >= Self.capacity, swept != now { sweep(now: now) }
    let isFull = count >= Self.capacity
    let room = ExactName(room)
    let identity = ExactName(identity)
    // In place: a copy of a room's record costs as much as all that is in it.
    guard isFull ? rooms[room]?.moments.isEmpty == false : true else { return false }
    count += rooms[room, default: Record()].insert(identity, now: now, memory: memory, isFull: isFull)
    noteForgotten(in: room)
    return true
  }

  /// Forgets everywhere what is older than the memory.
  /// - Parameter pause: seconds; nothing is done where the last sweep is not so long ago.
  mutating func sweep(now: Int, every pause: Int = 0) {
    guard pause == 0 || swept == .min || now - swept >= pause else { return }
    swept = now
    for room in rooms.keys {
      rooms[room]?.expire(before: now - memory)
      noteForgotten(in: room)
      if rooms[room]?.moments.isEmpty == true { rooms[room] = nil }
    }
    count = rooms.values.reduce(0) { $0 + $1.moments.count }
  }

  private mutating func noteForgotten(in room: ExactName) {
    guard let gone = rooms[room]?.forgotten, !gone.isEmpty else { return }
    rooms[room]?.forgotten = []
    forgotten += gone.map { Removal(identity: $0.identity.text, room: room.text, time: $0.at) }
  }

  /// The removals that were forgotten since the last call, in the order in which that happened in each room.
  mutating func takeForgotten() -> [Removal] {
    defer { forgotten = [] }
    return forgotten
  }

  /// Whether a token may not be used.
  /// - Parameter issued: when it was issued; nil: it doesn't say, so that it may be older than any removal.
  func forbids(room: String, identity: String, issued: Int?, now: Int) -> Bool {
    guard let removed = rooms[ExactName(room)]?.moments[ExactName(identity)]?.at, now < removed + memory
    else { return false }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.removalSameSecond), issued == removed { return false }
    #endif
    // Tokens have whole seconds: one of the same second may be older.
    return issued.map { $0 <= removed } ?? true
  }
}
