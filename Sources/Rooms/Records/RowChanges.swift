/// Rows of a table as they are to be: the last word about each, until it is written.
///
/// While nothing can be written it grows with the rows that there are, not with those that come and go: a row of which the
/// table has never heard leaves nothing behind.
struct RowChanges<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  struct Change: Sendable {
    /// nil: the row is to go.
    var value: Value?
    /// The table surely has no such row.
    var isNew: Bool
  }

  /// Rows that are to go, of all that wait. Beyond, a row stays in the table: what is read from it again has to bear that.
  private static var goingLimit: Int { 65_536 }

  private(set) var byKey: [Key: Change] = [:]
  private var going = 0

  var isEmpty: Bool { byKey.isEmpty }
  var present: [(key: Key, value: Value)] {
    byKey.compactMap { key, change in change.value.map { (key, $0) } }
  }
  var gone: [Key] { byKey.compactMap { $0.value.value == nil ? $0.key : nil } }

  subscript(key: Key) -> Value? { byKey[key]?.value }

  /// - Parameter isNew: the row was never there before, under this key.
  mutating func set(_ key: Key, _ value: Value, isNew: Bool) {
    if let known = byKey[key] {
      if known.value == nil { going -= 1 }
      byKey[key] = Change(value: value, isNew: known.isNew)
    } else {
      byKey[key] = Change(value: value, isNew: isNew)
    }
  }

  /// - Returns: false: there is no place to remember that, and the row stays.
  @discardableResult
  mutating func remove(_ key: Key) -> Bool {
    if let known = byKey[key] {
      if known.value == nil { return true }
      byKey[key] = nil
      if known.isNew { return true }
    }
    guard going < Self.goingLimit else { return false }
    byKey[key] = Change(value: nil, isNew: false)
    going += 1
    return true
  }

  /// What was taken to be written was not: it waits again, behind what has been said since.
  /// - Parameter mayBeDone: whether it was isn't known.
  mutating func giveBack(_ taken: RowChanges, mayBeDone: Bool) {
    for (key, change) in taken.byKey {
      let isNew = change.isNew && !mayBeDone
      switch byKey[key] {
      case nil:
        if change.value == nil { going += 1 }
        byKey[key] = Change(value: change.value, isNew: isNew)
      case let newer? where newer.value == nil && isNew:
        byKey[key] = nil
        going -= 1
      case let newer?: byKey[key] = Change(value: newer.value, isNew: isNew)
      }
    }
  }
}
