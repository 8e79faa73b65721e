import Engine
import HTTPServer
import Model
import Peer
import Rooms
import Testing
import Transport

@testable import Gateway

@Suite("How one who reads figures is served", .timeLimit(.minutes(1)))
struct FigureStreamTests {
  private static let start = Instant(nanoseconds: 5_000_000_000)
  private var stream = FigureStream(every: .seconds(1), expires: 1_000)

  private func present(
    _ seconds: Double, wall: Int = 0, refusal: EventStreamEnd? = nil, draining: String? = nil,
    ending: HTTPBodyEnding? = nil
  ) -> EventStream.Circumstances {
    EventStream.Circumstances(
      now: Self.start + .milliseconds(Int(seconds * 1_000)), wall: wall, refusal: refusal,
      drainDeadline: draining, ending: ending)
  }

  private mutating func next(
    _ present: EventStream.Circumstances, _ number: Int, isOver: Bool = false
  ) -> FigureStream.Action {
    stream.next(present, FigureStream.Newest(number: number, isOver: isOver))
  }

  /// All that it says at one moment, up to where it waits or ends.
  private mutating func all(
    _ present: EventStream.Circumstances, _ number: Int, isOver: Bool = false
  ) -> [FigureStream.Action] {
    var actions: [FigureStream.Action] = []
    while actions.count < 9 {
      let action = next(present, number, isOver: isOver)
      actions.append(action)
      if action == .end { break }
      if case .wait = action { break }
    }
    return actions
  }

  private func at(_ seconds: Double) -> FigureStream.Action {
    .wait(until: Self.start + .milliseconds(Int(seconds * 1_000)))
  }

  @Test mutating func `the newest comes as soon as there is one, and no sooner again than it is to`() {
    #expect(all(present(0), 0) == [.say(.opening), at(15)])
    #expect(all(present(0.5), 1) == [.figures, at(15.5)])
    #expect(all(present(1), 2) == [at(1.5)], "it is too soon for the second")
    #expect(all(present(1.5), 3) == [.figures, at(16.5)], "which the third takes the place of")
    #expect(all(present(3), 3) == [at(16.5)], "none is said twice")
  }

  @Test mutating func `where nothing comes there is a comment, and a look when the token ends`() {
    #expect(all(present(0, wall: 990), 0) == [.say(.opening), at(10)])
    #expect(all(present(15, wall: 0), 0) == [.say(.comment), at(30)])
    #expect(all(present(16, wall: 1_000), 0) == [at(17)], "it is for the permission to say that it is over")
  }

  @Test mutating func `permission is asked before anything is given`() {
    #expect(all(present(0), 1) == [.say(.opening), .figures, at(15)])
    #expect(all(present(5, refusal: .removed), 2) == [.say(.end(.removed)), .end])
    #expect(all(present(6), 3) == [.end], "there is no way back")
  }

  @Test mutating func `one that is refused at once is given nothing else`() {
    #expect(all(present(0, refusal: .tokenExpired), 1) == [.say(.end(.tokenExpired)), .end])
  }

  @Test mutating func `a room that is over ends it, and a client that takes nothing hears no figures`() {
    #expect(all(present(0), 1) == [.say(.opening), .figures, at(15)])
    #expect(all(present(2), 2, isOver: true) == [.say(.end(.roomFinished)), .end])
    stream = FigureStream(every: .seconds(1), expires: 1_000)
    #expect(all(present(0), 0) == [.say(.opening), at(15)])
    #expect(all(present(2, ending: .stalled), 2) == [.say(.end(.tooSlow)), .end])
  }

  @Test mutating func `a server that stops says so, and what is new first`() {
    #expect(all(present(0), 1) == [.say(.opening), .figures, at(15)])
    #expect(all(present(0.1, draining: "soon"), 1) == [.say(.draining(deadline: "soon")), at(15)])
    #expect(all(present(0.2, draining: "soon"), 1) == [at(15)])
    #expect(
      all(present(0.3, draining: "soon", ending: .shutdown), 2)
        == [.figures, .say(.end(.serverShutdown)), .end])
  }

  @Test func `how busy a worker is, is the share of the time between two looks that aren't too close`() {
    let loads = WorkerLoads()
    var report = WorkerReport()
    #expect(loads.load(report, now: Self.start) == nil)
    report.thread.times.turns.note(.milliseconds(500))
    report.counters.transport.bytesReceived = 1_000
    report.counters.transport.bytesSent = 4_000
    #expect(loads.load(report, now: Self.start + .milliseconds(100)) == nil, "too close")
    let load = WorkerLoads.Load(share: 0.25, received: 4_000, sent: 16_000)
    #expect(loads.load(report, now: Self.start + .seconds(2)) == load)
    #expect(loads.load(report, now: Self.start + .milliseconds(2_100)) == load, "as it was")
    // It counts from zero again, or says more than can be.
    let fresh = WorkerReport()
    #expect(
      loads.load(fresh, now: Self.start + .seconds(4)) == WorkerLoads.Load(share: 0, received: 0, sent: 0))
    var busy = WorkerReport()
    busy.thread.times.turns.note(.seconds(60))
    #expect(loads.load(busy, now: Self.start + .seconds(6))?.share == 1)
    var other = busy
    other.worker = 1
    #expect(loads.load(other, now: Self.start + .seconds(8)) == nil, "each by itself")
  }

  @Test func `rooms whose names look alike have feeds of their own`() async throws {
    let feeds = FigureFeeds()
    let names = ["caf\u{E9}", "cafe\u{301}", "K", "\u{212A}"]
    let made = names.map { name in
      feeds.feed(
        of: .room(ExactName(name), people: 5, .init()), measure: { Array(name.utf8) },
        pause: { try await Task.sleep(for: .milliseconds(1)) })
    }
    #expect(feeds.count == names.count)
    for (name, feed) in zip(names, made) {
      let feed = try #require(feed)
      while feed.newest.number < 1 { try await Task.sleep(for: .milliseconds(1)) }
      #expect(feed.text == Array(name.utf8))
    }
  }

  @Test func `a feed goes with its last reader, and is one for all who read the same`() async throws {
    let feeds = FigureFeeds()
    let view = FigureView.room(ExactName("demo"), people: 5, .init())
    func feed(_ view: FigureView) -> FigureFeed? {
      feeds.feed(
        of: view, measure: { Array("x".utf8) }, pause: { try await Task.sleep(for: .milliseconds(1)) })
    }
    var first: FigureFeed? = feed(view)
    var second: FigureFeed? = feed(view)
    #expect(first === second && feeds.count == 1)
    let other = feed(.room(ExactName("other"), people: 5, .init()))
    #expect(other !== first && feeds.count == 2)
    while first?.newest.number ?? 9 < 3 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(first?.text == Array("x".utf8) && first?.newest.isOver == false)
    (first, second) = (nil, nil)
    // The one that is being made holds it for a moment.
    for _ in 0..<2_000 where feeds.count > 1 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(feeds.count == 1)
    #expect(feeds.feed(of: view, permit: { false }, measure: { nil }, pause: {}) == nil && feeds.count == 1)
    let found = feeds.feed(of: view, measure: { nil }, pause: {})
    let over = try #require(found)
    while !over.newest.isOver { try await Task.sleep(for: .milliseconds(1)) }
    #expect(over.newest.number == 0)
    // The room may have been made again: who comes now hears nothing of the end of the one before.
    let again = try #require(feed(view))
    #expect(again !== over && !again.newest.isOver)
    #expect(feeds.feed(of: view, permit: { false }, measure: { nil }, pause: {}) === again)
  }
}
