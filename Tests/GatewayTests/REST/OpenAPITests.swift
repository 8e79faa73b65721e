import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import TestScripts
import Testing

@testable import Gateway

@Suite("What REST does and what openapi.json says", .timeLimit(.minutes(2)))
struct OpenAPITests {
  static let parameters = [
    "room": "demo", "identity": "ada", "track": "TR_none", "recording": "RC_none", "session": "none",
    "invitation": "IV_none", "call": "00000000-0000-4000-8000-000000000000", "device": "phone",
    "person": "zoe",
  ]

  static func path(_ template: String, _ parameters: [String: String] = parameters) -> String {
    parameters.reduce(template) { $0.replacing("{\($1.key)}", with: $1.value) }
  }

  @Test
  func `what is described is there, what isn't is not, and a wrong method is answered with the right ones`()
    async throws
  {
    let house = try await CallHouse().house
    let document = await house.ask(
      .get, "/openapi.json", token: nil, headers: [("origin", "https://desk.example")])
    #expect(document.status == 200 && document.headers["content-type"] == "application/json")
    #expect(document.headers["access-control-allow-origin"] == "*")
    let paths = try #require(document["paths"] as? [String: [String: Any]])
    let all =
      RESTOperation.all.map { ($0.method, $0.path) } + StandaloneOperation.all.map { ($0.method, $0.path) }
      + CallOperation.all.map { ($0.method, $0.path) }
    let known = Dictionary(grouping: all, by: \.1).mapValues { Set($0.map(\.0.rawValue)) }
    let described = paths.mapValues { Set($0.keys.filter { $0 != "parameters" }.map { $0.uppercased() }) }
    #expect(described == known)
    for template in described.keys {
      // One path may be of two templates, as `/v1/keys/head` and `/v1/keys/{person}`.
      let path = Self.path(template).split(separator: "/").map(String.init)
      let methods = described.filter { PathTemplate($0.key).match(path) != nil }
        .reduce(into: Set<String>()) { $0.formUnion($1.value) }
      for method in HTTPMethod.allCases where method != .options {
        // Without a token, so that nothing is done.
        let answer = await house.ask(method, Self.path(template), token: nil)
        if methods.contains(method == .head ? "GET" : method.rawValue) {
          let isOpen = method != .post && !template.hasSuffix("{session}") && template.hasPrefix("/wh")
          // No token is asked for there, but a body.
          let isUnsaid = template == "/v1/invitations/open"
          let wanted = isOpen || template == "/openapi.json" ? 200...204 : isUnsaid ? 415...415 : 401...401
          #expect(wanted.contains(answer.status), "\(method) \(template)")
        } else {
          #expect(answer.status == 405 && answer.problem == "method")
          let allowed = methods.union(methods.contains("GET") ? ["HEAD"] : []).union(["OPTIONS"])
          #expect(Set(answer.headers.list("allow").map { $0.uppercased() }) == allowed)
        }
      }
    }
    for path in [
      "/v1/rooms/", "/v1/rooms/demo/", "/v1", "/v1/rooms/demo/thumbnails", "/v1/rooms/demo/participants/a/b",
    ] {
      let answer = await house.ask(.put, path)
      #expect([404, 405].contains(answer.status), "\(path)")
    }
    #expect(await house.ask(.get, "/v1/rooms/demo/thumbnails").status == 404)
    #expect(await house.ask(.get, "/v1/none").problem == "not-found")
  }

  /// What to ask, by method and path as described: the body and the token, in an order in which it works. Each
  /// is shown right and wrong.
  static let talk: [(method: HTTPMethod, template: String, body: String, identity: String)] = [
    (.get, "/openapi.json", "", ""),
    (.post, "/v1/rooms", #"{"name":"new","metadata":"m","maxParticipants":5}"#, ""),
    (.post, "/v1/rooms", #"{"name":"new"}"#, ""), (.post, "/v1/rooms", "{}", ""),
    (.get, "/v1/rooms", "", ""), (.get, "/v1/rooms?limit=1", "", ""), (.get, "/v1/rooms?limit=0", "", ""),
    (.get, "/v1/rooms?search=EM&sort=-participants", "", ""), (.get, "/v1/rooms?sort=beauty", "", ""),
    (.get, "/v1/rooms/{room}", "", ""),
    (.patch, "/v1/rooms/{room}", #"{"metadata":"m","departureTimeout":1}"#, ""),
    (.patch, "/v1/rooms/{room}", #"{"x":1}"#, ""),
    (.get, "/v1/rooms/{room}/participants", "", ""),
    (.get, "/v1/rooms/{room}/participants?limit=1", "", ""),
    (.get, "/v1/rooms/{room}/participants?search=a&sort=roundTrip", "", ""),
    (.get, "/v1/rooms/{room}/participants?sort=name", "", ""),
    (.get, "/v1/rooms/{room}/participants/{identity}", "", "ada"),
    (.get, "/v1/rooms/{room}/participants/{identity}", "", "stranger"),
    (
      .patch, "/v1/rooms/{room}/participants/{identity}",
      #"{"name":"A","metadata":"m","attributes":{"a":"b"},"permissions":{"canPublishSources":["camera","microphone"]}}"#,
      "ada"
    ),
    (.post, "/v1/rooms/{room}/participants/{identity}/tracks/{track}/mute", #"{"muted":true}"#, "ada"),
    (.post, "/v1/rooms/{room}/data", #"{"payload":"aGk=","topic":"t","destinations":["ada"]}"#, ""),
    (.get, "/v1/rooms/{room}/participants/{identity}/tracks/{track}/thumbnail", "", "ada"),
    (.get, "/v1/rooms/{room}/participants/{identity}/tracks/TR_none/thumbnail", "", "ada"),
    (.get, "/v1/rooms/{room}/participants/{identity}/flight", "", "ada"),
    (.get, "/v1/rooms/{room}/participants/{identity}/flight", "", "none"),
    (.post, "/v1/rooms/{room}/recordings", #"{"sources":["camera","microphone"],"maxBytes":1048576}"#, ""),
    (.post, "/v1/rooms/{room}/recordings", #"{"tracks":["TR_none"]}"#, ""),
    (.post, "/v1/rooms/{room}/recordings", #"{"maxBytes":1}"#, ""),
    (.get, "/v1/rooms/{room}/recordings", "", ""), (.get, "/v1/rooms/{room}/recordings?limit=1", "", ""),
    (.get, "/v1/rooms/{room}/recordings/{recording}", "", ""),
    (.get, "/v1/rooms/{room}/recordings/RC_none", "", ""),
    (.delete, "/v1/rooms/{room}/recordings/RC_none", "", ""),
    (.delete, "/v1/rooms/{room}/recordings/{recording}?purge=perhaps", "", ""),
    (.delete, "/v1/rooms/{room}/recordings/{recording}", "", ""),
    (.get, "/v1/rooms/{room}/recordings/{recording}", "", ""),
    (.delete, "/v1/rooms/{room}/recordings/{recording}?purge", "", ""),
    (.get, "/v1/rooms/{room}/explain", "", ""), (.get, "/v1/rooms/{room}/explain?limit=1", "", ""),
    (.get, "/v1/rooms/{room}/explain?limit=101", "", ""),
    (.get, "/v1/rooms/{room}/explain?identity=ada", "", ""),
    (.get, "/v1/rooms/{room}/events", "", ""), (.get, "/v1/rooms/{room}/events?after=1&limit=2", "", ""),
    (.get, "/v1/rooms/{room}/events?after=999", "", ""), (.get, "/v1/rooms/{room}/events?after=x", "", ""),
    (.get, "/v1/events", "", ""), (.get, "/v1/events?limit=1", "", ""), (.get, "/v1/events?after=x", "", ""),
    (
      .patch, "/v1/rooms/{room}",
      #"{"admission":true,"dataHistory":{"topics":["chat"],"max":9,"seconds":60}}"#, ""
    ),
    (.patch, "/v1/rooms/{room}", #"{"locked":true,"dataHistory":null}"#, ""),
    (.patch, "/v1/rooms/{room}", #"{"admission":null,"locked":null}"#, ""),
    (.patch, "/v1/rooms/{room}", #"{"dataHistory":{"topics":[]}}"#, ""),
    (.patch, "/v1/rooms/{room}/participants/{identity}", #"{"handRaised":false}"#, "ada"),
    (.get, "/v1/rooms/{room}/waiting", "", ""),
    (.post, "/v1/rooms/{room}/participants/{identity}/admit", #"{"waiting":"WT_none"}"#, "stranger"),
    (.get, "/v1/rooms/{room}/invitations", "", ""),
    (.post, "/v1/rooms/{room}/invitations", #"{"ttl":1}"#, ""),
    (.delete, "/v1/rooms/{room}/invitations/IV_none", "", ""),
    (.post, "/v1/invitations/open", #"{"invitation":"none"}"#, ""),
    (.delete, "/v1/rooms/{room}/participants/{identity}", "", "bob"),
    (.delete, "/v1/rooms/{room}", "", ""), (.delete, "/v1/rooms/{room}", "", ""),
  ]

  private static func line(_ method: String, _ path: String, _ answer: HTTPResponse) -> String {
    let type = answer.headers["content-type"] ?? "-"
    let text = answer.stream != nil ? "a stream" : String(decoding: answer.body, as: UTF8.self)
    return "\(method) \(path) \(answer.status) \(type) \(text.isEmpty ? "-" : text)"
  }

  /// What a stream says until it ends, each with the schema that it is held to.
  private static func lines(of listener: EventListener) -> [String] {
    (listener.events() + listener.events(ending: .shutdown)).map { event in
      let schema =
        [
          "draining": "StreamDraining", "end": "StreamEnd", "server": "ServerStatistics",
          "room": "PeopleStatistics",
        ][event.type] ?? "Event"
      return "SCHEMA \(schema) 0 - \(event.data)"
    }
  }

  @Test func `every end of a stream is one that is described`() async throws {
    let ends: [EventStreamEnd] = [
      .roomFinished, .tokenExpired, .removed, .notAllowed, .tooSlow, .replaced, .serverShutdown,
      .eventsGone(roomId: "RM_a", oldest: 7, latest: 9, state: "/v1/rooms/a/participants"),
      .cursorGone(oldest: "c", state: "/v1/rooms"),
    ]
    var lines = ends.map { "SCHEMA StreamEnd 0 - \($0.json)" }
    let house = try House()
    try await house.room()
    let listener = try await house.listener()
    await house.directory.drain(for: .seconds(1))
    lines += Self.lines(of: listener)
    #expect(lines.contains { $0.hasPrefix("SCHEMA StreamDraining") })
    let (status, output) = try Script.run("scripts/check-openapi", lines)
    #expect(status == 0, "\(output)")
    #expect(
      try Script.run("scripts/check-openapi", [#"SCHEMA StreamEnd 0 - {"reason":"bored"}"#]).status != 0)
  }

  @Test func `every answer is one that is described, field by field`() async throws {
    let house = try House()
    let ada = try await house.enter("ada") { $0.canUpdateOwnMetadata = true }
    let track = try await ada.publish(.audio, as: "microphone")
    _ = try await ada.publish(.video, as: "camera")
    let bob = try await house.enter("bob")
    _ = try await bob.offer(receivers: 1)
    var lines: [String] = []
    func note(_ method: HTTPMethod, _ template: String, _ answer: House.Answer) {
      let path = String(template.prefix { $0 != "?" }).replacing("RC_none", with: "{recording}")
        .replacing("TR_none", with: "{track}").replacing("IV_none", with: "{invitation}")
      let type = answer.headers["content-type"] ?? "-"
      let body = type.hasSuffix("json") ? answer.text : answer.text.isEmpty ? "" : "bytes"
      lines.append(
        "\(method.rawValue) \(path) \(answer.status) \(type) \(body.isEmpty ? "-" : body.replacing("\n", with: " "))"
      )
    }
    var good: Set<String> = []
    var recording = "RC_none"
    for (method, template, body, identity) in Self.talk {
      let path = Self.path(
        template, ["room": "demo", "identity": identity, "track": track, "recording": recording])
      let answer = await house.ask(method, path, body)
      if answer.status == 201, let id = answer["id"] as? String, id.hasPrefix("RC_") { recording = id }
      note(method, template, answer)
      if answer.status < 300 { good.insert("\(method.rawValue) \(template.prefix { $0 != "?" })") }
      guard template != "/openapi.json" else { continue }
      note(method, template, await house.ask(method, path, body, token: nil))
      note(method, template, await house.ask(method, path, body, token: House.token()))
      guard !body.isEmpty else { continue }
      note(
        method, template, await house.ask(method, path, body, headers: [("content-type", "text/plain")]))
    }
    for path in ["/v1/rooms/{room}/events", "/v1/events"] {
      for (last, token) in [
        (nil, House.admin), (nil, nil), (nil, House.token()), ("x", House.admin), ("RM_none:1", House.admin),
        (nil, House.admin),
      ] as [(String?, String?)] {
        let answer = await house.listen(Self.path(path), last: last, token: token)
        lines.append(Self.line("GET", path, answer))
        lines += EventListener(answer).map(Self.lines) ?? []
      }
    }
    // The room was deleted above.
    _ = try await house.enter("carl")
    for query in ["", "?limit=1&sort=-created", "?room=demo&sort=loss", "?room=none", "?every=1", "?limit=0"]
    {
      let answer = await house.listen("/v1/statistics\(query)")
      lines.append(Self.line("GET", "/v1/statistics", answer))
      guard let listener = EventListener(answer) else { continue }
      try await listener.waits(for: 1)
      lines += Self.lines(of: listener)
      good.insert("GET /v1/statistics")
    }
    #expect(lines.contains { $0.hasPrefix("SCHEMA ServerStatistics") })
    #expect(lines.contains { $0.hasPrefix("SCHEMA PeopleStatistics") })
    // All that there is was done once; of pictures, which none here has, see `ThumbnailRESTTests`, of those
    // who wait `WaitingOpenAPITests`.
    good.insert("GET /v1/rooms/{room}/participants/{identity}/tracks/{track}/thumbnail")
    good.formUnion(WaitingOpenAPITests.operations)
    #expect(good == Set(RESTOperation.all.map { "\($0.method.rawValue) \($0.path)" }))
    let (status, output) = try Script.run("scripts/check-openapi", lines)
    #expect(status == 0, "\(output)")
    #expect(output.contains("\(lines.count) answers"))
  }
}
