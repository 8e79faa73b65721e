internal import Model

/// When each peer wants to be called again: an indexed binary heap, one entry a place, so a changed deadline
/// moves its entry and nothing is ever left behind.
struct TimerHeap: ~Copyable {
  private let deadlines: UnsafeMutablePointer<Instant>
  /// Places in heap order, and where each place stands (-1: nowhere).
  private let heap: UnsafeMutablePointer<Int32>
  private let positions: UnsafeMutablePointer<Int32>
  private let capacity: Int
  private(set) var count = 0

  /// - Parameter capacity: places are 0 ..< capacity.
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

  var first: (place: Int, deadline: Instant)? {
    count == 0 ? nil : (Int(heap[0]), deadlines[Int(heap[0])])
  }

  /// Sets or moves a place's deadline; `.never` removes it.
  mutating func set(_ place: Int, to deadline: Instant) {
    precondition(place >= 0 && place < capacity)
    guard deadline != .never else { return remove(place) }
    deadlines[place] = deadline
    if positions[place] < 0 {
      heap[count] = Int32(place)
      positions[place] = Int32(count)
      count &+= 1
    }
    siftUp(Int(positions[place]))
    siftDown(Int(positions[place]))
  }

  mutating func remove(_ place: Int) {
    precondition(place >= 0 && place < capacity)
    let position = Int(positions[place])
    guard position >= 0 else { return }
    count &-= 1
    positions[place] = -1
    deadlines[place] = .never
    guard position != count else { return }
    let last = heap[count]
    heap[position] = last
    positions[Int(last)] = Int32(position)
    siftUp(position)
    siftDown(Int(positions[Int(last)]))
  }

  /// `.never` where the place has none.
  func deadline(of place: Int) -> Instant { deadlines[place] }

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
    let place = heap[a]
    heap[a] = heap[b]
    heap[b] = place
    positions[Int(heap[a])] = Int32(a)
    positions[Int(heap[b])] = Int32(b)
  }
}
