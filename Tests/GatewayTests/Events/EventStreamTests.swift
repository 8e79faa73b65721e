import Gateway
import HTTPServer
import Model
import Testing

/// One who reads events, without log or socket: what is said in which order, and when.
@Suite("A reader of events, as a value", .timeLimit(.minutes(1)))
struct EventStreamTests {
  private typealias Present = EventStream.Circumstances
  private static let start = Instant(nanoseconds: 5_000_000_000)
  private static let wall = 1_000_000

  private func present(
    _ now: Instant = start, wall: Int = wall, _ adjust: (inout EventStream.Circumstances) -> Void = { _ in }
  ) -> EventStream.Circumstances {
    var present = EventStream.Circumstances(now: now, wall: wall)
    adjust(&present)
    return present
  }

  private func room(after: Int?) -> EventStream {
    EventStream(at: .room(id: "RM_a", after: after), expires: Self.wall + 600)
  }

  /// One that has begun and knows all that there is by now.
  private func waiting(after: Int = 3) -> EventStream {
    var stream = room(after: after)
    _ = stream.next(present())
    stream.took(.room(id: "RM_a", after: after), count: 0, isLast: true, isOver: false, now: Self.start)
    return stream
  }

  @Test func `it opens at once, reads from where it was, and waits once it knows all`() {
    for after in [nil, 0, 7] {
      var stream = room(after: after)
      #expect(stream.next(present()) == .say(.opening))
      #expect(stream.next(present()) == .read(.room(id: "RM_a", after: after)))
      stream.took(.room(id: "RM_a", after: 9), count: 2, isLast: false, isOver: false, now: Self.start)
      #expect(stream.next(present()) == .read(.room(id: "RM_a", after: 9)))
      stream.took(.room(id: "RM_a", after: 12), count: 3, isLast: true, isOver: false, now: Self.start)
      #expect(stream.next(present()) == .wait(until: Self.start + EventStream.beat))
      #expect(stream.position == .room(id: "RM_a", after: 12))
    }
    var all = EventStream(at: .all(after: "c"), expires: .max)
    _ = all.next(present())
    #expect(all.next(present()) == .read(.all(after: "c")))
  }

  @Test func `a comment comes every fifteen seconds, whether something happens or not`() {
    var stream = waiting()
    var comments: [Duration] = []
    for tenth in 0..<600 {
      let now = Self.start + .milliseconds(100 * tenth)
      stream.look()
      loop: while true {
        switch stream.next(present(now)) {
        case .say(.comment): comments.append(now - Self.start)
        case .read(let position):
          // Half of the time something happens in each tenth of a second.
          stream.took(position, count: tenth < 300 ? 1 : 0, isLast: true, isOver: false, now: now)
        case .wait: break loop
        case .say, .end: Issue.record("it ends")
        }
      }
    }
    #expect(comments == [.seconds(15), .seconds(30), .seconds(45)])
  }

  @Test func `what happens within a twentieth of a second is read together, the first of it at once`() {
    var stream = waiting()
    stream.look()
    let now = Self.start + .seconds(1)
    #expect(stream.next(present(now)) == .read(.room(id: "RM_a", after: 3)))
    stream.took(.room(id: "RM_a", after: 4), count: 1, isLast: true, isOver: false, now: now)
    for milliseconds in [1, 20, 49] {
      stream.look()
      #expect(
        stream.next(present(now + .milliseconds(milliseconds))) == .wait(until: now + EventStream.pause))
    }
    stream.look()
    #expect(stream.next(present(now + .milliseconds(50))) == .read(.room(id: "RM_a", after: 4)))
  }

  @Test func `a token that holds no longer is noticed when it ends, and nothing more is read`() {
    var stream = EventStream(at: .room(id: "RM_a", after: 3), expires: Self.wall + 5)
    _ = stream.next(present())
    stream.took(.room(id: "RM_a", after: 3), count: 0, isLast: true, isOver: false, now: Self.start)
    #expect(stream.next(present()) == .wait(until: Self.start + .seconds(5)))
    // By the clock of the wall it isn't time yet: a second more, not a round without end.
    stream.look()
    _ = stream.next(present(wall: Self.wall + 5))
    stream.took(.room(id: "RM_a", after: 3), count: 0, isLast: true, isOver: false, now: Self.start)
    #expect(stream.next(present(wall: Self.wall + 5)) == .wait(until: Self.start + .seconds(1)))
    stream.look()
    #expect(stream.next(present { $0.refusal = .tokenExpired }) == .say(.end(.tokenExpired)))
    #expect(stream.next(present()) == .end && stream.next(present { $0.refusal = .removed }) == .end)
  }

  @Test func `a time that never comes is no time that overflows`() {
    for expires in [Int.max, Int.min, 0] {
      var stream = EventStream(at: .all(after: nil), expires: expires)
      _ = stream.next(present())
      stream.took(.all(after: "c"), count: 0, isLast: true, isOver: false, now: Self.start)
      guard case .wait(let moment) = stream.next(present()) else {
        Issue.record("it waits")
        continue
      }
      #expect(moment > Self.start && moment <= Self.start + EventStream.beat)
    }
  }

  @Test func `who may no longer read hears that before anything else, at whatever point`() {
    for end in [EventStreamEnd.removed, .notAllowed, .tokenExpired] {
      var fresh = room(after: nil)
      #expect(fresh.next(present { $0.refusal = end }) == .say(.end(end)))
      var begun = room(after: nil)
      _ = begun.next(present())
      #expect(begun.next(present { $0.refusal = end }) == .say(.end(end)))
      var late = waiting()
      late.look()
      #expect(late.next(present(Self.start + .seconds(99)) { $0.refusal = end }) == .say(.end(end)))
      #expect(late.next(present()) == .end)
    }
  }

  @Test func `the end of a room is the end of its stream, once all of it was said`() {
    var stream = room(after: 3)
    _ = stream.next(present())
    stream.took(.room(id: "RM_a", after: 5), count: 2, isLast: false, isOver: true, now: Self.start)
    #expect(stream.next(present()) == .read(.room(id: "RM_a", after: 5)))
    stream.took(.room(id: "RM_a", after: 6), count: 1, isLast: true, isOver: true, now: Self.start)
    #expect(stream.next(present()) == .say(.end(.roomFinished)) && stream.next(present()) == .end)
  }

  @Test func `one that fell behind what is kept hears how to go on`() {
    let gone = EventStreamEnd.eventsGone(
      roomId: "RM_a", oldest: 90, latest: 99, state: "/v1/rooms/a/participants")
    var stream = room(after: 3)
    _ = stream.next(present())
    stream.failed(gone)
    #expect(stream.next(present()) == .say(.end(gone)) && stream.next(present()) == .end)
  }

  @Test func `a drain is said once, and the stream goes on until the server stops`() {
    var stream = waiting()
    let deadline = "2026-01-01T00:00:00.000Z"
    stream.look()
    #expect(stream.next(present { $0.drainDeadline = deadline }) == .say(.draining(deadline: deadline)))
    #expect(stream.next(present { $0.drainDeadline = deadline }) == .read(.room(id: "RM_a", after: 3)))
    // All that happened comes before the end, also where it would wait a moment.
    stream.took(.room(id: "RM_a", after: 4), count: 1, isLast: true, isOver: false, now: Self.start)
    stream.look()
    #expect(stream.next(present { $0.ending = .shutdown }) == .read(.room(id: "RM_a", after: 4)))
    stream.took(.room(id: "RM_a", after: 6), count: 2, isLast: true, isOver: false, now: Self.start)
    #expect(stream.next(present { $0.ending = .shutdown }) == .say(.end(.serverShutdown)))
    #expect(stream.next(present()) == .end)
  }

  @Test func `one that takes nothing hears only that`() {
    var stream = room(after: 3)
    _ = stream.next(present())
    #expect(stream.next(present { $0.ending = .stalled }) == .say(.end(.tooSlow)))
    #expect(stream.next(present { $0.ending = .stalled }) == .end)
    var removed = room(after: 3)
    let cutOff = present {
      $0.ending = .stalled
      $0.refusal = .removed
    }
    #expect(removed.next(cutOff) == .say(.end(.removed)))
  }

  @Test func `in whatever portions the log is read, each event is said once and in order`() {
    for seed in 0..<300 {
      var random = RandomSource.seeded(state: UInt64(seed))
      let known = Int.random(in: 0...20, using: &random)
      var stream = room(after: known)
      var latest = known + Int.random(in: 0...5, using: &random)
      var said: [Int] = []
      var now = Self.start
      for _ in 0..<200 {
        latest += Int.random(in: 0...2, using: &random) / 2
        now = now + .milliseconds(Int.random(in: 0...80, using: &random))
        stream.look()
        loop: while true {
          switch stream.next(present(now)) {
          case .read(.room(_, let after)):
            let from = after ?? 0
            let count = min(Int.random(in: 0...3, using: &random), latest - from)
            if count > 0 { said += (from + 1)...(from + count) }
            stream.took(
              .room(id: "RM_a", after: from + count), count: count, isLast: from + count == latest,
              isOver: false,
              now: now)
            if count == 0, from < latest { break loop }
          case .wait: break loop
          case .say: continue
          case .read, .end: Issue.record("seed \(seed)")
          }
        }
      }
      #expect(said == Array((known + 1)...(known + said.count)), "seed \(seed)")
      #expect(said.count > 20 && known + said.count > latest - 10)
    }
  }

  @Test func `the name of a room's event is read as it is written, and nothing else is one`() {
    for number in [0, 1, 17, 999_999_999_999_999_999] {
      let id = EventID(roomId: "RM_k3XbQ9uTzLw2", number: number)
      #expect(EventID(id.text) == id)
    }
    for text in [
      "", ":", "RM_a", "RM_a:", "RM_:1", ":1", "RM_a:-1", "RM_a:+1", "RM_a:1 ", " RM_a:1", "RM_a:1:2:",
      "PA_a:1",
      "RM_a:9999999999999999999", "RM_a:1.5", "RM_ä:1", "RM_a b:1", "RM_a:١", "rm_a:1", "RM_a\n:1",
      "RM_" + String(repeating: "a", count: 64) + ":1",
    ] { #expect(EventID(text) == nil, "\(text)") }
  }
}
