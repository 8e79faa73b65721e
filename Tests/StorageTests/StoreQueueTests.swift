import Synchronization
import Testing

@testable import Storage

@Suite("What a store is still to do", .timeLimit(.minutes(1)))
struct StoreQueueTests {
  private static func job(_ bytes: Int, isWrite: Bool = true) -> StoreQueue.Job {
    StoreQueue.Job(isWrite: isWrite, bytes: bytes, perform: { _ in {} }, fail: { _ in })
  }

  @Test func `writes up to the next read are taken together, and a read by itself`() {
    var queue = StoreQueue(byteLimit: 1_000)
    for isWrite in [true, true, false, false, true] {
      #expect(queue.add(Self.job(1, isWrite: isWrite)) == nil)
    }
    var groups: [Int] = []
    while true {
      let group = queue.take()
      if group.isEmpty { break }
      groups.append(group.count)
      queue.finish()
    }
    #expect(groups == [2, 1, 1, 1])
  }

  @Test func `a group has an end, and what is under way counts as waiting`() {
    var queue = StoreQueue(byteLimit: 10_000)
    for _ in 0..<StoreQueue.groupLimit + 1 { _ = queue.add(Self.job(1)) }
    #expect(queue.take().count == StoreQueue.groupLimit)
    #expect(queue.waiting == (StoreQueue.groupLimit + 1, StoreQueue.groupLimit + 1))
    queue.finish()
    #expect(queue.waiting == (1, 1))
  }

  @Test func `jobs without bytes are bounded too`() {
    var queue = StoreQueue(byteLimit: 10)
    for _ in 0..<StoreQueue.jobLimit { _ = queue.add(Self.job(0)) }
    #expect(queue.add(Self.job(0)) == .queueFull)
    queue.close()
    #expect(queue.add(Self.job(0)) == .closed)
  }

  @Test func `whatever comes and goes, jobs leave in the order in which they came, each once`() {
    var queue = StoreQueue(byteLimit: .max)
    var (added, taken) = ([Int](), [Int]())
    for step in 0..<2_000 {
      if Int.random(in: 0..<3) > 0 {
        added.append(step)
        #expect(queue.add(Self.job(step, isWrite: Bool.random())) == nil)
      } else {
        taken += queue.take().map(\.bytes)
        queue.finish()
      }
      #expect(queue.waiting.jobs == added.count - taken.count)
      #expect(queue.waiting.bytes == added.dropFirst(taken.count).reduce(0, +))
    }
    while true {
      let group = queue.take()
      if group.isEmpty { break }
      taken += group.map(\.bytes)
    }
    #expect(taken == added)
  }

  @Test func `a long queue is taken from as fast as a short one`() {
    var queue = StoreQueue(byteLimit: 1)
    for _ in 0..<StoreQueue.jobLimit { _ = queue.add(Self.job(0, isWrite: false)) }
    let begin = ContinuousClock.now
    for _ in 0..<StoreQueue.jobLimit { #expect(queue.take().count == 1) }
    // Where each takes all that are behind it along, this is minutes.
    #expect(.now - begin < .seconds(10))
  }

  @Test func `what was taken is let go of by the queue`() {
    final class Waiter: Sendable {}
    var queue = StoreQueue(byteLimit: 1_000)
    weak var known: Waiter?
    do {
      let waiter = Waiter()
      known = waiter
      _ = queue.add(StoreQueue.Job(isWrite: false, bytes: 1, perform: { _ in {} }, fail: { _ in _ = waiter }))
    }
    for _ in 0..<10 { _ = queue.add(Self.job(1)) }
    #expect(known != nil)
    #expect(queue.take().count == 1)
    #expect(known == nil)
  }
}
