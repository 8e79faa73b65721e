import Gateway
import Model
import Testing

/// What one URL is still to hear, without a network: in which order, how often, and what is kept in memory.
@Suite("What waits for a webhook", .timeLimit(.minutes(1)))
struct WebhookQueueTests {
  private static let start = WebhookQueueDesk.start

  @Test func `a room's next notice leaves once the one before has arrived, rooms don't wait for each other`()
  {
    var desk = WebhookQueueDesk()
    for _ in 1...3 { for room in ["RM_a", "RM_b"] { desk.happen(room) } }
    #expect(desk.sent() == ["RM_a:1", "RM_b:1"])
    desk.queue.answered("RM_b", .arrived, now: Self.start)
    #expect(desk.sent() == ["RM_b:2"])
    desk.queue.answered("RM_a", .arrived, now: Self.start)
    desk.queue.answered("RM_b", .arrived, now: Self.start)
    #expect(desk.sent() == ["RM_a:2", "RM_b:3"])
    for room in ["RM_a", "RM_b", "RM_a"] {
      desk.queue.answered(room, .arrived, now: Self.start)
      _ = desk.sent()
    }
    #expect(desk.queue.isEmpty && desk.queue.count == 0 && desk.queue.bytes == 0)
    #expect(desk.queue.counters.arrived == 6 && desk.reads == 0)
    #expect(desk.queue.next(now: Self.start) == .wait(until: .never))
    let settled = desk.queue.takeSettled()
    #expect(settled.map(\.id.text) == ["RM_b:1", "RM_a:1", "RM_b:2", "RM_a:2", "RM_b:3", "RM_a:3"])
    #expect(settled.map(\.position) == [2, 1, 4, 3, 6, 5] && settled.map(\.next) == [4, 3, 6, 5, nil, nil])
    desk.happen("RM_a")
    #expect(desk.sent() == ["RM_a:4"])
  }

  @Test func `one that failed is tried again, later each time, while other rooms go on`() {
    var desk = WebhookQueueDesk()
    var now = Self.start
    for _ in 1...2 { desk.happen("RM_bad") }
    var pauses: [Int] = []
    for _ in 1...12 {
      desk.happen("RM_good")
      let before = now
      var isTried = false
      while !isTried {
        for id in desk.sent(now) {
          let isBad = id == "RM_bad:1"
          #expect(isBad || id.hasPrefix("RM_good"))
          isTried = isTried || isBad
          desk.queue.answered(
            isBad ? "RM_bad" : "RM_good", isBad ? .failed(pause: nil) : .arrived, now: now)
        }
        now = now + .milliseconds(500)
      }
      pauses.append(Int((now - before).components.seconds))
    }
    #expect(desk.queue.counters.failed == 12 && desk.queue.counters.arrived == 12)
    #expect(pauses[1] <= 2 && pauses[5] >= 15 && pauses[11] >= 299 && pauses[11] <= 302, "\(pauses)")
    desk.queue.answered("RM_bad", .arrived, now: now)
    #expect(desk.queue.count == 2, "an answer that is not waited for changes nothing")
  }

  @Test func `where nothing gets through, one tries, and less and less often`() {
    var desk = WebhookQueueDesk()
    for room in 0..<40 { desk.happen("RM_\(room)") }
    var now = Self.start
    var tries: [Int] = []
    for _ in 0..<600 {
      let notices = desk.send(now)
      tries.append(notices.count)
      for notice in notices { desk.queue.answered(notice.id.roomId, .failed(pause: nil), now: now) }
      now = now + .seconds(1)
    }
    #expect(tries[0] == 8 && tries.dropFirst().allSatisfy { $0 <= 1 })
    // Each room once, and then less and less often.
    #expect(tries.reduce(0, +) < 60 && tries.suffix(300).reduce(0, +) <= 3 && desk.queue.count == 40)
    // One that arrives opens it for all.
    while true {
      if let notice = desk.send(now).first {
        desk.queue.answered(notice.id.roomId, .arrived, now: now)
        break
      }
      now = now + .seconds(1)
    }
    #expect(desk.sent(now).count == 8)
  }

  @Test func `what the receiver asks for is waited, within bounds`() {
    var desk = WebhookQueueDesk()
    desk.happen("RM_a")
    _ = desk.sent()
    desk.queue.answered("RM_a", .failed(pause: .seconds(20)), now: Self.start)
    desk.happen("RM_c")
    #expect(desk.sent(Self.start + .seconds(19)).isEmpty)
    #expect(Set(desk.sent(Self.start + .seconds(20))) == ["RM_a:1", "RM_c:1"])
    desk.queue.answered("RM_a", .failed(pause: nil), now: Self.start + .seconds(20))
    desk.queue.answered("RM_c", .failed(pause: .seconds(1_000_000)), now: Self.start + .seconds(20))
    #expect(desk.sent(Self.start + .seconds(20 + 299)).isEmpty)
    #expect(!desk.sent(Self.start + .seconds(20 + 301)).isEmpty)
  }

  @Test func `what the receiver asks for is waited also where another notice arrives meanwhile`() {
    var desk = WebhookQueueDesk()
    for room in ["RM_a", "RM_b"] { desk.happen(room) }
    _ = desk.sent()
    desk.queue.answered("RM_a", .failed(pause: .seconds(60)), now: Self.start)
    desk.queue.answered("RM_b", .arrived, now: Self.start + .seconds(1))
    desk.happen("RM_b")
    #expect(desk.sent(Self.start + .seconds(59)).isEmpty)
    #expect(Set(desk.sent(Self.start + .seconds(60))) == ["RM_a:1", "RM_b:2"])
  }

  @Test func `a room that says much at once keeps its share in memory, and is heard to its end`() {
    var desk = WebhookQueueDesk { $0.roomBytes = 4_096 }
    desk.happen("RM_quiet")
    for _ in 1...500 { desk.happen("RM_loud", bytes: 500) }
    #expect(desk.queue.bytes < 6_000 && desk.queue.count == 501)
    var came: [Int] = []
    #expect(desk.sent() == ["RM_quiet:1", "RM_loud:1"])
    desk.queue.answered("RM_quiet", .arrived, now: Self.start)
    came.append(1)
    desk.queue.answered("RM_loud", .arrived, now: Self.start)
    while let notice = desk.send().first {
      if notice.id.number == 100 { for _ in 1...50 { desk.happen("RM_loud", bytes: 500) } }
      #expect(desk.queue.bytes < 6_000)
      came.append(notice.id.number)
      desk.queue.answered("RM_loud", .arrived, now: Self.start)
    }
    #expect(came == Array(1...550) && desk.queue.isEmpty)
    // One that is larger than a room's share is sent like any.
    desk.happen("RM_a", bytes: 20_000)
    #expect(desk.sent() == ["RM_a:1"])
  }

  @Test func `rooms that are refused keep nothing in memory, so that others are read`() {
    var desk = WebhookQueueDesk { $0.bytes = 40_000 }
    var now = Self.start
    // They say more than there is place for.
    for round in 0..<40 {
      for room in 0..<8 { desk.happen("RM_bad\(room)", bytes: 2_000) }
      desk.happen("RM_good\(round)")
      while case let notices = desk.send(now), !notices.isEmpty {
        for notice in notices {
          let isGood = notice.id.roomId.hasPrefix("RM_good")
          desk.queue.answered(notice.id.roomId, isGood ? .arrived : .refused, now: now)
        }
      }
      now = now + .seconds(60)
      #expect(desk.queue.hasSpace)
    }
    #expect(desk.queue.counters.arrived == 40 && desk.queue.count == 320 && desk.queue.bytes < 4_000)
  }

  @Test func `no more is read while there is as much as memory has place for`() {
    var desk = WebhookQueueDesk { $0.bytes = 40_000 }
    var rooms = 0
    while desk.queue.hasSpace {
      rooms += 1
      desk.happen("RM_\(rooms)", bytes: 500)
    }
    #expect(desk.queue.bytes < 41_000 && rooms > 30)
    for notice in desk.send() { desk.queue.answered(notice.id.roomId, .arrived, now: Self.start) }
    #expect(desk.queue.hasSpace)
    // Rooms of which nothing but their place is known take some, too.
    var parked = WebhookQueueDesk { $0.bytes = 10_000 }
    for room in 0..<1_000 where parked.queue.hasSpace {
      parked.happen("RM_\(room)", bytes: 10)
      for notice in parked.send() {
        parked.queue.answered(notice.id.roomId, .refused, now: Self.start)
      }
    }
    #expect(!parked.queue.hasSpace && parked.queue.count < 100)
  }

  @Test func `a notice that is refused for what it is is given up after an hour, and its room goes on`() {
    var desk = WebhookQueueDesk()
    for _ in 1...2 { desk.happen("RM_a") }
    var now = Self.start
    var next: String?
    while next == nil, now < Self.start + .seconds(7_200) {
      for id in desk.sent(now) {
        if id == "RM_a:1" {
          desk.queue.answered("RM_a", .refused, now: now)
        } else {
          next = id
        }
      }
      now = now + .seconds(1)
    }
    #expect(next == "RM_a:2" && desk.queue.counters.refused == 1)
    let spent = (now - Self.start).components.seconds
    #expect(spent >= 3_600 && spent < 3_600 + 302)
    #expect(desk.queue.takeSettled().map(\.id.text) == ["RM_a:1"])
    // Where the receiver fails it says nothing of the notice.
    var failing = WebhookQueueDesk()
    failing.happen("RM_a")
    for hour in 0..<20 {
      let now = Self.start + .seconds(3_600 * hour)
      for _ in failing.sent(now) {
        failing.queue.answered("RM_a", hour % 2 == 0 ? .refused : .failed(pause: nil), now: now)
      }
    }
    #expect(failing.queue.count == 1 && failing.queue.counters.refused == 0)
  }

  @Test func `a refusal holds up no other room: the receiver is there`() {
    var desk = WebhookQueueDesk()
    for room in 0..<8 { desk.happen("RM_\(room)") }
    for notice in desk.send() { desk.queue.answered(notice.id.roomId, .refused, now: Self.start) }
    for room in 8..<16 { desk.happen("RM_\(room)") }
    #expect(desk.sent(Self.start + .milliseconds(1)).count == 8)
  }

  @Test func `what the store has given up is sent no more, unless it is on its way`() {
    var desk = WebhookQueueDesk()
    for _ in 1...3 { for room in ["RM_a", "RM_b", "RM_c"] { desk.happen(room) } }
    #expect(desk.sent() == ["RM_a:1", "RM_b:1", "RM_c:1"])
    desk.queue.answered("RM_b", .failed(pause: nil), now: Self.start)
    desk.queue.giveUp(upTo: 6)
    desk.queue.answered("RM_a", .failed(pause: nil), now: Self.start)
    desk.queue.answered("RM_c", .arrived, now: Self.start)
    // Of what is in the store alone only the ends are known.
    #expect(desk.queue.count == 5)
    for room in ["RM_a", "RM_b", "RM_c"] { desk.stored[room]?.removeFirst(2) }
    let later = Self.start + .seconds(10)
    #expect(Set(desk.sent(later)) == ["RM_a:3", "RM_b:3", "RM_c:3"])
    for room in ["RM_a", "RM_b", "RM_c"] { desk.queue.answered(room, .arrived, now: later) }
    #expect(desk.queue.isEmpty && desk.queue.count == 0 && desk.queue.bytes == 0)
    // All of a room, while it is read.
    var other = WebhookQueueDesk()
    other.happen("RM_a")
    _ = other.send()
    other.queue.answered("RM_a", .failed(pause: nil), now: Self.start)
    guard case .read(let span, _) = other.queue.next(now: later) else {
      Issue.record("it is not read")
      return
    }
    other.queue.giveUp(upTo: 1)
    other.happen("RM_a")
    other.queue.came([], rest: nil, of: span.room)
    #expect(other.sent(later) == ["RM_a:2"])
  }

  @Test func `a room that can't be read is read again, and one that has nothing left there is done with`() {
    var desk = WebhookQueueDesk()
    desk.happen("RM_a")
    _ = desk.send()
    desk.queue.answered("RM_a", .failed(pause: nil), now: Self.start)
    let later = Self.start + .seconds(5)
    guard case .read(let span, _) = desk.queue.next(now: later) else {
      Issue.record("it is not read")
      return
    }
    #expect(span.first == span.last && span.first == WebhookQueue.Mark(number: 1, position: 1))
    desk.queue.cameNot(of: "RM_a", now: later)
    #expect(desk.queue.next(now: later) == .wait(until: later + .seconds(1)))
    desk.stored = [:]
    #expect(desk.sent(later + .seconds(1)).isEmpty && desk.queue.isEmpty)
    #expect(desk.queue.takeSettled().map(\.id.text) == ["RM_a:1"])
  }

  @Test func `a notice is refused for an hour by itself, whatever was given up before it`() {
    // Given up while it waits, and while it is on its way.
    for isUnderWay in [false, true] {
      var desk = WebhookQueueDesk()
      for _ in 1...2 { desk.happen("RM_a") }
      var now = Self.start
      var sent: [Instant] = []
      var isGivenUp = false
      while desk.queue.counters.refused == 0, now < Self.start + .seconds(10_000) {
        let notices = desk.send(now)
        if notices.first?.id.number == 2 { sent.append(now) }
        if !isGivenUp, now > Self.start + .seconds(3_000), notices.isEmpty != isUnderWay {
          desk.queue.giveUp(upTo: 1)
          isGivenUp = true
        }
        for notice in notices { desk.queue.answered(notice.id.roomId, .refused, now: now) }
        now = now + .seconds(1)
      }
      let time = sent.last.map { ($0 - sent[0]).components.seconds } ?? 0
      #expect(time >= 3_600 && sent.count > 12, "\(isUnderWay): \(time) s, \(sent.count)")
    }
  }

  @Test func `one that fails alone, however often, delays no other room`() {
    var desk = WebhookQueueDesk()
    desk.happen("RM_bad")
    var now = Self.start
    for second in 0..<3_600 {
      if second % 500 == 300 { desk.happen("RM_\(second)") }
      let came = desk.sent(now)
      if second % 500 == 300 { #expect(came.contains("RM_\(second):1"), "\(second)") }
      for id in came where id == "RM_bad:1" {
        desk.queue.answered("RM_bad", .failed(pause: nil), now: now)
      }
      for id in came where id != "RM_bad:1" {
        desk.queue.answered(String(id.dropLast(2)), .arrived, now: now)
      }
      now = now + .seconds(1)
    }
    #expect(desk.queue.counters.failed > 10 && desk.queue.counters.arrived == 7)
  }

  @Test func `where nothing gets through, a room that hasn't failed is tried before all that have`() {
    var desk = WebhookQueueDesk()
    for room in 0..<12 { desk.happen("RM_bad\(room)") }
    var now = Self.start
    for second in 0..<3_000 {
      if second == 2_000 { desk.happen("RM_good") }
      for notice in desk.send(now) {
        let isGood = notice.id.roomId == "RM_good"
        desk.queue.answered(notice.id.roomId, isGood ? .arrived : .failed(pause: nil), now: now)
      }
      now = now + .seconds(1)
      if desk.queue.counters.arrived == 1 { break }
    }
    #expect((now - Self.start).components.seconds <= 2_010 && desk.queue.counters.arrived == 1)
  }

  @Test
  func `a receiver that is away is asked once in five seconds at most, however many rooms are new to it`() {
    var desk = WebhookQueueDesk()
    for room in 0..<12 { desk.happen("RM_bad\(room)") }
    var now = Self.start
    var tries = 0
    for second in 0..<1_000 {
      desk.happen("RM_new\(second)")
      for notice in desk.send(now) {
        if second >= 100 { tries += 1 }
        desk.queue.answered(notice.id.roomId, .failed(pause: nil), now: now)
      }
      now = now + .seconds(1)
    }
    #expect((100...200).contains(tries))
  }

  @Test func `what a receiver asks for is kept for new rooms too`() {
    var desk = WebhookQueueDesk()
    for room in ["RM_a", "RM_b"] {
      desk.happen(room)
      for notice in desk.send(Self.start) {
        desk.queue.answered(notice.id.roomId, .failed(pause: .seconds(100)), now: Self.start)
      }
    }
    desk.happen("RM_c")
    #expect(desk.send(Self.start + .seconds(99)).isEmpty)
    #expect(desk.send(Self.start + .seconds(100)).map(\.id.roomId).contains("RM_c"))
  }
}
