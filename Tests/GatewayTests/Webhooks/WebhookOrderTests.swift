import Gateway
import Model
import Testing

/// Rooms, a store and a receiver that do what they like, at the times that they like.
@Suite("Order and loss of what waits for a webhook", .timeLimit(.minutes(1)))
struct WebhookOrderTests {
  private struct Mistake: Error, CustomStringConvertible { let description: String }

  /// What is on its way in between: notices by their room, and what is being read.
  private struct World {
    var queue: WebhookQueue
    var random: RandomSource
    var now = Instant(nanoseconds: 1_000_000_000)
    var stored: [String: [WebhookQueue.Notice]] = [:]
    var position: UInt64 = 0
    var givenUp: UInt64 = 0
    var arrived: [String: Int] = [:]
    var sending: [WebhookQueue.Notice] = []
    var reading: [(span: WebhookQueue.Span, bytes: Int)] = []
    var settled: [String: Int] = [:]

    init(seed: UInt64) {
      random = RandomSource.seeded(state: seed)
      var limits = WebhookQueue.Limits()
      (limits.bytes, limits.roomBytes) = (6_000, 600)
      queue = WebhookQueue(limits: limits)
    }

    /// True once in so many cases.
    mutating func once(in cases: Int) -> Bool { Int.random(in: 0..<cases, using: &random) == 0 }

    mutating func happen() {
      let room = "RM_\(Int.random(in: 0..<5, using: &random))"
      // Some positions have no event.
      position += once(in: 5) ? 2 : 1
      let id = EventID(roomId: room, number: (stored[room]?.last?.id.number ?? 0) + 1)
      let body = [UInt8](repeating: 46, count: Int.random(in: 1...200, using: &random))
      let notice = WebhookQueue.Notice(id: id, position: position, body: body)
      stored[room, default: []].append(notice)
      queue.add(id, at: position) { body }
    }

    /// What a room's next is to be.
    func next(of room: String) -> Int? {
      stored[room]?.first { $0.position > givenUp && $0.id.number > arrived[room, default: 0] }?.id.number
    }

    mutating func act() throws(Mistake) {
      acting: while true {
        switch queue.next(now: now) {
        case .send(let notice):
          let room = notice.id.roomId
          guard !sending.contains(where: { $0.id.roomId == room }) else {
            throw Mistake(description: "two of \(room) at once")
          }
          guard notice.id.number == next(of: room) else {
            throw Mistake(description: "\(notice.id.text) in place of \(next(of: room) ?? 0)")
          }
          sending.append(notice)
        case .read(let span, let bytes): reading.append((span, bytes))
        case .wait: break acting
        }
      }
      guard sending.count + reading.count <= 8, queue.bytes < 9_000 else {
        throw Mistake(description: "\(sending.count) and \(reading.count) at once, \(queue.bytes) bytes")
      }
      for event in queue.takeSettled() {
        guard event.id.number > settled[event.id.roomId, default: 0] || event.position <= givenUp else {
          throw Mistake(description: "\(event.id.text) is settled again")
        }
        settled[event.id.roomId] = event.id.number
      }
    }

    mutating func answer() {
      guard let index = sending.indices.randomElement(using: &random) else { return }
      let notice = sending.remove(at: index)
      let outcome: WebhookQueue.Outcome =
        !once(in: 4) ? .arrived : once(in: 3) ? .refused : .failed(pause: once(in: 5) ? .seconds(3) : nil)
      if outcome == .arrived { arrived[notice.id.roomId] = notice.id.number }
      queue.answered(notice.id.roomId, outcome, now: now)
    }

    mutating func finishReading() {
      guard let index = reading.indices.randomElement(using: &random) else { return }
      let (span, bytes) = reading.remove(at: index)
      guard !once(in: 6) else { return queue.cameNot(of: span.room, now: now) }
      let numbers = span.first.number...span.last.number
      let all = (stored[span.room] ?? []).filter { numbers.contains($0.id.number) }
      var (left, notices) = (bytes, [WebhookQueue.Notice]())
      for notice in all {
        guard notices.isEmpty || left >= notice.body.count else { break }
        left -= notice.body.count
        notices.append(notice)
      }
      let rest = notices.count < all.count ? all[notices.count] : nil
      queue.came(
        notices, rest: rest.map { WebhookQueue.Mark(number: $0.id.number, position: $0.position) },
        of: span.room)
    }

    /// Of whatever rooms; they leave the store at once, or later.
    mutating func giveUp() {
      givenUp = max(givenUp, position - min(position, UInt64.random(in: 0..<60, using: &random)))
      if once(in: 2) {
        for room in stored.keys {
          // The last is kept here for its number.
          let count = stored[room, default: []].dropLast().prefix { $0.position <= givenUp }.count
          stored[room]?.removeFirst(count)
        }
      }
      queue.giveUp(upTo: givenUp)
    }
  }

  private func run(_ seed: UInt64, givesUp: Bool) throws -> World {
    var world = World(seed: seed)
    for step in 0..<8_000 {
      if step < 700, world.queue.hasSpace || world.once(in: 10) { world.happen() }
      // Much of one moment.
      if step < 700, world.once(in: 100) { for _ in 0..<50 { world.happen() } }
      try world.act()
      if world.once(in: 2) { world.answer() }
      if world.once(in: 3) { world.finishReading() }
      if givesUp, step < 700, world.once(in: 40) { world.giveUp() }
      world.now = world.now + .milliseconds(Int.random(in: 0...900, using: &world.random))
      if step > 700, world.queue.isEmpty { break }
    }
    try world.act()
    return world
  }

  @Test func `in whatever order answers come, every notice arrives at least once, in the order of its room`()
    throws
  {
    for seed in 0..<200 as Range<UInt64> {
      let world = try run(seed, givesUp: false)
      let last = world.stored.compactMapValues(\.last?.id.number)
      try #require(world.arrived == last && world.queue.bytes == 0, "seed \(seed)")
      try #require(world.settled == last, "seed \(seed)")
    }
  }

  @Test func `what is given up meanwhile is left out, and nothing else is`() throws {
    for seed in 0..<200 as Range<UInt64> {
      let world = try run(seed, givesUp: true)
      try #require(world.queue.isEmpty && world.queue.bytes == 0 && world.givenUp > 0, "seed \(seed)")
      for room in world.stored.keys { try #require(world.next(of: room) == nil, "seed \(seed)") }
    }
  }
}
