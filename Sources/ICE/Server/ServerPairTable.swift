internal import Model
internal import Wire

/// The pairs of one peer, eight at most, and which of them is selected.
struct ServerPairTable: Sendable {
  static let capacity = 8
  /// A validated pair may be replaced once nothing valid came on it for so many nanoseconds.
  static let idleLimit: Int64 = 10_000_000_000

  // Places from `count` on hold leftovers that are never read.
  private var places: InlineArray<8, ServerPair>
  private(set) var count = 0
  private(set) var selected: Int?

  init() {
    let nowhere = SocketAddress(high: 0, low: 0, port: 0)
    let unused = ServerPair(
      NetworkPath(remote: nowhere, local: nowhere), generation: 0, check: .init(high: 0, low: 0),
      now: Instant(nanoseconds: 0))
    places = InlineArray(repeating: unused)
  }

  subscript(index: Int) -> ServerPair {
    _read {
      precondition(index < count)
      yield places[index]
    }
    _modify {
      precondition(index < count)
      yield &places[index]
    }
  }

  func first(where matches: (borrowing ServerPair) -> Bool) -> Int? {
    for index in 0..<count where matches(places[index]) { return index }
    return nil
  }

  /// Pairs on which no check of ours was answered.
  var unprovenCount: Int {
    var unproven = 0
    for index in 0..<count where !places[index].isValidated { unproven += 1 }
    return unproven
  }

  func find(_ path: NetworkPath, generation: UInt32) -> Int? {
    first { $0.generation == generation && $0.path == path }
  }

  /// Makes room if need be: the oldest pair that isn't validated goes first, then a validated one that has
  /// long been silent; never the selected.
  /// - Returns: where the pair is, or nil if none may be replaced.
  mutating func add(_ pair: ServerPair, now: Instant) -> Int? {
    if count == Self.capacity {
      guard let victim = replaceable(at: now) else { return nil }
      remove(at: victim)
    }
    places[count] = pair
    count += 1
    return count - 1
  }

  private func replaceable(at now: Instant) -> Int? {
    var best: Int?
    for index in 0..<count where index != selected {
      let pair = places[index]
      if pair.isValidated && now.nanoseconds &- pair.lastHeard.nanoseconds < Self.idleLimit { continue }
      guard let other = best.map({ places[$0] }) else {
        best = index
        continue
      }
      let isBetter =
        pair.isValidated == other.isValidated ? pair.created < other.created : other.isValidated
      if isBetter { best = index }
    }
    return best
  }

  /// The last pair takes the place of the one that goes.
  mutating func remove(at index: Int) {
    precondition(index < count)
    count -= 1
    places[index] = places[count]
    if selected == index { selected = nil } else if selected == count { selected = index }
  }

  mutating func removeAll(where matches: (borrowing ServerPair) -> Bool) {
    for index in (0..<count).reversed() where matches(places[index]) { remove(at: index) }
  }

  mutating func select(_ index: Int) {
    precondition(index < count)
    selected = index
  }

  mutating func deselect() { selected = nil }
}

extension ServerPairTable {
  func encode(into writer: inout StateWriter) {
    writer.write(UInt32(count))
    for index in 0..<count { places[index].encode(into: &writer) }
    writer.write(UInt8(selected ?? 255))
  }

  init(from reader: inout StateReader) throws(StateError) {
    self.init()
    let pairs = try reader.count(limit: Self.capacity)
    for _ in 0..<pairs {
      places[count] = try ServerPair(from: &reader)
      count += 1
    }
    let choice = Int(try reader.integer(UInt8.self))
    guard choice < count || choice == 255 else {
      throw .invalid(field: "selected pair \(choice) of \(count)", offset: reader.offset - 1)
    }
    selected = choice == 255 ? nil : choice
  }
}
