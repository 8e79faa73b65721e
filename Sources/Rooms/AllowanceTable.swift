package import Model

/// Something that is spent, and fills again by itself.
package protocol Refilling: Sendable {
  /// Full.
  init()
  /// When nothing of it is spent any more.
  var fullAt: Instant { get }
}

/// What each identity has spent. An entry outlives sessions and sockets: leaving and joining again refills nothing.
///
/// What is full again is forgotten, since it is the same as what was never spent. Where more have spent than there is
/// room for, a quarter is forgotten, those who owe least: one at a time would cost a look at all for each newcomer.
package struct AllowanceTable<Key: Hashable & Sendable, Value: Refilling>: Sendable {
  var spent: [Key: Value] = [:]
  private let capacity: Int
  var swept: Instant?

  package init(capacity: Int) { self.capacity = capacity }

  package var count: Int { spent.count }

  @discardableResult
  package mutating func use<Result>(
    _ key: Key, now: Instant, _ body: (inout Value) -> Result
  ) -> Result {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.allowanceForgotten) {
        var value = Value()
        return body(&value)
      }
    #endif
    sweep(now: now)
    if let index = spent.index(forKey: key) {
      return body(&spent.values[index])
    }
    var value = Value()
    let result = body(&value)
    guard value.fullAt > now else { return result }
    if spent.count >= capacity { makeRoom(now: now) }
    spent[key] = value
    return result
  }

  private mutating func makeRoom(now: Instant) {
    let most = spent.filter { $0.value.fullAt > now }.sorted { $0.value.fullAt > $1.value.fullAt }
    spent = Dictionary(uniqueKeysWithValues: most.prefix(capacity * 3 / 4).map { ($0.key, $0.value) })
  }

  /// At most once a second.
  private mutating func sweep(now: Instant) {
    if let swept, now - swept < .seconds(1) { return }
    swept = now
    spent = spent.filter { $0.value.fullAt > now }
  }
}
