import Gateway
import Model
import Testing

/// What one URL is still to hear, without a network: in which order, how often, and what is given up.
@Suite("What waits for a webhook", .timeLimit(.minutes(1)))
struct WebhookQueueTests {
  private typealias Notice = WebhookQueue.Notice
  private static let start = Instant(nanoseconds: 1_000_000_000)
  private static let wall = WallTime(milliseconds: 1_800_000_000_000)

  private func notice(_ room: String, _ number: Int, bytes: Int = 100, age: Duration = .zero)
    -> WebhookQueue.Notice
  {
    WebhookQueue.Notice(
      id: EventID(roomId: room, number: number), created: Self.wall.advanced(by: .zero - age),
      body: [UInt8](repeating: 46, count: bytes))
  }

  private func limits(_ adjust: (inout WebhookQueue.Limits) -> Void = { _ in }) -> WebhookQueue.Limits {
    var limits = WebhookQueue.Limits()
    adjust(&limits)
    return limits
  }

  /// What may leave now.
  private func sent(_ queue: inout WebhookQueue, _ now: Instant = start, wall: WallTime = wall) -> [String] {
    var ids: [String] = []
    while case .send(let notice) = queue.next(now: now, wall: wall) { ids.append(notice.id.text) }
    return ids
  }

  @Test func `a room's next notice leaves once the one before has arrived, rooms don't wait for each other`()
  {
    var queue = WebhookQueue()
    for number in 1...3 { for room in ["RM_a", "RM_b"] { queue.add(notice(room, number)) } }
    #expect(sent(&queue) == ["RM_a:1", "RM_b:1"])
    queue.answered("RM_b", .arrived, now: Self.start)
    #expect(sent(&queue) == ["RM_b:2"])
    queue.answered("RM_a", .arrived, now: Self.start)
    queue.answered("RM_b", .arrived, now: Self.start)
    #expect(sent(&queue) == ["RM_a:2", "RM_b:3"])
    for room in ["RM_a", "RM_b", "RM_a"] {
      queue.answered(room, .arrived, now: Self.start)
      _ = sent(&queue)
    }
    #expect(queue.count == 0 && queue.bytes == 0 && queue.counters.arrived == 6)
    #expect(queue.next(now: Self.start, wall: Self.wall) == .wait(until: .never))
    queue.add(notice("RM_a", 4))
    #expect(sent(&queue) == ["RM_a:4"])
  }

  @Test func `one that failed is tried again, later each time, while other rooms go on`() {
    var queue = WebhookQueue()
    var now = Self.start
    queue.add(notice("RM_bad", 1))
    queue.add(notice("RM_bad", 2))
    var pauses: [Int] = []
    for number in 1...12 {
      queue.add(notice("RM_good", number))
      let before = now
      var isTried = false
      while !isTried {
        for id in sent(&queue, now) {
          let isBad = id == "RM_bad:1"
          #expect(isBad || id.hasPrefix("RM_good"))
          isTried = isTried || isBad
          queue.answered(isBad ? "RM_bad" : "RM_good", isBad ? .failed(pause: nil) : .arrived, now: now)
        }
        now = now + .milliseconds(500)
      }
      pauses.append(Int((now - before).components.seconds))
    }
    #expect(queue.counters.failed == 12 && queue.counters.arrived == 12)
    #expect(pauses[1] <= 2 && pauses[5] >= 15 && pauses[11] >= 299 && pauses[11] <= 302, "\(pauses)")
    queue.answered("RM_bad", .arrived, now: now)
    #expect(queue.count == 2, "an answer that is not waited for changes nothing")
  }

  @Test func `where nothing gets through, one tries, and less and less often`() {
    var queue = WebhookQueue()
    for room in 0..<40 { queue.add(notice("RM_\(room)", 1)) }
    var now = Self.start
    var tries: [Int] = []
    for _ in 0..<600 {
      let ids = sent(&queue, now)
      tries.append(ids.count)
      for id in ids { queue.answered(EventID(id)?.roomId ?? "", .failed(pause: nil), now: now) }
      now = now + .seconds(1)
    }
    #expect(tries[0] == 8 && tries.dropFirst().allSatisfy { $0 <= 1 })
    #expect(tries.reduce(0, +) < 20 && queue.count == 40)
    // One that arrives opens it for all.
    while true {
      if let id = sent(&queue, now).first {
        queue.answered(EventID(id)?.roomId ?? "", .arrived, now: now)
        break
      }
      now = now + .seconds(1)
    }
    #expect(sent(&queue, now).count == 8)
  }

  @Test func `what the receiver asks for is waited, within bounds`() {
    var queue = WebhookQueue()
    queue.add(notice("RM_a", 1))
    _ = sent(&queue)
    queue.answered("RM_a", .failed(pause: .seconds(20)), now: Self.start)
    queue.add(notice("RM_c", 1))
    #expect(sent(&queue, Self.start + .seconds(19)).isEmpty)
    #expect(Set(sent(&queue, Self.start + .seconds(20))) == ["RM_a:1", "RM_c:1"])
    queue.answered("RM_a", .failed(pause: nil), now: Self.start + .seconds(20))
    queue.answered("RM_c", .failed(pause: .seconds(1_000_000)), now: Self.start + .seconds(20))
    #expect(sent(&queue, Self.start + .seconds(20 + 299)).isEmpty)
    #expect(!sent(&queue, Self.start + .seconds(20 + 301)).isEmpty)
  }

  @Test func `what is older than a day is given up and counted, what is on its way is not`() {
    var queue = WebhookQueue()
    queue.add(notice("RM_a", 1, age: .seconds(86_401)))
    queue.add(notice("RM_a", 2, age: .seconds(86_399)))
    queue.add(notice("RM_b", 1, age: .seconds(90_000)))
    #expect(sent(&queue) == ["RM_a:2"])
    #expect(queue.counters.late == 2 && queue.count == 1)
    let later = Self.start + .seconds(7_200)
    #expect(
      sent(&queue, later, wall: Self.wall.advanced(by: .seconds(7_200))).isEmpty && queue.counters.late == 2)
    queue.answered("RM_a", .failed(pause: nil), now: later)
    #expect(sent(&queue, later + .seconds(61), wall: Self.wall.advanced(by: .seconds(7_261))).isEmpty)
    #expect(queue.counters.late == 3 && queue.count == 0 && queue.bytes == 0)
    queue.add(notice("RM_b", 2))
    #expect(sent(&queue, later + .seconds(62)) == ["RM_b:2"], "a room that had given up all comes again")
  }

  @Test
  func `what waits has a bound: a loud room gives up its own oldest, and of a full queue the newest goes`() {
    var queue = WebhookQueue(limits: limits { $0.bytes = 16 * 4_096 })
    queue.add(notice("RM_quiet", 1))
    for number in 1...100 { queue.add(notice("RM_loud", number, bytes: 500)) }
    #expect(queue.bytes < 4_096 + 1_000 && queue.counters.crowdedOut > 80)
    #expect(sent(&queue) == ["RM_quiet:1", "RM_loud:\(100 - (queue.count - 2))"])
    // The one that is on its way stays.
    for number in 101...200 { queue.add(notice("RM_loud", number, bytes: 500)) }
    queue.answered("RM_loud", .arrived, now: Self.start)
    let next = sent(&queue)
    #expect(next.count == 1 && next[0] != "RM_loud:101" && next[0].hasPrefix("RM_loud:19"))
    for room in 0..<1_000 { queue.add(notice("RM_\(room)", 1, bytes: 500)) }
    #expect(queue.bytes <= 16 * 4_096)
    let crowded = queue.counters.crowdedOut
    queue.add(notice("RM_one", 1, bytes: 500))
    #expect(queue.counters.crowdedOut == crowded + 1)
    // One larger than a room's share is taken where there is place.
    var empty = WebhookQueue(limits: limits { $0.bytes = 16 * 4_096 })
    empty.add(notice("RM_a", 1, bytes: 20_000))
    #expect(sent(&empty) == ["RM_a:1"])
  }

  @Test func `in whatever order answers come, every notice arrives at least once, in the order of its room`()
  {
    for seed in 0..<200 {
      var random = RandomSource.seeded(state: UInt64(seed))
      var queue = WebhookQueue()
      var (written, arrived): ([String: Int], [String: Int]) = ([:], [:])
      var under: [String] = []
      var now = Self.start
      for step in 0..<4_000 {
        if step < 500 {
          let room = "RM_\(Int.random(in: 0..<5, using: &random))"
          written[room, default: 0] += 1
          queue.add(notice(room, written[room] ?? 0, bytes: 10))
        }
        while case .send(let notice) = queue.next(now: now, wall: Self.wall) {
          #expect(
            !under.contains(notice.id.roomId) && notice.id.number == arrived[notice.id.roomId, default: 0] + 1
          )
          under.append(notice.id.roomId)
        }
        #expect(under.count <= 8)
        if let index = under.indices.randomElement(using: &random) {
          let room = under.remove(at: index)
          let isGood = Int.random(in: 0..<4, using: &random) > 0
          queue.answered(room, isGood ? .arrived : .failed(pause: nil), now: now)
          if isGood { arrived[room, default: 0] += 1 }
        }
        now = now + .milliseconds(Int.random(in: 0...900, using: &random))
      }
      #expect(arrived == written && queue.count == 0 && queue.bytes == 0, "seed \(seed)")
    }
  }
}
