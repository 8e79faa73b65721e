/// A place in a list that is ordered by a value, and where that is the same by the bytes of names.
public struct ListPlace: Equatable, Sendable {
  /// 0 in a list that is ordered by names alone.
  public var value: Int
  public var name: String

  public init(value: Int = 0, name: String) { (self.value, self.name) = (value, name) }

  func isBefore(_ other: ListPlace) -> Bool {
    value == other.value ? name.isBefore(other.name) : value < other.value
  }
}

/// One that has a place in a list.
public struct Placed<Item: Sendable>: Sendable {
  public let place: ListPlace
  public let item: Item
}

extension Array {
  /// One page of a list.
  /// - Parameter after: only those behind it, in the order of the list.
  func page<Item: Sendable>(
    after: ListPlace?, isDescending: Bool, limit: Int
  ) -> [Placed<Item>] where Element == Placed<Item> {
    let isOrdered = { (first: ListPlace, second: ListPlace) in
      isDescending ? second.isBefore(first) : first.isBefore(second)
    }
    return Array(
      filter { each in after.map { isOrdered($0, each.place) } ?? true }
        .sorted { isOrdered($0.place, $1.place) }.prefix(limit))
  }
}
