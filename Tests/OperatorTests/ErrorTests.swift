import AccessTokens
import Configuration
import HTTPClient
import Testing

@testable import Operator

@Suite("Errors on the command line", .timeLimit(.minutes(1)))
struct ErrorTests {
  private func problem(_ status: Int, _ code: String, _ more: String = "", retryAfter: String? = nil)
    -> OperatorError
  {
    .problem(
      ServerProblem(
        status: status,
        json: json(#"{"type":"urn:roost:problem:\#(code)","title":"the title","status":\#(status)\#(more)}"#),
        retryAfter: retryAfter))
  }

  @Test(arguments: [
    (400, "body", 6), (401, "token-expired", 4), (403, "token-removed", 4), (404, "room-not-found", 5),
    (410, "events-gone", 5), (413, "too-large", 6), (415, "content-type", 6), (429, "rate-limited", 7),
    (500, "", 7), (503, "full", 7),
  ])
  func `each kind of refusal has its code`(status: Int, code: String, exitCode: Int32) {
    #expect(problem(status, code).exitCode == exitCode)
  }

  @Test func `codes of what isn't a refusal are apart from those`() {
    #expect(OperatorError.unreachable(.connection(""), url: "").exitCode == 3)
    #expect(OperatorError.unreachable(.certificate(""), url: "").exitCode == 3)
    #expect(OperatorError.unreachable(.authorities(""), url: "").exitCode == 1)
    #expect(OperatorError.notRoost(status: 200, type: nil).exitCode == 3)
    #expect(OperatorError.address("").exitCode == UsageError.exitCode)
    #expect(OperatorError.noTrack(source: "").exitCode == 5)
  }

  @Test func `a refusal shows title, detail and what to do`() {
    let advice = Advice(signs: false, room: "my room", identity: "it's")
    #expect(
      problem(404, "participant-not-found", #","detail":"more\u001b[2J of it""#).text(advice)
        == "roost: the title (404)\n  more\\u{1B}[2J of it\n  `roost participants 'my room'` lists those who are in.\n"
    )
    #expect(
      problem(404, "track-not-found").text(advice).contains(
        #"`roost participants show 'my room' 'it'\\''s'` lists"#))
    #expect(problem(503, "full", retryAfter: "10").text(advice).hasSuffix("Try again in 10 s.\n"))
    #expect(problem(503, "full", retryAfter: "soon").text(advice).hasSuffix("Try again.\n"))
    #expect(
      problem(410, "events-gone", #","oldest":42,"roomId":"RM_y","state":"/v1""#).text(advice)
        .hasSuffix("--after 41 --room-id RM_y\n"))
    #expect(problem(410, "events-gone", #","oldest":"c=1""#).text(advice).hasSuffix("--after 'c=1'\n"))
  }

  @Test func `advice about a token depends on who makes it`() {
    #expect(problem(401, "token-expired").text(Advice(signs: false)).contains("roost token"))
    #expect(problem(401, "token-expired").text(Advice(signs: true)).contains("clock"))
    #expect(problem(401, "token-signature").text(Advice(signs: true)).contains("ROOST_KEYS"))
  }

  @Test func `for programs it is the problem as it came`() {
    let gone = problem(410, "events-gone", #","oldest":42"#)
    #expect(gone.json["oldest"]?.integer == 42 && gone.json["title"]?.string == "the title")
    #expect(
      OperatorError.notRoost(status: 200, type: "text/html").json["title"]?.string?.contains("text/html")
        == true)
  }

  // MARK: Answers

  @Test func `a good answer is JSON, or nothing`() throws {
    #expect(
      try OperatorAnswer(http("{}", status: 200, type: "application/json; charset=utf-8")).json
        == .object([:]))
    #expect(try OperatorAnswer(http("", status: 204, type: nil)).json == nil)
  }

  @Test(
    arguments: [
      ("<html>", 200, "text/html"), ("{}", 200, nil), ("{", 200, "application/json"),
      ("", 200, "application/json"),
      ("moved", 302, "text/html"), ("{}", 500, "text/plain"), ("{\"a\":1,\"a\":2}", 200, "application/json"),
    ] as [(String, Int, String?)])
  func `what isn't Roost's is known as such`(text: String, status: Int, type: String?) {
    #expect {
      try OperatorAnswer(http(text, status: status, type: type))
    } throws: {
      guard case .notRoost(status, _)? = $0 as? OperatorError else { return false }
      return true
    }
  }

  @Test(arguments: ["{}", "3", "[]", #"{"title":3,"detail":[],"type":null}"#])
  func `a problem that says nothing is one all the same`(text: String) {
    let error = #expect(throws: OperatorError.self) {
      try OperatorAnswer(
        http(
          text, status: 503, type: "application/problem+json",
          fields: ["retry-after": ["99999999999999999999"]]))
    }
    guard case .problem(let problem)? = error else {
      Issue.record("\(error.debugDescription)")
      return
    }
    #expect(problem.title == "the server refuses" && problem.detail == nil && problem.retryAfter == nil)
  }

  @Test func `a list of more than a thousand is read`() throws {
    let items = Array(repeating: "{}", count: 5_000).joined(separator: ",")
    let answer = try OperatorAnswer(http("{\"items\":[\(items)]}", status: 200, type: "application/json"))
    #expect(answer.json?["items"]?.array?.count == 5_000)
  }

  // MARK: Addresses and tokens

  @Test(arguments: [
    ("http://localhost:7880", false), ("ws://127.0.0.1:7880/", false), ("https://relay.example", false),
    ("WSS://relay.example/base", false), ("http://10.0.0.1", true),
  ])
  func `an address that keeps the token is used`(text: String, isInsecure: Bool) throws {
    let url = try ServerAddress.read(text, isInsecure: isInsecure)
    #expect(url.description.hasPrefix("http"))
  }

  @Test(arguments: [
    "http://10.0.0.1", "ws://relay.example", "http://127.0.0.1.example", "localhost:7880", "ftp://a", "",
    "https://a/?b=c", "https://me@a",
  ])
  func `one that would show it to others, or is none, isn't`(text: String) {
    #expect(throws: OperatorError.self) { try ServerAddress.read(text, isInsecure: false) }
  }

  @Test func `a token that is made here allows what is asked, for as long as that takes`() throws {
    let bearer = Bearer(credential: .keyPair(key: "k", secret: "a secret of more than thirty-two bytes"))
    func grants(_ ask: Ask) throws -> (Grants, Int) {
      let token = try AccessToken(
        verifying: bearer.token(for: ask, now: 1_000_000),
        keys: ["k": "a secret of more than thirty-two bytes"],
        now: 1_000_000)
      #expect(token.identity == nil)
      return (token.grants, token.expires - 1_000_000)
    }
    let (list, short) = try grants(Ask(["rooms"], right: .list))
    #expect(
      list.roomList && !list.roomAdmin && !list.roomCreate && !list.roomJoin && list.room == nil
        && short == 120)
    let (create, _) = try grants(Ask(.post, ["rooms"], right: .create))
    #expect(create.roomCreate && !create.roomList && !create.roomAdmin)
    var stream = Ask(["rooms", "demo", "events"], right: .administer("demo"))
    stream.isStream = true
    let (admin, long) = try grants(stream)
    #expect(admin.roomAdmin && admin.room == "demo" && !admin.roomList && !admin.roomCreate && long == 3_600)
    #expect(Bearer(credential: .token("t")).token(for: stream, now: 0) == "t")
  }
}
