import AccessTokens
import Configuration
import HTTPClient
import Testing

@testable import Operator

@Suite("What commands ask and print", .timeLimit(.minutes(1)))
struct TaskTests {
  private static let room = """
    {"id":"RM_x","name":"demo","createdAt":"2026-11-25T10:33:39.123Z","age":75.4,"emptyTimeout":300,"departureTimeout":20,\
    "participants":3,"publishers":2,"tracks":4,"maxParticipants":9,"metadata":"a\\u001bb",\
    "bitrates":{"received":2400000,"sent":64000},"laterMember":[1]}
    """

  private func task(_ words: String...) throws -> any OperatorTask {
    let style = words.contains("--json") ? programsStyle : plainStyle
    guard case .ask(let request, _) = try Invocation(parsing: words), let task = request.task(style) else {
      throw UsageError("no task")
    }
    return task
  }

  private func query(_ ask: Ask) -> [String: String] {
    Dictionary(ask.query.map { ($0.name, $0.value) }) { first, _ in first }
  }

  // MARK: Lists

  @Test func `a list goes on to the next page until there is none`() throws {
    var task = try task("rooms")
    let (asked, output) = try task.run([
      answer(#"{"items":[{"name":"a"},{"name":"b"}],"next":"after b"}"#),
      answer(#"{"items":[{"name":"c"}]}"#),
      answer("{}"),
    ])
    #expect(asked.map(\.path) == [["rooms"], ["rooms"]] && asked.allSatisfy { $0.right == .list })
    #expect(asked.map { query($0)["after"] } == [nil, "after b"])
    #expect(output.text.split(separator: "\n").map { $0.prefix(1) } == ["R", "a", "b", "c"])
    #expect(output.notes.isEmpty && task.ask == nil)
  }

  @Test func `the limit bounds pages and items, and what is left is said`() throws {
    let many = (0..<100).map { #"{"name":"\#($0)"}"# }.joined(separator: ",")
    var list = try task("rooms", "--limit", "150")
    let (asked, output) = try list.run(
      Array(repeating: answer(#"{"items":[\#(many)],"next":"n"}"#), count: 5))
    #expect(asked.map { query($0)["limit"] } == ["100", "50"])
    #expect(output.text.split(separator: "\n").count == 151)
    #expect(output.notes == ["there are more: raise --limit, or go on with --after n"])
    var programs = try task("rooms", "--limit=2", "--json", "--after", "x")
    let result = try programs.run([answer(#"{"items":[{"name":"a"},{"name":"b"},{"name":"c"}],"next":"n"}"#)])
    #expect(query(result.asked[0]) == ["limit": "2", "after": "x"])
    #expect(
      result.output == Output(text: #"{"items":[{"name":"a"},{"name":"b"}],"next":"n"}"# + "\n", notes: []))
  }

  @Test func `a server that always has a next page of nothing isn't asked for ever`() throws {
    var task = try task("participants", "demo")
    let (asked, output) = try task.run(Array(repeating: answer(#"{"items":[],"next":"n"}"#), count: 10))
    #expect(asked.count == 1 && output.text == "no participants\n")
    #expect(asked[0].path == ["rooms", "demo", "participants"] && asked[0].right == .administer("demo"))
  }

  @Test(arguments: ["{}", "[]", #"{"items":{}}"#, "null", "3"])
  func `what is no list is no Roost's`(text: String) throws {
    var task = try task("rooms")
    #expect(throws: OperatorError.notRoost(status: 200, type: nil)) { try task.run([answer(text)]) }
  }

  @Test func `rooms are shown with what they carry, in 80 columns`() throws {
    var task = try task("rooms")
    let long = Self.room.replacing("\"demo\"", with: "\"\(String(repeating: "n", count: 128))\"")
    let (_, output) = try task.run([answer(#"{"items":[\#(Self.room),\#(long)]}"#)])
    let lines = output.text.split(separator: "\n")
    #expect(lines[0].hasPrefix("ROOM") && lines[1].hasPrefix("demo "))
    #expect(lines[1].hasSuffix("3        2       4     2.4 M     64.0 k  1 min 15 s"))
    #expect(lines.allSatisfy { $0.count <= 80 } && lines[2].count == 80)
  }

  @Test func `participants of any kind are shown, with less than there should be too`() throws {
    var task = try task("participants", "demo")
    let (_, output) = try task.run([
      answer(
        #"{"items":[{"identity":"ada","name":"Ada","quality":"good","tracks":[{},{}],"hidden":true,"subscriptions":[{"state":"active"},{"state":"paused"}],"bitrates":{"received":1,"sent":2}},{"identity":3},7]}"#
      )
    ])
    let lines = output.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 5 && lines[2...].allSatisfy(\.isEmpty))
    #expect(lines[1].split(separator: " ") == ["ada", "Ada", "good", "2", "1", "1", "2", "hidden"])
  }

  // MARK: One thing

  @Test func `a room is shown line by line, and what is hidden in it is written out`() throws {
    var task = try task("rooms", "show", "demo")
    let (asked, output) = try task.run([answer(Self.room)])
    #expect(asked == [Ask(["rooms", "demo"], right: .list)])
    for line in [
      "room               demo\n", "created            2026-11-25 10:33:39 UTC, 1 min 15 s ago\n",
      "participants       3 of at most 9\n", "received           2.4 Mbit/s\n",
      #"metadata           a\u{1B}b"#,
    ] { #expect(output.text.contains(line), "\(line)") }
  }

  @Test func `for programs it is the server's answer, with what this version doesn't know`() throws {
    var task = try task("rooms", "show", "demo", "--json")
    let text = try task.run([answer(Self.room)]).output.text
    #expect(json(text) == json(Self.room) && text.filter { $0 == "\n" }.count == 1)
  }

  @Test func `a room is made, or stands already`() throws {
    for (status, notes) in [(201, []), (200, ["the room exists already, and stays as it is"])] {
      var task = try task("rooms", "create", "a/b", "--max-participants", "9", "--departure-timeout", "0s")
      let (asked, output) = try task.run([answer(Self.room, status: status)])
      #expect(asked[0].method == .post && asked[0].path == ["rooms"] && asked[0].right == .create)
      #expect(asked[0].body == json(#"{"name":"a/b","maxParticipants":9,"departureTimeout":0}"#))
      #expect(output.notes == notes)
    }
  }

  @Test func `a change is a merge patch of what was named, and of nothing else`() throws {
    var room = try task("rooms", "update", "demo", "--metadata=x", "--unset", "max-participants")
    let first = try room.run([answer(Self.room)]).asked[0]
    #expect(first.method == .patch && first.body == json(#"{"metadata":"x","maxParticipants":null}"#))
    var ada = try task(
      "participants", "update", "demo", "ada", "--attribute=a=1", "--remove-attribute=b", "--deny=publish",
      "--allow=update-metadata,subscribe,data", "--sources=camera,microphone", "--unset=name")
    let second = try ada.run([answer(#"{"identity":"ada"}"#)]).asked[0]
    #expect(second.path == ["rooms", "demo", "participants", "ada"] && second.right == .administer("demo"))
    #expect(
      second.body
        == json(
          #"{"name":null,"attributes":{"a":"1","b":null},"permissions":{"canPublish":false,"canUpdateOwnMetadata":true,"canSubscribe":true,"canPublishData":true,"canPublishSources":["camera","microphone"]}}"#
        ))
    var eve = try task("participants", "update", "demo", "eve", "--sources=all", "--unset=attributes")
    #expect(
      try eve.run([answer("{}")]).asked[0].body
        == json(#"{"attributes":null,"permissions":{"canPublishSources":null}}"#))
  }

  @Test func `what has no answer is said in words or as JSON`() throws {
    for (words, text, programs) in [
      (["rooms", "close", "de\nmo"], "closed de\\u{A}mo\n", #"{"closed":"de\nmo"}"#),
      (
        ["participants", "remove", "demo", "eve"],
        "removed eve from demo; tokens of before let it in no more\n",
        #"{"removed":"eve","room":"demo"}"#
      ),
    ] {
      guard case .ask(let request, _) = try Invocation(parsing: words) else { continue }
      var people = try #require(request.task(plainStyle))
      let (asked, output) = try people.run([answer("", status: 204)])
      #expect(asked[0].method == .delete && output.text == text)
      var machine = try #require(request.task(programsStyle))
      #expect(json(try machine.run([answer("", status: 204)]).output.text) == json(programs))
    }
  }

  @Test func `a participant is shown with its tracks, subscriptions and permissions`() throws {
    var task = try task("participants", "show", "demo", "ada")
    let text = try task.run([
      answer(
        #"{"identity":"ada","attributes":{"b":"2","a":"1"},"permissions":{"canPublish":true,"canPublishSources":["camera"],"canSubscribe":false,"canPublishData":true,"canUpdateOwnMetadata":false},"tracks":[{"id":"TR_x","source":"camera","kind":"video","muted":true,"mutedByAdmin":true,"encrypted":true}],"subscriptions":[{"track":"TR_y","state":"paused","reason":"codec","mid":"3"}],"bitrates":{"received":0,"sent":0},"hidden":false}"#
      )
    ]).output.text
    for line in [
      "may          publish (camera), data\n", "attribute    a=1\nattribute    b=2\n",
      "TR_x   camera  video        by admin  encrypted\n", "TR_y  paused  codec  3\n",
    ] { #expect(text.contains(line), "\(line) in \(text)") }
  }

  // MARK: Mutes

  @Test func `a track is muted by its id in one request`() throws {
    var task = try task("participants", "mute", "demo", "ada", "TR_x", "--json")
    let (asked, output) = try task.run([answer(#"{"id":"TR_x","muted":true}"#)])
    #expect(asked.count == 1 && asked[0].method == .post && asked[0].body == json(#"{"muted":true}"#))
    #expect(asked[0].path == ["rooms", "demo", "participants", "ada", "tracks", "TR_x", "mute"])
    #expect(output.text == #"{"id":"TR_x","muted":true}"# + "\n")
  }

  @Test func `a source is all tracks of it that there are`() throws {
    var task = try task("participants", "mute", "demo", "ada", "camera", "--lift")
    let (asked, output) = try task.run([
      answer(
        #"{"tracks":[{"id":"TR_1","source":"camera"},{"id":"TR_2","source":"microphone"},{"id":"TR_3","source":"camera"}]}"#
      ), answer(#"{"id":"TR_1","muted":false}"#), answer(#"{"id":"TR_3","muted":true}"#), answer("{}"),
    ])
    #expect(
      asked.map { $0.path.count } == [4, 7, 7] && asked.dropFirst().map { $0.path[5] } == ["TR_1", "TR_3"])
    #expect(asked[1].body == json(#"{"muted":false}"#))
    #expect(output.text.split(separator: "\n").count == 3)
    var none = try self.task("participants", "mute", "demo", "ada", "screen_share")
    #expect(throws: OperatorError.noTrack(source: "screen_share")) {
      try none.run([answer(#"{"tracks":[{"id":"TR_1","source":"camera"}]}"#)])
    }
  }
}
