import AccessTokens
import Configuration
import Testing

@testable import Operator

@Suite("The event log on the command line", .timeLimit(.minutes(1)))
struct EventsTaskTests {
  private func task(_ words: String...) throws -> any OperatorTask {
    let style = words.contains("--json") ? programsStyle : plainStyle
    guard case .ask(let request, _) = try Invocation(parsing: ["events"] + words),
      let task = request.task(style)
    else { throw UsageError("no task") }
    return task
  }

  private func query(_ ask: Ask) -> [String: String] {
    Dictionary(ask.query.map { ($0.name, $0.value) }) { first, _ in first }
  }

  private func event(_ id: Int, _ type: String, day: Int = 25, more: String = "") -> String {
    #"{"id":\#(id),"time":"2026-11-\#(day)T10:33:39.123Z","room":"demo","roomId":"RM_x","type":"\#(type)"\#(more)}"#
  }

  @Test func `a room's events go on behind the last, of the same room`() throws {
    var task = try task("demo", "--after", "4", "--json")
    let (asked, output) = try task.run([
      answer(
        #"{"roomId":"RM_x","items":[\#(event(5, "room.started")),\#(event(6, "room.updated"))],"next":"6","lastEvent":7}"#
      ),
      answer(#"{"roomId":"RM_x","items":[\#(event(7, "room.finished"))],"lastEvent":7}"#), answer("{}"),
    ])
    #expect(asked.map { $0.path } == Array(repeating: ["rooms", "demo", "events"], count: 2))
    #expect(
      asked.map { query($0)["after"] } == ["4", "6"] && asked.map { query($0)["roomId"] } == [nil, "RM_x"])
    let lines = output.text.split(separator: "\n").map { json(String($0)) }
    #expect(lines.map { $0["id"]?.integer } == [5, 6, 7] && output.notes.isEmpty)
  }

  @Test func `those of all rooms have their cursor with them`() throws {
    var task = try task("--json")
    let (asked, output) = try task.run([
      answer(#"{"items":[{"cursor":"c1","event":\#(event(1, "room.started"))}],"next":"c1","cursor":"c1"}"#),
      answer(#"{"items":[],"cursor":"c1"}"#),
    ])
    #expect(asked.map { query($0)["after"] } == [nil, "c1"] && asked[0].right == .list)
    let line = json(output.text)
    #expect(line["cursor"]?.string == "c1" && line["type"]?.string == "room.started")
  }

  @Test func `the limit ends it, and how to go on is said`() throws {
    var task = try task("demo", "--limit", "2")
    let page = (1...3).map { event($0, "room.updated") }.joined(separator: ",")
    let (asked, output) = try task.run([
      answer(#"{"roomId":"RM_x","items":[\#(page)],"next":"3","lastEvent":9}"#), answer("{}"),
    ])
    #expect(asked.count == 1 && query(asked[0])["limit"] == "2")
    #expect(output.text.split(separator: "\n").count == 3)
    #expect(
      output.notes.first?.hasPrefix("there are more: raise --limit, or go on with --after 3 --room-id RM_x")
        == true)
  }

  @Test func `a line says when, what and who, in 80 columns`() throws {
    var task = try task("demo")
    let long = String(repeating: "x", count: 128)
    let page = [
      event(1, "room.started", day: 24),
      event(2, "participant.joined", more: #","participant":{"identity":"ada","name":"Ada \u001b[31m"}"#),
      event(
        3, "track.muted",
        more:
          #","participant":{"identity":"ada"},"track":{"source":"camera","name":"front","mutedByAdmin":true}"#
      ),
      event(
        4, "participant.left",
        more: #","participant":{"identity":"\#(long)","name":"\#(long)"},"reason":"removed""#),
      event(5, "room.updated", more: #","metadata":"noon""#), #"{"id":"6","time":7}"#, "8",
    ].joined(separator: ",")
    let text = try task.run([answer(#"{"roomId":"RM_x","items":[\#(page)],"lastEvent":6}"#)]).output.text
    let lines = text.split(separator: "\n").map(String.init)
    #expect(
      Array(lines[..<4]) == [
        "2026-11-24 (UTC)", "10:33:39      1  room.started", "2026-11-25 (UTC)",
        "10:33:39      2  participant.joined        ada (Ada \\u{1B}[31m)",
      ])
    #expect(lines[4].hasPrefix("10:33:39      3  track.muted               ada camera (front"))
    #expect(lines.allSatisfy { TerminalText.columns($0) <= 80 } && lines[5].hasSuffix("removed"))
    #expect(lines.contains("10:33:39      5  room.updated              metadata noon") && lines.count == 7)
  }
}
