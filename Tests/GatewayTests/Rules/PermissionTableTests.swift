import AccessTokens
import Foundation
import HTTPServer
import Model
import Recording
import Rooms
import Testing

@testable import Gateway

/// Each grant against each request, through the doors: `+` is done, `-` is refused with the one right error.
@Suite("Grants and what they allow", .timeLimit(.minutes(2)))
struct PermissionTableTests {
  static func grants(_ adjust: @escaping @Sendable (inout Grants) -> Void) -> Grants {
    var grants = Grants.join("demo")
    adjust(&grants)
    return grants
  }

  // MARK: - The native door

  static let requests = [
    "microphone", "camera", "screen_share", "data", "subscribe", "unsubscribe", "view", "update",
    "ping", "hand", "admit",
  ]
  static let sessions: [(name: String, grants: Grants, cells: String)] = [
    ("roomJoin", grants { _ in }, "+ + + + + + + - + + -"),
    (
      "canPublish: false",
      grants {
        $0.canPublish = false
        $0.canPublishData = false
      }, "- - - - + + + - + + -"
    ),
    ("canPublish: false, canPublishData: true", grants { $0.canPublish = false }, "- - - + + + + - + + -"),
    (
      "canPublishSources: microphone", grants { $0.canPublishSources = [.microphone] },
      "+ - - + + + + - + + -"
    ),
    (
      "canPublishSources: screen_share", grants { $0.canPublishSources = [.screenShare] },
      "- - + + + + + - + + -"
    ),
    ("canPublishSources: of no known name", grants { $0.canPublishSources = [] }, "- - - + + + + - + + -"),
    ("canSubscribe: false", grants { $0.canSubscribe = false }, "+ + + + - - - - + + -"),
    ("canPublishData: false", grants { $0.canPublishData = false }, "+ + + - + + + - + + -"),
    ("canUpdateOwnMetadata", grants { $0.canUpdateOwnMetadata = true }, "+ + + + + + + + + + -"),
    ("hidden", grants { $0.hidden = true }, "- - - + + + + - + - -"),
    (
      "roomAdmin, roomCreate, roomList",
      grants {
        $0.roomAdmin = true
        $0.roomCreate = true
        $0.roomList = true
      }, "+ + + + + + + - + + +"
    ),
  ]

  private func perform(_ request: String, by guest: Guest, track: String) async throws -> String {
    switch request {
    case "data": return try await guest.verdict("data", #""payload":"eA==""#)
    case "subscribe", "unsubscribe": return try await guest.verdict(request, #""track":"\#(track)""#)
    case "view":
      return try await guest.verdict("view", #""tracks":[{"track":"\#(track)","quality":"low"}]"#)
    case "update": return try await guest.verdict("update", #""name":"N""#)
    case "ping": return try await guest.verdict("ping") == "pong" ? "ok" : "?"
    case "hand": return try await guest.verdict("hand", #""raised":true"#)
    case "admit":
      // There is none of that id: who is answered so may ask.
      let verdict = try await guest.verdict("admit", #""waiting":"WT_none""#)
      return verdict == "unknown-participant" ? "ok" : verdict
    default:
      let kind: MediaKind = request == "microphone" ? .audio : .video
      let published = try await guest.publish(kind, as: request)
      return published.hasPrefix("TR_") ? "ok" : published
    }
  }

  @Test(arguments: Self.sessions.indices)
  func `a session may do what its token grants, and nothing else`(index: Int) async throws {
    let (name, grants, cells) = Self.sessions[index]
    let house = try House()
    let host = try await house.enter("host")
    let track = try await host.publish(.video, as: "camera")
    let marks = cells.split(separator: " ")
    try #require(marks.count == Self.requests.count)
    for (request, mark) in zip(Self.requests, marks) {
      // Each by somebody new, so that a refused offer isn't offered along.
      let guest = try await house.enter("guest \(request)") { $0 = grants }
      let verdict = try await perform(request, by: guest, track: track)
      #expect(verdict == (mark == "+" ? "ok" : "not-allowed"), "\(name): \(request)")
    }
  }

  static let strangers: [(name: String, grants: Grants)] = [
    ("nothing", Grants()), ("roomJoin elsewhere", Grants.join("other")),
    ("no room", grants { $0.room = nil }), ("no roomJoin", grants { $0.roomJoin = false }),
    (
      "roomAdmin alone",
      grants {
        $0.roomJoin = false
        $0.roomAdmin = true
      }
    ),
  ]

  @Test(arguments: Self.strangers.indices)
  func `without the grant to join no client joins, in the request or by auth`(index: Int) async throws {
    let (name, grants) = Self.strangers[index]
    let house = try House()
    #expect(await house.upgrade(House.token("ada") { $0 = .join("demo") }).status == 101)
    let token = House.token("ada") { $0 = grants }
    let refused = await house.upgrade(token)
    #expect(refused.status == 403 && refused.problem == "token-not-for-this", "\(name)")
    let guest = house.connect(token)
    #expect(try await guest.next("joined")["code"] as? String == "token-not-for-this", "\(name)")
    await guest.ended()
    #expect(guest.socket.closeCode == 4003)
  }

  @Test func `a token without an identity joins nothing`() async throws {
    let house = try House()
    #expect(await house.upgrade(House.token { $0 = .join("demo") }).problem == "token-not-for-this")
  }

  // MARK: - Changed while connected

  /// What is taken away and given back, and which request that decides.
  static let changes: [(taken: String, given: String, request: String)] = [
    (#"{"canPublish":false}"#, #"{"canPublish":true}"#, "camera"),
    (#"{"canPublish":false}"#, #"{"canPublish":null}"#, "microphone"),
    (#"{"canPublishSources":["microphone"]}"#, #"{"canPublishSources":["camera"]}"#, "camera"),
    (#"{"canPublishSources":["microphone"]}"#, #"{"canPublishSources":null}"#, "screen_share"),
    (#"{"canPublishSources":["microphone"]}"#, #"{"canPublishSources":[]}"#, "camera"),
    (#"{"canSubscribe":false}"#, #"{"canSubscribe":true}"#, "subscribe"),
    (#"{"canPublishData":false}"#, #"{"canPublishData":true}"#, "data"),
    (#"{"canUpdateOwnMetadata":null}"#, #"{"canUpdateOwnMetadata":true}"#, "update"),
  ]

  @Test(arguments: Self.changes.indices)
  func `a grant that is withdrawn ends at once, and comes back without joining again`(index: Int)
    async throws
  {
    let (taken, given, request) = Self.changes[index]
    let house = try House()
    let host = try await house.enter("host")
    let track = try await host.publish(.video, as: "camera")
    let path = "/v1/rooms/demo/participants/guest"
    let before = try await house.enter("guest") { $0.canUpdateOwnMetadata = true }
    #expect(try await perform(request, by: before, track: track) == "ok")
    #expect(await house.ask(.patch, path, #"{"permissions":\#(taken)}"#).status == 200)
    let heard = try await host.event("participant.updated")["participant"] as? NSDictionary
    #expect(heard?["permissions"] != nil)
    #expect(try await perform(request, by: before, track: track) == "not-allowed")
    // It is theirs alone.
    let other = try await house.enter("another") { $0.canUpdateOwnMetadata = true }
    #expect(try await perform(request, by: other, track: track) == "ok")
    #expect(await house.ask(.patch, path, #"{"permissions":\#(given)}"#).status == 200)
    #expect(try await perform(request, by: before, track: track) == "ok")
  }

  // MARK: - REST

  static let holders = [
    "none", "join", "create", "list", "admin everywhere", "admin here", "admin elsewhere", "admin nowhere",
    "admin here who sees", "host here",
  ]
  static func token(_ holder: String) -> String {
    House.token("holder") { grants in
      switch holder {
      case "join": grants = .join("demo")
      case "create": grants.roomCreate = true
      case "list": grants.roomList = true
      case "admin everywhere": (grants.roomAdmin, grants.room) = (true, Grants.everyRoom)
      case "admin nowhere": grants.roomAdmin = true
      case "admin here": (grants.roomAdmin, grants.room) = (true, "demo")
      case "admin elsewhere": (grants.roomAdmin, grants.room) = (true, "other")
      case "admin here who sees":
        (grants.roomAdmin, grants.room, grants.canSubscribe) = (true, "demo", true)
      case "host here":
        grants = .join("demo")
        grants.roomAdmin = true
      default: break
      }
    }
  }

  static let operations: [(method: HTTPMethod, path: String, body: String, cells: String)] = [
    (.post, "/v1/rooms", #"{"name":"new"}"#, "- - + - - - - - - -"),
    (.get, "/v1/rooms", "", "- - - + - - - - - -"),
    (.get, "/v1/rooms/{room}", "", "- - - + + + - - + +"),
    (.patch, "/v1/rooms/{room}", "{}", "- - - - + + - - + +"),
    (.get, "/v1/rooms/{room}/participants", "", "- - - - + + - - + +"),
    (.get, "/v1/rooms/{room}/participants/{identity}", "", "- - - - + + - - + +"),
    (.patch, "/v1/rooms/{room}/participants/{identity}", "{}", "- - - - + + - - + +"),
    (
      .post, "/v1/rooms/{room}/participants/{identity}/tracks/{track}/mute", #"{"muted":true}"#,
      "- - - - + + - - + +"
    ),
    (
      .get, "/v1/rooms/{room}/participants/{identity}/tracks/{track}/thumbnail", "",
      "- - - - - - - - + +"
    ),
    (.get, "/v1/rooms/{room}/waiting", "", "- - - - + + - - + +"),
    (.post, "/v1/rooms/{room}/participants/{identity}/admit", "", "- - - - + + - - + +"),
    (.post, "/v1/rooms/{room}/invitations", #"{"ttl":60}"#, "- - - - - - - - - +"),
    (.get, "/v1/rooms/{room}/invitations", "", "- - - - + + - - + +"),
    (.delete, "/v1/rooms/{room}/invitations/{invitation}", "", "- - - - + + - - + +"),
    (.post, "/v1/rooms/{room}/data", #"{"payload":""}"#, "- - - - + + - - + +"),
    (.post, "/v1/rooms/{room}/recordings", "{}", "- - - - + + - - + +"),
    (.get, "/v1/rooms/{room}/recordings", "", "- - - - + + - - + +"),
    (.get, "/v1/rooms/{room}/recordings/{recording}", "", "- - - - + + - - + +"),
    (.delete, "/v1/rooms/{room}/recordings/{recording}", "", "- - - - + + - - + +"),
    (.get, "/v1/rooms/{room}/explain", "", "- - - - + + - - + +"),
    (.get, "/v1/rooms/{room}/participants/{identity}/flight", "", "- - - - + + - - + +"),
    (.get, "/v1/rooms/{room}/events", "", "- - - - + + - - + +"),
    (.get, "/v1/events", "", "- - - + - - - - - -"),
    (.get, "/v1/statistics", "", "- - - + - - - - - -"),
    (.delete, "/v1/rooms/{room}/participants/{identity}", "", "- - - - + + - - + +"),
    (.delete, "/v1/rooms/{room}", "", "- - + - - - - - - -"),
  ]

  /// What there is none of: who hears so may ask.
  static let absent = ["/admit": "participant-not-found", "/{invitation}": "invitation-not-found"]

  @Test func `the table has a row for everything that needs a token`() {
    #expect(
      Set(Self.operations.map { "\($0.method) \($0.path)" })
        == Set(RESTOperation.all.filter { $0.grant != .none }.map { "\($0.method) \($0.path)" }))
  }

  @Test(arguments: Self.operations.indices)
  func `REST does what the token grants, and nothing else`(index: Int) async throws {
    let (method, template, body, cells) = Self.operations[index]
    let marks = cells.split(separator: " ")
    try #require(marks.count == Self.holders.count)
    var house = try House()
    var (track, recording) = ("", "")
    for (holder, mark) in zip(Self.holders, marks) {
      if track.isEmpty {
        track = try await house.enter("victim").publish(.audio, as: "microphone")
        recording = try await house.directory.record("demo", RecordingScope()).id
      }
      let path = OpenAPITests.path(
        template,
        [
          "room": "demo", "identity": "victim", "track": track, "recording": recording,
          "invitation": "IV_none",
        ])
      let answer = await house.ask(method, path, body, token: Self.token(holder))
      if mark == "+", let problem = Self.absent.first(where: { template.hasSuffix($0.key) })?.value {
        #expect(answer.status == 404 && answer.problem == problem, "\(method) \(template): \(holder)")
      } else if mark == "+", template.hasSuffix("/thumbnail") {
        // There is none of sound: who is answered so may ask.
        #expect(answer.status == 409 && answer.problem == "no-thumbnail", "\(holder)")
      } else if mark == "+" {
        #expect((200...204).contains(answer.status), "\(method) \(template): \(holder): \(answer.text)")
      } else {
        #expect(
          answer.status == 403 && answer.problem == "token-not-for-this", "\(method) \(template): \(holder)")
      }
      let unknown = await house.ask(method, path, body, token: nil)
      #expect(unknown.status == 401 && unknown.problem == "token-absent")
      // What is deleted is gone, and a room has four recordings at most.
      let isUsed = method == .delete || method == .post && template.hasSuffix("/recordings")
      if isUsed, mark == "+" { (house, track) = (try House(), "") }
    }
  }
}
