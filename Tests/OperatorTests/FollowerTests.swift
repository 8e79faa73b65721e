import AccessTokens
import HTTPClient
import Testing

@testable import Operator

@Suite("Events as they happen, on the command line", .timeLimit(.minutes(1)))
struct FollowerTests {
  private func follower(room: String? = "demo", after: String? = nil, limit: Int? = nil, signs: Bool = false)
    -> Follower
  {
    Follower(
      EventSource(room: room, roomID: nil, after: after), limit: limit, signs: signs, style: programsStyle)
  }

  private func block(_ number: Int) -> [UInt8] {
    Array(
      "id: RM_x:\(number)\nevent: room.updated\ndata: {\"id\":\(number),\"roomId\":\"RM_x\",\"type\":\"room.updated\"}\n\n"
        .utf8)
  }

  private func numbers(_ output: Output) -> [Int?] {
    output.text.split(separator: "\n").map { json(String($0))["id"]?.integer }
  }

  private func end(_ reason: String) -> [UInt8] {
    Array("event: end\ndata: {\"reason\":\"\(reason)\"}\n\n".utf8)
  }

  private let refused = OperatorError.unreachable(.connection("refused"), url: "http://x")

  private func problem(_ status: Int, retryAfter: String? = nil) -> OperatorError {
    .problem(ServerProblem(status: status, json: json(#"{"title":"no"}"#), retryAfter: retryAfter))
  }

  /// The request of a step that asks after a while.
  private func asked(_ step: Follower.Step?) -> (ask: Ask, after: Int)? {
    guard case .ask(let ask, let after) = step else { return nil }
    return (ask, after)
  }

  // MARK: Streams

  @Test func `a stream is asked for, and goes on behind its last id after a break`() throws {
    var follower = follower(after: "3")
    let first = try #require(asked(follower.begin()))
    #expect(first.ask.isStream && first.ask.lastEventID == "" && first.after == 0)
    #expect(first.ask.query == [Ask.QueryItem(name: "after", value: "3")])
    follower.began()
    #expect(try follower.came(block(4) + block(5) + Array("id: RM_x:6\nda".utf8)) == nil)
    #expect(numbers(follower.takeOutput()) == [4, 5])
    let again = try #require(asked(follower.ended()))
    #expect(again.ask.lastEventID == "RM_x:5" && again.after == 1_000)
    #expect(again.ask.query.contains(Ask.QueryItem(name: "after", value: "5")))
    #expect(again.ask.query.contains(Ask.QueryItem(name: "roomId", value: "RM_x")))
    #expect(follower.takeOutput().notes == ["the stream of events was cut off; asking again in 1 s"])
    // What was cut off in the middle is no part of the next stream.
    follower.began()
    #expect(try follower.came(block(6)) == nil)
    #expect(numbers(follower.takeOutput()) == [6])
  }

  @Test func `those of all rooms go on by their cursors`() throws {
    var follower = follower(room: nil)
    follower.began()
    _ = try follower.came(Array("id: c7\ndata: {\"type\":\"room.started\"}\n\n".utf8))
    #expect(json(follower.takeOutput().text)["cursor"]?.string == "c7")
    let again = try #require(asked(follower.ended()))
    #expect(again.ask.lastEventID == "c7" && again.ask.path == ["events"] && again.ask.right == .list)
  }

  @Test func `it ends when there are enough`() throws {
    var follower = follower(limit: 2)
    follower.began()
    #expect(try follower.came(block(1) + block(2) + block(3)) == .done)
    #expect(numbers(follower.takeOutput()) == [1, 2])
  }

  @Test func `data that is no JSON, comments and the notice of a stop are no events`() throws {
    var follower = follower()
    follower.began()
    #expect(
      try follower.came(Array(": roost\n\ndata: nonsense\n\nevent: draining\ndata: {}\n\n".utf8)) == nil)
    let output = follower.takeOutput()
    #expect(output.text == "" && output.notes.count == 1)
  }

  @Test func `an event that is too long ends it with an error`() throws {
    var follower = follower()
    follower.began()
    #expect(throws: OperatorError.self) { try follower.came([UInt8](repeating: 65, count: 2_000_000)) }
  }

  // MARK: Why a stream ends

  @Test func `a room that is over ends it well`() throws {
    var follower = follower()
    follower.began()
    _ = try follower.came(end("roomFinished"))
    #expect(try follower.ended() == .done)
    #expect(try follower.take(answer("", status: 204)) == .done)
  }

  @Test(arguments: [("removed", 4), ("notAllowed", 4), ("eventsGone", 5), ("tokenExpired", 4)])
  func `what asking again can't mend ends it with a code`(reason: String, code: Int32) throws {
    var follower = follower()
    follower.began()
    _ = try follower.came(end(reason))
    let error = #expect(throws: OperatorError.self) { try follower.ended() }
    #expect(error?.exitCode == code)
  }

  @Test(arguments: ["tooSlow", "serverShutdown", "somethingNew"])
  func `what passes is asked for again`(reason: String) throws {
    var follower = follower()
    follower.began()
    _ = try follower.came(block(1) + end(reason))
    #expect(try asked(follower.ended())?.ask.lastEventID == "RM_x:1")
  }

  @Test func `where tokens are made here, one that expires is followed by another`() throws {
    var follower = follower(signs: true)
    follower.began()
    _ = try follower.came(end("tokenExpired"))
    #expect(try asked(follower.ended()) != nil)
    #expect(follower.takeOutput().notes.isEmpty)
  }

  // MARK: What fails

  @Test func `what fails at first is an error, whatever it is`() throws {
    for error in [refused, problem(503), problem(401), .notRoost(status: 502, type: nil)] {
      var follower = follower()
      #expect(throws: error) { try follower.failed(error) }
    }
  }

  @Test func `later breaks are waited out, longer each time, and from the beginning once it goes on`() throws
  {
    var follower = follower()
    follower.began()
    let waits = try (0..<8).map { _ in try asked(follower.failed(refused))?.after }
    #expect(waits == [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
    follower.began()
    #expect(try asked(follower.failed(refused))?.after == 1_000)
  }

  @Test func `the server says how long to wait, within bounds`() throws {
    var follower = follower()
    follower.began()
    #expect(try asked(follower.failed(problem(503, retryAfter: "7")))?.after == 7_000)
    #expect(try asked(follower.failed(problem(429, retryAfter: "999999")))?.after == 300_000)
    follower.began()
    _ = try follower.came(Array("retry: 250\n\n".utf8))
    #expect(try asked(follower.ended())?.after == 250)
    _ = try follower.came(Array("retry: 0\n\n".utf8))
    follower.began()
    #expect(try asked(follower.ended())?.after == 100)
  }

  @Test func `refusals that stay end it, also later`() throws {
    for error in [problem(400), problem(401), problem(403), problem(404), problem(410)] {
      var follower = follower()
      follower.began()
      #expect(throws: error) { try follower.failed(error) }
    }
  }

  // MARK: Servers without streams

  @Test func `a page is printed, and asked for again once a second from there on`() throws {
    var follower = follower()
    let page = answer(#"{"roomId":"RM_x","items":[{"id":1},{"id":2}],"next":"2","lastEvent":3}"#)
    let next = try #require(asked(follower.take(page)))
    #expect(next.after == 0 && next.ask.query.contains(Ask.QueryItem(name: "after", value: "2")))
    let last = try #require(
      asked(follower.take(answer(#"{"roomId":"RM_x","items":[{"id":3}],"lastEvent":3}"#))))
    #expect(last.after == Follower.pollMilliseconds)
    #expect(numbers(follower.takeOutput()) == [1, 2, 3])
    let quiet = try #require(asked(follower.take(answer(#"{"roomId":"RM_x","items":[],"lastEvent":3}"#))))
    #expect(quiet.after == Follower.pollMilliseconds && quiet.ask == last.ask)
    #expect(try asked(follower.failed(refused)) != nil)
  }
}
