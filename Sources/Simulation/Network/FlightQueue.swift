internal import Model

/// A datagram on its way.
struct Flight {
  var bytes: [UInt8]
  /// As the receiver sees it.
  var path: NetworkPath
  /// The receiver's address as the sender named it.
  var outside: SocketAddress
  var sentAt: Instant
  /// The sender's own mark.
  var tag: UInt64
  /// Shared by the two copies of a datagram; 0 for a single one.
  var twin: UInt64
  /// What it came through last; -1 for none.
  var link: Int
}

/// Datagrams on their way, the one that arrives next first; of those that arrive together, the one that left
/// first.
struct FlightQueue {
  private struct Turn {
    var arrival: Int64
    var order: UInt64
    var slot: Int
  }

  private var heap: [Turn] = []
  private var flights: [Flight?] = []
  private var free: [Int] = []
  private var nextOrder: UInt64 = 0

  var count: Int { heap.count }
  var first: Instant { heap.isEmpty ? .never : Instant(nanoseconds: heap[0].arrival) }

  mutating func push(_ flight: Flight, at arrival: Instant) {
    let slot = free.popLast() ?? flights.count
    if slot == flights.count { flights.append(flight) } else { flights[slot] = flight }
    nextOrder += 1
    heap.append(Turn(arrival: arrival.nanoseconds, order: nextOrder, slot: slot))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard precedes(child, parent) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func pop() -> Flight? {
    guard !heap.isEmpty else { return nil }
    heap.swapAt(0, heap.count - 1)
    let slot = heap.removeLast().slot
    defer {
      flights[slot] = nil
      free.append(slot)
    }
    var parent = 0
    while true {
      var least = parent
      let left = 2 * parent + 1
      if left < heap.count && precedes(left, least) { least = left }
      if left + 1 < heap.count && precedes(left + 1, least) { least = left + 1 }
      guard least != parent else { return flights[slot] }
      heap.swapAt(parent, least)
      parent = least
    }
  }

  private func precedes(_ a: Int, _ b: Int) -> Bool {
    heap[a].arrival != heap[b].arrival
      ? heap[a].arrival < heap[b].arrival : heap[a].order < heap[b].order
  }
}
