import Model
import Testing

@testable import Rooms

@Suite("Messages for those who come later, of all rooms", .timeLimit(.minutes(1)))
struct HistoryDeskTests {
  private let most = DataHistory.byteLimit

  @Test func `a room has its share, however much the others keep`() {
    let desk = HistoryDesk(rooms: 10_000)
    #expect(desk.share == 13_421)
    for room in 1...539 { #expect(desk.keep(most, of: UInt64(room)) == most) }
    let rest = HistoryDesk.common - 539 * (most - desk.share)
    #expect((0..<most - desk.share).contains(rest))
    #expect(desk.keep(most, of: 540) == desk.share + rest)
    #expect(desk.keep(most, of: 541) == desk.share && desk.keep(1_000, of: 542) == 1_000)
    #expect(desk.keep(most, of: 1) == most, "what it has stays")
    #expect(desk.counts.bytes == 539 * most + 2 * desk.share + rest + 1_000)
  }

  @Test func `what one gives back others may keep`() {
    let desk = HistoryDesk(rooms: 10_000)
    #expect(desk.keep(HistoryDesk.common + desk.share, of: 1) == HistoryDesk.common + desk.share)
    #expect(desk.keep(most, of: 2) == desk.share)
    #expect(desk.keep(desk.share, of: 1) == desk.share)
    #expect(desk.keep(most, of: 2) == most)
    for room: UInt64 in [1, 2, 3] { #expect(desk.keep(0, of: room) == 0) }
    #expect(desk.counts.bytes == 0)
    #expect(desk.keep(HistoryDesk.common + desk.share + 1, of: 4) == HistoryDesk.common + desk.share)
  }

  @Test(arguments: [(1, 16_384), (8_192, 16_384), (100_000, 1_342), (1_000_000, 134)])
  func `all shares together stay within their bound`(rooms: Int, share: Int) {
    #expect(HistoryDesk(rooms: rooms).share == share)
    #expect(rooms * share <= HistoryDesk.shares)
  }

  @Test func `a room whose share is full forgets its own oldest, and gives all back as it ends`()
    async throws
  {
    let server = try TestServer()
    let histories = server.directory.registry.histories
    let others = HistoryDesk.common + histories.share
    #expect(histories.keep(others, of: .max) == others)
    let terms = DataHistoryTerms(topics: ["chat"], max: 200, seconds: 60)
    _ = try await server.directory.create("r", RoomSettings(dataHistory: terms))
    let ada = try await server.join("ada")
    for text in ["one", "two", "six"] {
      let payload = Array((text + String(repeating: ".", count: 8_000)).utf8)
      try await ada.session.send(payload, topic: "chat")
    }
    let late = try await server.join("late")
    #expect(late.session.joined.history.messages.map { $0.payload.prefix(3) } == [Array("six".utf8)[...]])
    #expect(server.directory.counts.messagesForgotten == 2)
    #expect((others + 10_000...others + 16_384).contains(server.directory.counts.keptMessageBytes))
    try await server.directory.close(room: "r")
    #expect(server.directory.counts.keptMessageBytes == others)
  }

  @Test func `a room that goes on from its bytes keeps what it kept, and is counted as before`()
    async throws
  {
    let server = try TestServer()
    let terms = DataHistoryTerms(topics: ["chat"], max: 200, seconds: 60)
    _ = try await server.directory.create("r", RoomSettings(dataHistory: terms))
    let ada = try await server.join("ada")
    for text in ["one", "two"] { try await ada.session.send(Array(text.utf8), topic: "chat") }
    let before = server.directory.counts.keptMessageBytes
    #expect(before > 256)
    try await server.directory.rebuildRooms()
    #expect(server.directory.counts.keptMessageBytes == before)
    // All three are as long.
    try await ada.session.send(Array("six".utf8), topic: "chat")
    #expect(server.directory.counts.keptMessageBytes == before / 2 * 3)
    let late = try await server.join("late")
    #expect(late.session.joined.history.messages.count == 3)
    try await server.directory.close(room: "r")
    #expect(server.directory.counts.keptMessageBytes == 0)
  }
}
