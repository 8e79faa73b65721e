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
}
