import Model
import Testing

@testable import Media
@testable import Peer

/// In which order what waits leaves.
@Suite("What waits to leave", .timeLimit(.minutes(1)))
struct DepartureQueueTests {
  private func departure(
    _ slot: Int, _ sequence: Int64, at moment: Int64 = 0, urgent: Bool = false, joins: Bool = false,
    free: Bool = false
  ) -> Departure {
    var info = PacketInfo()
    if free { info.flags = [.discardable] }
    return Departure(
      packet: PacketReference(track: slot, sequence: sequence), slot: Int32(slot),
      selection: Selection(format: .vp8, payloadType: 96, joins: joins),
      since: Instant(nanoseconds: moment * 1_000_000), isUrgent: urgent,
      frame: WaitingFrame(info, takesDescriptors: false))
  }

  private func drain(_ queue: Waiting) -> [String] {
    var names: [String] = []
    while !queue.isEmpty {
      names.append("\(queue.first.slot):\(queue.first.packet.sequence)")
      queue.removeFirst()
    }
    return names
  }

  @Test func `key frames leave first, then the higher priority, then what waits longest`() {
    let queue = Waiting()
    #expect(queue.append(departure(0, 1, at: 0), priority: 10))
    #expect(queue.append(departure(1, 1, at: 1), priority: 200))
    #expect(queue.append(departure(2, 1, at: 2, urgent: true), priority: 10))
    #expect(queue.append(departure(3, 1, at: 3), priority: 10))
    #expect(queue.append(departure(1, 2, at: 4), priority: 200))
    #expect(queue.append(departure(2, 2, at: 4), priority: 10))
    #expect(drain(queue) == ["2:1", "1:1", "1:2", "0:1", "3:1", "2:2"])
  }

  @Test func `a slot's packets never overtake each other`() {
    var random = RandomSource.seeded(state: 7)
    for _ in 0..<200 {
      let queue = Waiting()
      var next: [Int64] = Array(repeating: 0, count: 6)
      var left: [Int64] = Array(repeating: -1, count: 6)
      var waiting = 0
      for step in 0..<600 {
        if random.next() % 3 != 0 {
          let slot = Int(random.next() % 6)
          let isUrgent = random.next() % 9 == 0
          #expect(
            queue.append(
              departure(slot, next[slot], at: Int64(step), urgent: isUrgent),
              priority: UInt8(random.next() % 3)))
          next[slot] += 1
          waiting += 1
        } else if !queue.isEmpty {
          let first = queue.first
          #expect(first.packet.sequence > left[Int(first.slot)])
          left[Int(first.slot)] = first.packet.sequence
          queue.removeFirst()
          waiting -= 1
        }
        if random.next() % 100 == 0 {
          let slot = Int(random.next() % 6)
          queue.remove(slot: slot)
          waiting = queue.count
        }
        #expect(queue.count == waiting)
      }
    }
  }

  @Test func `what has waited for too long is found behind any priority`() {
    let queue = Waiting()
    #expect(queue.append(departure(0, 1, at: 0), priority: 0))
    #expect(queue.append(departure(1, 1, at: 250), priority: 255))
    let now = Instant(nanoseconds: 301_000_000)
    #expect(queue.oldest == Instant(nanoseconds: 0))
    #expect(queue.takeOverdue(now: now)?.slot == 0)
    #expect(queue.takeOverdue(now: now) == nil)
    #expect(drain(queue) == ["1:1"])
  }

  private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test
  func `a key frame has five times as long, and so has what comes behind it until its slot has caught up`() {
    let queue = Waiting()
    #expect(queue.append(departure(0, 1, at: 0, urgent: true), priority: 1))
    #expect(queue.append(departure(0, 2, at: 100), priority: 1))
    #expect(queue.append(departure(0, 3, at: 1_400), priority: 1))
    #expect(queue.append(departure(0, 4, at: 1_400), priority: 1))
    #expect(queue.takeOverdue(now: at(1_400)) == nil)
    queue.removeFirst()
    #expect(queue.takeOverdue(now: at(1_500)) == nil, "it came behind the key frame")
    queue.removeFirst()
    // By now the slot shows what has just come, and what waits is late as any other.
    #expect(queue.takeOverdue(now: at(1_500)) == nil)
    #expect(queue.takeOverdue(now: at(1_700)) == nil)
    #expect(queue.takeOverdue(now: at(1_701))?.packet.sequence == 3)
    #expect(queue.append(departure(1, 1, at: 2_000, urgent: true), priority: 1))
    #expect(queue.takeOverdue(now: at(3_500))?.slot == 0)
    #expect(queue.takeOverdue(now: at(3_500)) == nil)
    #expect(queue.takeOverdue(now: at(3_501))?.slot == 1)
  }

  @Test func `a key frame that takes long lets those go first that can't wait much longer`() {
    let queue = Waiting()
    for number in 1...3 as ClosedRange<Int64> {
      #expect(queue.append(departure(0, number, at: 0, urgent: true), priority: 255))
    }
    #expect(queue.append(departure(1, 1, at: 0), priority: 1))
    #expect(queue.append(departure(2, 1, at: 100), priority: 1))
    #expect(queue.takeOverdue(now: at(149)) == nil && queue.first.slot == 0)
    queue.removeFirst()
    #expect(queue.takeOverdue(now: at(151)) == nil && queue.first.slot == 1)
    queue.removeFirst()
    #expect(queue.first.slot == 0, "the other has time")
    queue.removeFirst()
    #expect(queue.takeOverdue(now: at(251)) == nil && queue.first.slot == 2)
    #expect(drain(queue) == ["2:1", "0:3"])
  }

  @Test func `behind a cut nothing is left up to where the source is joined again`() {
    let queue = Waiting()
    for number in 1...3 as ClosedRange<Int64> { #expect(queue.append(departure(0, number), priority: 1)) }
    #expect(queue.append(departure(1, 1), priority: 1))
    #expect(queue.append(departure(0, 4, joins: true), priority: 1))
    #expect((1...3).allSatisfy { queue.takeContinuation(ofSlot: 0)?.packet.sequence == $0 })
    #expect(queue.takeContinuation(ofSlot: 0) == nil && queue.takeContinuation(ofSlot: 7) == nil)
    #expect(drain(queue) == ["0:4", "1:1"])
  }

  @Test
  func `what no other frame refers to is named once, when something has waited for long, and 20 ms apart`() {
    let queue = Waiting()
    #expect(queue.append(departure(0, 1, at: 0), priority: 1))
    #expect(queue.takeFree(now: at(500)) == nil, "others refer to it")
    #expect(queue.append(departure(1, 1, at: 50, free: true), priority: 1))
    #expect(queue.takeFree(now: at(100)) == nil)
    #expect(queue.takeFree(now: at(101)) == 1 && queue.takeFree(now: at(200)) == nil)
    #expect(queue.append(departure(1, 2, at: 60, free: true), priority: 1))
    #expect(queue.takeFree(now: at(120)) == nil, "it was looked through just now")
    #expect(queue.takeFree(now: at(121)) == 1)
    // The oldest may be another slot's.
    queue.removeFirst()
    #expect(queue.append(departure(2, 1, at: 150, free: true), priority: 1))
    #expect(queue.takeFree(now: at(150)) == nil && queue.takeFree(now: at(151)) == 2)
  }

  @Test func `whatever is taken out of the middle, the rest keeps its order`() {
    var random = RandomSource.seeded(state: 9)
    let queue = Waiting()
    var expected: [Int64] = []
    for number in 0..<2_000 as Range<Int64> {
      #expect(queue.append(departure(0, number), priority: 1))
      expected.append(number)
      if number % 7 == 0 {
        let kept = queue.thin(ofSlot: 0) { _ in random.next() % 4 != 0 }
        expected.removeAll { !kept.contains($0) }
      }
      if random.next() % 3 == 0, !queue.isEmpty {
        let next = expected.removeFirst()
        #expect(queue.first.packet.sequence == next)
        queue.removeFirst()
      }
      #expect(queue.count == expected.count)
    }
    #expect(drain(queue) == expected.map { "0:\($0)" })
    #expect(queue.begin(ofSlot: 0) == -1)
  }

  @Test func `places are used again, and there are no more than the bound`() {
    let queue = Waiting()
    for round in 0..<3 as Range<Int64> {
      for number in 0..<Int64(DepartureQueue.limit) {
        #expect(queue.append(departure(Int(number % 40), number + round), priority: 1))
      }
      #expect(!queue.append(departure(0, 0), priority: 255))
      queue.remove(slot: 3)
      #expect(queue.append(departure(3, 0), priority: 1))
      #expect(drain(queue).count > 900)
    }
  }
}

/// The queue where expectations can look at it.
private final class Waiting {
  private var queue = DepartureQueue()

  var isEmpty: Bool { queue.isEmpty }
  var count: Int { queue.count }
  var first: Departure { queue.first }
  var oldest: Instant? { queue.oldest }
  func append(_ departure: Departure, priority: UInt8) -> Bool {
    queue.append(departure, priority: priority)
  }
  func removeFirst() { queue.removeFirst() }
  func remove(slot: Int) { queue.remove(slot: slot) }
  func takeOverdue(now: Instant) -> Departure? { queue.takeOverdue(now: now) }
  func takeContinuation(ofSlot slot: Int) -> Departure? { queue.takeContinuation(ofSlot: slot) }
  func takeFree(now: Instant) -> Int? { queue.takeFree(now: now, longer: .milliseconds(100)) }
  func begin(ofSlot slot: Int) -> Int32 { queue.begin(ofSlot: slot) }

  /// Takes out what isn't to be kept.
  /// - Returns: the numbers of what is.
  func thin(ofSlot slot: Int, keeps: (Departure) -> Bool) -> Set<Int64> {
    var kept: Set<Int64> = []
    var (place, before) = (queue.begin(ofSlot: slot), Int32(-1))
    while place >= 0 {
      if keeps(queue[place]) {
        kept.insert(queue[place].packet.sequence)
        (before, place) = (place, queue.place(behind: place))
      } else {
        place = queue.remove(place, behind: before, ofSlot: slot)
      }
    }
    return kept
  }
}
