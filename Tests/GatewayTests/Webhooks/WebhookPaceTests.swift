import Gateway
import Model
import Testing

/// Which room's notice leaves when, where some of them never arrive.
@Suite("The pace of webhooks", .timeLimit(.minutes(1)))
struct WebhookPaceTests {
  private static let start = WebhookQueueDesk.start

  @Test func `rooms that begin together wait for none that fails: each has its try`() {
    var desk = WebhookQueueDesk()
    for room in 0..<12 { desk.happen("RM_bad\(room)") }
    var now = Self.start
    var arrived: [Int] = []
    for second in 0..<900 {
      if second >= 300, second % 60 == 0 {
        for name in ["RM_bad", "RM_good"] { desk.happen("\(name)\(second)") }
      }
      for notice in desk.send(now) {
        let room = notice.id.roomId
        let isGood = room.hasPrefix("RM_good")
        if isGood, let begun = Int(room.dropFirst(7)) { arrived.append(second - begun) }
        desk.queue.answered(room, isGood ? .arrived : .failed(pause: nil), now: now)
      }
      now = now + .seconds(1)
    }
    #expect(arrived.count == 10 && arrived.allSatisfy { $0 <= 20 }, "\(arrived)")
  }

  @Test func `numbers that don't grow with positions are a span all the same`() {
    for numbers in [[5, 7, 8, 6], [3, 1, 2], [2, 1]] {
      var desk = WebhookQueueDesk { $0.roomBytes = 1 }
      var now = Self.start
      for (place, number) in numbers.enumerated() {
        desk.queue.add(EventID(roomId: "RM_a", number: number), at: UInt64(place + 1)) { [46] }
      }
      for _ in 0..<40 {
        switch desk.queue.next(now: now) {
        case .send(let notice): desk.queue.answered(notice.id.roomId, .failed(pause: nil), now: now)
        case .read(let span, _):
          #expect(span.first.number <= span.last.number, "\(numbers): \(span)")
          desk.queue.cameNot(of: "RM_a", now: now)
        case .wait: now = now + .seconds(30)
        }
      }
    }
  }

  @Test func `the moment that is waited for is the one at which something may leave`() {
    var desk = WebhookQueueDesk()
    for room in 0..<12 { desk.happen("RM_\(room)") }
    var now = Self.start
    // Until the URL is left alone for as long as it ever is.
    for _ in 0..<4_000 {
      for notice in desk.send(now) {
        desk.queue.answered(notice.id.roomId, .failed(pause: .seconds(5)), now: now)
      }
      now = now + .seconds(1)
    }
    while true {
      let sent = desk.send(now)
      if let notice = sent.first {
        desk.queue.answered(notice.id.roomId, .failed(pause: .seconds(5)), now: now)
        break
      }
      now = now + .seconds(1)
    }
    desk.happen("RM_new")
    guard case .wait(let until) = desk.queue.next(now: now) else {
      Issue.record("what was asked for isn't waited")
      return
    }
    #expect(until - now <= .seconds(5) && desk.sent(until) == ["RM_new:1"])
  }
}
