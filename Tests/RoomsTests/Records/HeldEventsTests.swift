import Model
import Testing

@testable import Rooms

@Suite("What the store keeps for receivers, in pieces", .timeLimit(.minutes(1)))
struct HeldEventsTests {
  private static let now = WallTime(milliseconds: 1_000_000_000)

  private func rows(_ positions: ClosedRange<UInt64>, every seconds: Int = 0, bytes: Int = 4)
    -> [HeldEvents.Row]
  {
    positions.map {
      HeldEvents.Row(
        position: $0, bytes: bytes,
        time: WallTime(milliseconds: 500_000_000 + Int64($0) * Int64(seconds) * 1_000))
    }
  }

  @Test func `a piece is of few rows and of a short time`() {
    var held = HeldEvents(after: 10)
    held.append(rows(11...2_510), now: Self.now)
    #expect(held.pieces.map(\.rows) == [1_000, 1_000, 500])
    #expect(held.pieces.map(\.last) == [1_010, 2_010, 2_510] && held.end == 2_510)
    var slow = HeldEvents(after: 0)
    slow.append(rows(1...10, every: 25), now: Self.now)
    #expect(slow.pieces.map(\.rows) == [3, 3, 3, 1])
    // What comes later goes on with the last, as long as it is of the same time.
    slow.append(rows(11...12, every: 25), now: Self.now)
    #expect(slow.pieces.map(\.rows) == [3, 3, 3, 3] && slow.rows == 12)
  }

  @Test func `a piece is of few bytes, or of one row`() {
    var held = HeldEvents(after: 0, pieceBytes: 10_000)
    held.append(rows(1...9, bytes: 4_000), now: Self.now)
    held.append(rows(10...11, bytes: 50_000), now: Self.now)
    #expect(held.pieces.map(\.rows) == [3, 3, 3, 1, 1])
  }

  @Test func `a time that is to come is taken for now`() {
    var held = HeldEvents(after: 0)
    held.append([HeldEvents.Row(position: 1, bytes: 1, time: WallTime(milliseconds: .max))], now: Self.now)
    #expect(held.pieces.first?.newest == Self.now)
  }

  @Test func `bytes are those of all rows that are left`() {
    var held = HeldEvents(after: 0)
    held.append(rows(1...9, every: 100, bytes: 1_000), now: Self.now)
    let each = held.bytes / 9
    #expect(each >= 1_000 && held.pieces.count == 9)
    held.drop(upTo: 4)
    #expect(held.bytes == 5 * each && held.start == 4 && held.first?.after == 4)
    held.drop(upTo: 3)
    #expect(held.start == 4)
    let isLess = held.measured(upTo: 6, rows: 0, bytes: 0)
    #expect(isLess && held.bytes == 4 * each && held.pieces.count == 4)
    let isUnknown = held.measured(upTo: 6, rows: 0, bytes: 0)
    #expect(!isUnknown)
    held.drop(upTo: 100)
    #expect(held.bytes == 0 && held.pieces.isEmpty && held.end == 100)
  }

  @Test func `pieces are looked at in turn, as far as the log has given them up`() {
    var held = HeldEvents(after: 0)
    held.append(rows(1...4, every: 100), now: Self.now)
    let some = (0..<5).map { _ in held.next(before: 3)?.last }
    #expect(some == [1, 2, 3, 1, 2])
    let none = held.next(before: 0)
    #expect(none?.last == nil)
    let all = (0..<4).map { _ in held.next(before: 100)?.last }
    #expect(all == [1, 2, 3, 4])
    _ = held.measured(upTo: 2, rows: 0, bytes: 0)
    // The rows between belong to the one behind.
    let places = (0..<3).map { _ in held.next(before: 100) }
    #expect(places.map { $0?.after } == [0, 1, 3] && places.map { $0?.last } == [1, 3, 4])
  }
}
