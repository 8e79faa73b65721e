import Model
import Testing

@testable import Engine

@Suite("Timers", .timeLimit(.minutes(2)))
struct TimerHeapTests {
  /// The heap behind a reference, so that expectations may look at it.
  final class Timers {
    var heap: TimerHeap
    init(_ capacity: Int) { heap = TimerHeap(capacity: capacity) }
    var first: Int64? { heap.first?.deadline.nanoseconds }
    var count: Int { heap.count }
  }

  @Test func `an empty heap has no first, and removing from it does nothing`() {
    let timers = Timers(4)
    #expect(timers.first == nil)
    timers.heap.remove(3)
    timers.heap.set(2, to: .never)
    #expect(timers.count == 0)
  }

  @Test func `never takes a deadline away`() {
    let timers = Timers(4)
    timers.heap.set(1, to: Instant(nanoseconds: 5))
    timers.heap.set(1, to: .never)
    #expect(timers.first == nil)
    #expect(timers.heap.deadline(of: 1) == .never)
  }

  @Test func `it agrees with a sorted model through a hundred thousand changes`() {
    let places = 200
    let timers = Timers(places)
    var model: [Int: Int64] = [:]
    var random = RandomSource.seeded(state: 1)
    for _ in 0..<100_000 {
      let place = Int(random.next() % UInt64(places))
      switch random.next() % 4 {
      case 0:
        timers.heap.remove(place)
        model[place] = nil
      default:
        // Many equal ones, moved forward and back.
        let deadline = Int64(random.next() % 300) - 100
        timers.heap.set(place, to: Instant(nanoseconds: deadline))
        model[place] = deadline
      }
      if timers.first != model.values.min() || timers.count != model.count {
        Issue.record("\(String(describing: timers.first)) of \(timers.count)")
        return
      }
      if let first = timers.heap.first { #expect(model[first.place] == first.deadline.nanoseconds) }
    }
    // Emptied in order.
    var last = Int64.min
    while let first = timers.heap.first {
      #expect(first.deadline.nanoseconds >= last)
      last = first.deadline.nanoseconds
      timers.heap.remove(first.place)
      model[first.place] = nil
    }
    #expect(model.isEmpty)
  }

  @Test func `every place may have one`() {
    let timers = Timers(64)
    for place in (0..<64).reversed() { timers.heap.set(place, to: Instant(nanoseconds: Int64(place))) }
    #expect(timers.count == 64)
    #expect(timers.heap.first?.place == 0)
  }
}
