internal import Model

/// When each peer wants to be called again: an indexed binary heap, one entry a slot, so a changed deadline
/// moves its entry and nothing is ever left behind.
struct TimerHeap: ~Copyable {
  private let deadlines: UnsafeMutablePointer<Instant>
  /// Slots in heap order, and where each slot stands (-1: nowhere).
  private let heap: UnsafeMutablePointer<Int32>
  private let positions: UnsafeMutablePointer<Int32>
  private let capacity: Int
  private(set) var count = 0

  /// - Parameter capacity: slots are 0 ..< capacity.
  init(capacity: Int) {
    self.capacity = capacity
    deadlines = .allocate(capacity: capacity)
    heap = .allocate(capacity: capacity)
    positions = .allocate(capacity: capacity)
    deadlines.initialize(repeating: .never, count: capacity)
    positions.initialize(repeating: -1, count: capacity)
  }

  deinit {
    deadlines.deallocate()
    heap.deallocate()
    positions.deallocate()
  }

  var first: (slot: Int, deadline: Instant)? {
    count == 0 ? nil : (Int(heap[0]), deadlines[Int(heap[0])])
  }

  /// Sets or moves a slot's deadline; `.never` removes it.
  mutating func set(_ slot: Int, to deadline: Instant) {
    precondition(slot >= 0 && slot < capacity)
    guard deadline != .never else { return remove(slot) }
    deadlines[slot] = deadline
    if positions[slot] < 0 {
      heap[count] = Int32(slot)
      positions[slot] = Int32(count)
      count &+= 1
    }
    siftUp(Int(positions[slot]))
    siftDown(Int(positions[slot]))
  }

  mutating func remove(_ slot: Int) {
    precondition(slot >= 0 && slot < capacity)
    let position = Int(positions[slot])
    guard position >= 0 else { return }
    count &-= 1
    positions[slot] = -1
    deadlines[slot] = .never
    guard position != count else { return }
    let last = heap[count]
    heap[position] = last
    positions[Int(last)] = Int32(position)
    siftUp(position)
    siftDown(Int(positions[Int(last)]))
  }

  /// `.never` where the slot has none.
  func deadline(of slot: Int) -> Instant { deadlines[slot] }

  private func siftUp(_ start: Int) {
    var position = start
    while position > 0 {
      let parent = (position &- 1) / 2
      guard deadlines[Int(heap[position])] < deadlines[Int(heap[parent])] else { return }
      swap(position, parent)
      position = parent
    }
  }

  private func siftDown(_ start: Int) {
    var position = start
    while true {
      var smallest = position
      var child = 2 &* position &+ 1
      #if PLANTED_DEFECTS
        let end = 2 &* position &+ (PlantedDefect.isOn(.timerChild) ? 2 : 3)
      #else
        let end = 2 &* position &+ 3
      #endif
      while child < min(count, end) {
        if deadlines[Int(heap[child])] < deadlines[Int(heap[smallest])] { smallest = child }
        child &+= 1
      }
      guard smallest != position else { return }
      swap(position, smallest)
      position = smallest
    }
  }

  private func swap(_ a: Int, _ b: Int) {
    let slot = heap[a]
    heap[a] = heap[b]
    heap[b] = slot
    positions[Int(heap[a])] = Int32(a)
    positions[Int(heap[b])] = Int32(b)
  }
}
