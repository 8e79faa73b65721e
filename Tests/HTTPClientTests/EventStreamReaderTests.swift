import HTTPClient
import Testing

@Suite("Event streams", .timeLimit(.minutes(1)))
struct EventStreamReaderTests {
  private func read(_ text: String) throws -> [ServerSentEvent] {
    var reader = EventStreamReader()
    return try reader.read(text.utf8)
  }

  // MARK: WHATWG HTML §9.2.6, with its examples

  @Test func `lines of data are joined, and an empty line ends an event`() throws {
    #expect(
      try read("data: YHOO\ndata: +2\ndata: 10\n\n") == [ServerSentEvent(data: "YHOO\n+2\n10")])
  }

  @Test func `comments are left out, ids stay until another comes, an empty one takes them away`() throws {
    let text = """
      : test stream

      data: first event
      id: 1

      data:second event
      id

      data:  third event


      """
    #expect(
      try read(text) == [
        ServerSentEvent(data: "first event", id: "1"), ServerSentEvent(data: "second event"),
        ServerSentEvent(data: " third event"),
      ])
  }

  @Test func `data may be empty, and what is not ended isn't an event`() throws {
    #expect(
      try read("data\n\ndata\ndata\n\ndata:") == [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")])
  }

  @Test func `one space behind the colon is no part of the value`() throws {
    #expect(
      try read("data:test\n\ndata: test\n\n") == Array(repeating: ServerSentEvent(data: "test"), count: 2))
  }

  @Test func `an event has the type that it is given, and only that one has it`() throws {
    #expect(
      try read("event: add\ndata: 1\n\ndata: 2\n\nevent: none\n\nevent:\ndata: 3\n\n") == [
        ServerSentEvent(type: "add", data: "1"), ServerSentEvent(data: "2"), ServerSentEvent(data: "3"),
      ])
  }

  @Test(arguments: ["\n", "\r", "\r\n"])
  func `lines end by any of three ends`(end: String) throws {
    let text = ["id: 7", "data: a", "data: b", "", "data: c", "", ""].joined(separator: end)
    #expect(
      try read(text) == [ServerSentEvent(data: "a\nb", id: "7"), ServerSentEvent(data: "c", id: "7")])
  }

  @Test func `ends of different kinds may follow each other`() throws {
    #expect(
      try read("data: a\r\n\rdata: b\n\r\ndata: c\r\r") == ["a", "b", "c"].map { ServerSentEvent(data: $0) })
  }

  @Test func `a byte order mark at the beginning is left out, and one later isn't`() throws {
    #expect(
      try read("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\ndata: \u{FEFF}\n\n") == [
        ServerSentEvent(data: "a"), ServerSentEvent(data: "\u{FEFF}"),
      ])
  }

  @Test func `unknown fields, and names with more in them, are left out`() throws {
    #expect(try read("date: x\nDATA: y\n data: z\ndata : w\ndata: v\n\n") == [ServerSentEvent(data: "v")])
  }

  @Test func `an id with a zero byte is none`() throws {
    #expect(try read("id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n").map(\.id) == ["1", "1"])
  }

  @Test func `an id without data counts once its event is over`() throws {
    var reader = EventStreamReader()
    _ = try reader.read("id: 5\n".utf8)
    #expect(reader.lastEventID == "")
    #expect(try reader.read("\n".utf8).isEmpty)
    #expect(reader.lastEventID == "5")
  }

  @Test func `the time to wait is of digits alone`() throws {
    var reader = EventStreamReader()
    for (text, expected) in [
      ("retry: 250\n", 250), ("retry: 1e3\n", 250), ("retry: -1\n", 250), ("retry:\n", 250),
      ("retry: 99999999999999999999\n", 250), ("retry: 0\n", 0),
    ] {
      _ = try reader.read(text.utf8)
      #expect(reader.retryMilliseconds == expected, "\(text)")
    }
  }

  @Test func `bytes that are no UTF-8 are replaced`() throws {
    var reader = EventStreamReader()
    #expect(
      try reader.read(Array("data: ".utf8) + [0xFF, 0xC3] + Array("\n\n".utf8)) == [
        ServerSentEvent(data: "\u{FFFD}\u{FFFD}")
      ])
  }

  // MARK: However it comes

  @Test func `it doesn't matter how the bytes are cut`() throws {
    let text = "\u{FEFF}: hello\r\n\r\nid: RM_ü:1\revent: x\rdata: eins\r\ndata: zwei\n\ndata: €\n\n"
    let whole = try read(text)
    #expect(whole.count == 2)
    for size in 1...7 {
      var reader = EventStreamReader()
      var events: [ServerSentEvent] = []
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        events += try reader.read(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      #expect(events == whole, "\(size)")
    }
  }

  @Test func `a line that never ends is refused, and so is data without end`() throws {
    for piece in ["x", ": a comment ", "data: aaaaaaaa\n", "data\n"] {
      var reader = EventStreamReader(limit: 1_000)
      var taken = 0
      #expect(throws: EventStreamError.tooLong(limit: 1_000)) {
        for _ in 0..<10_000 {
          _ = try reader.read(piece.utf8)
          taken += piece.utf8.count
        }
      }
      #expect(taken <= 8_000, "\(piece)")
    }
  }

  @Test func `what is just as large as it may be is read`() throws {
    var reader = EventStreamReader(limit: 20)
    #expect(try reader.read("data: 90123456789012\n".utf8).isEmpty)
    #expect(try reader.read("data: 67890\n\n".utf8).first?.data.utf8.count == 20)
    #expect(throws: EventStreamError.self) { try reader.read("data: 901234567890123\n".utf8) }
  }

  @Test func `many short lines take no longer than their bytes`() throws {
    var reader = EventStreamReader()
    let lines = Array(String(repeating: "data:\n", count: 500_000).utf8)
    #expect(try reader.read(lines + Array("\n".utf8)).first?.data.utf8.count == 499_999)
  }
}
