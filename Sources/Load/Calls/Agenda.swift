internal import Model

/// What is to be done later, by the thread that asks for it.
final class Agenda {
  private struct Item {
    var due: Instant
    var act: (_ now: Instant) -> Void
  }

  /// The next one last; of the same moment the one that was added last first, so that they are done in order.
  private var items: [Item] = []

  var deadline: Instant { items.last?.due ?? .never }

  func add(at due: Instant, _ act: @escaping (_ now: Instant) -> Void) {
    var low = 0
    var high = items.count
    while low < high {
      let middle = (low + high) / 2
      if items[middle].due > due { low = middle + 1 } else { high = middle }
    }
    items.insert(Item(due: due, act: act), at: low)
  }

  func run(now: Instant) {
    while let next = items.last, next.due <= now {
      items.removeLast()
      next.act(now)
    }
  }
}
