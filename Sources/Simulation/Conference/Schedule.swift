internal import Model

/// What is to happen later, in the order of its times; at one time, in the order in which it was planned.
struct Schedule {
  private struct Item {
    var at: Instant
    var order: Int
    var action: () -> Void
  }

  /// The latest first, so that the next is the last.
  private var items: [Item] = []
  private var nextOrder = 0

  var deadline: Instant { items.last?.at ?? .never }

  mutating func add(at moment: Instant, _ action: @escaping () -> Void) {
    nextOrder += 1
    let item = Item(at: moment, order: nextOrder, action: action)
    let place = items.firstIndex { ($0.at, $0.order) < (item.at, item.order) } ?? items.count
    items.insert(item, at: place)
  }

  mutating func next(now: Instant) -> (() -> Void)? {
    deadline <= now ? items.popLast()?.action : nil
  }
}
