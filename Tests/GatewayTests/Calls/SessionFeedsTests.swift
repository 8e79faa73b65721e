import CallDesk
import Calls
import Foundation
import Synchronization
import Testing

@testable import Gateway

@Suite("Events of shared sessions in order", .timeLimit(.minutes(1)))
struct SessionFeedsTests {
  private static let session = CallUUID(random: (1, 1))

  private static func event(
    _ seq: Int64, to people: [String] = ["ada"], type: String = "x", bytes: Int = 1, isRepeated: Bool = false
  ) -> Aftermath.Shared {
    let isSystem = type.hasPrefix("system.")
    return Aftermath.Shared(
      call: CallUUID(random: (2, 2)), room: "call-1", session: session, people: people.map { PersonID($0) },
      event: SharedEvent(
        id: "\(seq)", seq: seq, type: type, sender: isSystem ? nil : PersonID("ada"), time: 0,
        data: Array(String(repeating: "1", count: bytes).utf8)), isRepeated: isRepeated)
  }

  // MARK: - The order

  @Test func `what overtakes waits for what it has overtaken, and goes out once`() {
    var order = SessionOrder()
    #expect(order.take(Self.event(2, isRepeated: true)).isEmpty, "an old one is no beginning")
    #expect(order.take(Self.event(5)).map(\.event.seq) == [5], "where it begins it knows of none before")
    #expect(order.take(Self.event(8)).isEmpty && order.take(Self.event(7)).isEmpty && order.waits)
    #expect(
      order.take(Self.event(8)).isEmpty && order.take(Self.event(5)).isEmpty
        && order.take(Self.event(4)).isEmpty)
    #expect(order.take(Self.event(6)).map(\.event.seq) == [6, 7, 8] && !order.waits)
    #expect(order.take(Self.event(9, isRepeated: true)).map(\.event.seq) == [9], "the word of it was lost")
  }

  @Test func `any order of a run comes out as the run`() {
    for seed in 0..<200 as Range<UInt64> {
      var random = SplitMix(state: seed)
      var order = SessionOrder()
      _ = order.take(Self.event(1))
      var run = (Array(2...40) + Array(10...20) as [Int64]).shuffled(using: &random)
      run.append(2)
      let out = run.flatMap { order.take(Self.event($0)) }.map(\.event.seq)
      #expect(out == Array(2...40), "seed \(seed)")
    }
  }

  @Test func `what doesn't come is waited for within bounds of number and bytes`() {
    var order = SessionOrder()
    _ = order.take(Self.event(1))
    var out: [Int64] = []
    for seq in 3...70 as ClosedRange<Int64> { out += order.take(Self.event(seq)).map(\.event.seq) }
    #expect(out == Array(3...70))
    #expect(order.take(Self.event(2)).isEmpty, "it comes too late")
    out = []
    for seq in 72...90 as ClosedRange<Int64> {
      out += order.take(Self.event(seq, bytes: 16_384)).map(\.event.seq)
    }
    #expect(out == Array(72...90))
  }

  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  // MARK: - The lines

  /// What a line has got by now, once the last is there.
  private func read(_ line: SessionLine, until last: Int) async -> [Int] {
    var seen: [Int] = []
    for await event in line.events {
      let fields = (try? JSONSerialization.jsonObject(with: Data(event.text.utf8))) as? NSDictionary
      seen.append((fields?["event"] as? NSDictionary)?["seq"] as? Int ?? -1)
      if seen.last == last { break }
    }
    return seen
  }

  @Test func `an event goes to those whom it names, in their room`() async {
    let feeds = SessionFeeds()
    let (ada, bob) = (feeds.open(PersonID("ada"), in: "call-1"), feeds.open(PersonID("bob"), in: "call-1"))
    let (second, elsewhere) = (
      feeds.open(PersonID("ada"), in: "call-1"), feeds.open(PersonID("ada"), in: "call-2")
    )
    feeds.hand([Self.event(1), Self.event(2, to: ["ada", "bob"]), Self.event(3)])
    feeds.hand([Self.event(4, to: ["ada", "bob"])])
    #expect(await read(ada, until: 4) == [1, 2, 3, 4])
    #expect(await read(second, until: 4) == [1, 2, 3, 4])
    #expect(await read(bob, until: 4) == [2, 4])
    feeds.close(elsewhere)
    #expect(await read(elsewhere, until: 4) == [])
    for line in [ada, bob, second] { feeds.close(line) }
    #expect(feeds.counts == (0, 0))
    feeds.hand([Self.event(5)])
    #expect(feeds.counts == (0, 0), "no one listens")
  }

  /// Spans that pass when the test says so.
  private final class Pauses: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])
    var count: Int { waiting.withLock { $0.count } }
    func wait() async {
      await withCheckedContinuation { continuation in waiting.withLock { $0.append(continuation) } }
    }
    func end() {
      let all = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      for continuation in all { continuation.resume() }
    }
  }

  @Test func `a gap that stays is passed over after a while, and what follows comes`() async throws {
    let pauses = Pauses()
    let feeds = SessionFeeds(pause: { span in
      #expect(span == SessionOrder.patience)
      await pauses.wait()
    })
    let line = feeds.open(PersonID("ada"), in: "call-1")
    feeds.hand([Self.event(1), Self.event(3), Self.event(4)])
    #expect(await read(line, until: 1) == [1])
    try await eventually { pauses.count == 1 }
    pauses.end()
    #expect(await read(line, until: 4) == [3, 4])
    feeds.hand([Self.event(2), Self.event(5)])
    #expect(await read(line, until: 5) == [5])
    // The time of a gap that has closed passes without effect.
    feeds.hand([Self.event(7), Self.event(6), Self.event(9)])
    #expect(await read(line, until: 7) == [6, 7])
    try await eventually { pauses.count == 2 }
    pauses.end()
    #expect(await read(line, until: 9) == [9])
    feeds.hand([Self.event(8)])
    feeds.hand([Self.event(10, type: "system.ended")])
    #expect(await read(line, until: 10) == [10] && feeds.counts.sessions == 0)
  }

  @Test func `a front door that takes nothing is bounded, and hears of it`() async {
    let feeds = SessionFeeds()
    let line = feeds.open(PersonID("ada"), in: "call-1")
    for seq in 1...Int64(SessionLine.limit) { feeds.hand([Self.event(seq)]) }
    #expect(!line.hasOverflowed)
    feeds.hand([Self.event(Int64(SessionLine.limit) + 1)])
    #expect(line.hasOverflowed)
    feeds.hand([Self.event(Int64(SessionLine.limit) + 2)])
    #expect(await read(line, until: -2) == Array(1...SessionLine.limit), "and then it ends")
  }
}
