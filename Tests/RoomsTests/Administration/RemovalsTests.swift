import Foundation
import Testing

@testable import Rooms

/// Expectations can't change a value.
private final class Table {
  private var removals: Removals

  init(memory: Int) { removals = Removals(memory: memory) }

  var count: Int { removals.count }

  @discardableResult
  func insert(room: String, identity: String, now: Int) -> Bool {
    removals.insert(room: room, identity: identity, now: now)
  }

  func forbids(room: String, identity: String, issued: Int?, now: Int) -> Bool {
    removals.forbids(room: room, identity: identity, issued: issued, now: now)
  }
}

@Suite("Who was removed", .timeLimit(.minutes(2)))
struct RemovalsTests {
  @Test func `a removal is remembered for its time`() {
    let removals = Table(memory: 100)
    #expect(removals.insert(room: "r", identity: "ada", now: 1_000))
    for (issued, now, isOut) in [
      (999, 1_001, true), (1_000, 1_001, true), (1_001, 1_001, false), (nil, 1_099, true),
      (nil, 1_100, false),
      (999, 1_100, false),
    ] as [(Int?, Int, Bool)] {
      #expect(removals.forbids(room: "r", identity: "ada", issued: issued, now: now) == isOut)
    }
    #expect(!removals.forbids(room: "s", identity: "ada", issued: nil, now: 1_001))
    #expect(!removals.forbids(room: "r", identity: "eve", issued: nil, now: 1_001))
    // Removed once more: the later one counts, also when the earlier is forgotten.
    #expect(removals.insert(room: "r", identity: "ada", now: 1_050))
    #expect(removals.insert(room: "r", identity: "bob", now: 1_120))
    #expect(removals.forbids(room: "r", identity: "ada", issued: 1_040, now: 1_120) && removals.count == 2)
  }

  @Test func `removed again within a second, an identity is as new as that`() {
    let removals = Table(memory: 100)
    removals.insert(room: "r", identity: "ada", now: 1_000)
    for number in 1..<Removals.perRoom { removals.insert(room: "r", identity: "\(number)", now: 1_000) }
    removals.insert(room: "r", identity: "ada", now: 1_000)
    removals.insert(room: "r", identity: "eve", now: 1_000)
    #expect(removals.forbids(room: "r", identity: "ada", issued: nil, now: 1_000))
    #expect(!removals.forbids(room: "r", identity: "1", issued: nil, now: 1_000))
    #expect(removals.count == Removals.perRoom)
  }

  @Test func `a room's full table forgets its own oldest and nothing of another room's`() {
    let removals = Table(memory: 100)
    #expect(removals.insert(room: "r", identity: "ada", now: 1_000))
    for number in 0..<(Removals.perRoom + 10) {
      #expect(removals.insert(room: "flood", identity: "\(number)", now: 1_001))
    }
    #expect(removals.count == Removals.perRoom + 1)
    #expect(removals.forbids(room: "flood", identity: "\(Removals.perRoom)", issued: nil, now: 1_001))
    #expect(removals.forbids(room: "flood", identity: "10", issued: nil, now: 1_001))
    #expect(!removals.forbids(room: "flood", identity: "9", issued: nil, now: 1_001))
    #expect(removals.forbids(room: "r", identity: "ada", issued: nil, now: 1_001))
    // The same one over and over takes one place.
    for number in 0..<(5 * Removals.perRoom) {
      #expect(removals.insert(room: "r", identity: "ada", now: 1_002 + number / 4_096))
    }
    #expect(removals.count == Removals.perRoom + 1)
    #expect(removals.forbids(room: "r", identity: "ada", issued: 1_002, now: 1_007))
  }

  @Test func `of a room 4,096 identities are remembered, as the page of bounds says`() throws {
    let removals = Table(memory: 100)
    for number in 0..<4_096 { removals.insert(room: "r", identity: "\(number)", now: 1_000) }
    #expect(removals.count == 4_096)
    #expect(removals.forbids(room: "r", identity: "0", issued: nil, now: 1_000))
    removals.insert(room: "r", identity: "4096", now: 1_000)
    #expect(removals.count == 4_096)
    #expect(!removals.forbids(room: "r", identity: "0", issued: nil, now: 1_000))
    #expect(removals.forbids(room: "r", identity: "1", issued: nil, now: 1_000))
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    let page = try String(contentsOf: root.appending(path: "docs/bounds.md"), encoding: .utf8)
    let row = try #require(
      page.split(separator: "\n").first { $0.hasPrefix("| identities remembered as removed |") })
    #expect(row.contains("| 4,096 of a room, ") && row.contains(" 262,144 in total"))
    #expect(Removals.perRoom == 4_096 && Removals.capacity == 262_144)
  }

  @Test func `a removal is remembered however often others are removed again`() {
    let removals = Table(memory: 100)
    removals.insert(room: "r", identity: "ada", now: 1_000)
    for number in 0..<(3 * Removals.perRoom) {
      removals.insert(room: "r", identity: "eve \(number % 3)", now: 1_000 + number / 1_000)
    }
    #expect(removals.forbids(room: "r", identity: "ada", issued: nil, now: 1_020))
    #expect(removals.forbids(room: "r", identity: "eve 1", issued: nil, now: 1_020) && removals.count == 4)
    // The order is as it was: the first of the room goes first.
    for number in 0..<(Removals.perRoom - 3) {
      removals.insert(room: "r", identity: "\(number)", now: 1_020)
    }
    #expect(!removals.forbids(room: "r", identity: "ada", issued: nil, now: 1_020))
    #expect(removals.forbids(room: "r", identity: "eve 0", issued: nil, now: 1_020))
  }

  @Test func `an identity is its bytes`() {
    let removals = Table(memory: 100)
    removals.insert(room: "r", identity: "e\u{301}", now: 1_000)
    #expect(removals.forbids(room: "r", identity: "e\u{301}", issued: nil, now: 1_001))
    #expect(!removals.forbids(room: "r", identity: "\u{e9}", issued: nil, now: 1_001))
  }

  @Test func `where all rooms together are full, a room gives of its own or is refused`() {
    let removals = Table(memory: 100)
    #expect(removals.insert(room: "r", identity: "ada", now: 1_000))
    var room = 0
    while removals.count < Removals.capacity {
      for number in 0..<min(Removals.perRoom, Removals.capacity - removals.count) {
        removals.insert(room: "flood \(room)", identity: "\(number)", now: 1_001)
      }
      room += 1
    }
    #expect(!removals.insert(room: "new", identity: "eve", now: 1_002))
    #expect(removals.insert(room: "r", identity: "bob", now: 1_002), "in the place of its own oldest")
    #expect(removals.forbids(room: "r", identity: "bob", issued: nil, now: 1_002))
    #expect(!removals.forbids(room: "r", identity: "ada", issued: nil, now: 1_002))
    #expect(removals.forbids(room: "flood 1", identity: "0", issued: nil, now: 1_002))
    #expect(removals.count == Removals.capacity)
    // What is too old makes room.
    #expect(removals.insert(room: "new", identity: "eve", now: 1_101))
    #expect(removals.count == 2)
  }
}
