import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import Testing

@testable import Gateway

/// Each operation by, on, or beside somebody hidden, against all that another participant is sent and all that REST gives
/// to who doesn't administer the room: nothing of it names who is hidden.
@Suite("Who is hidden", .timeLimit(.minutes(2)))
struct HiddenTests {
  /// In every text of the hidden participant's own.
  static let mark = "gh0st"
  static let path = "/v1/rooms/demo/participants/\(mark)"

  /// Somebody who is there, and somebody hidden.
  struct Scene {
    let house: House
    let witness: Guest
    let ghost: Guest
    let track: String
    let isHidden: Bool

    /// - Parameter isHidden: false: the second one is visible as well, to compare with.
    init(isHidden: Bool = true) async throws {
      self.isHidden = isHidden
      house = try House()
      witness = try await house.enter("witness")
      track = try await witness.publish(.video, as: "camera")
      ghost = try await house.enter(HiddenTests.mark) {
        $0.hidden = isHidden
        $0.canUpdateOwnMetadata = true
      }
    }

    func patch(_ body: String) async throws {
      #expect(await house.ask(.patch, HiddenTests.path, body).status == 200, "\(body)")
    }

    func offerCamera() async throws {
      let published = try await ghost.publish(.video, as: "camera")
      #expect(published == "not-allowed" || !isHidden)
    }

    func tell() async throws {
      let body = #"{"payload":"eA==","destinations":["gh0st"]}"#
      #expect(await house.ask(.post, "/v1/rooms/demo/data", body).status == 204)
      #expect(try await ghost.next("data")["payload"] as? String == "eA==")
    }

    /// Its own track, by its own request and by REST, until it leaves.
    func muteAndLeave() async throws {
      let own = try await ghost.publish(.audio, as: "microphone")
      for muted in [true, false] {
        let fields = #""track":"\#(own)","muted":\#(muted)"#
        try await request("mute", fields, isHidden ? "unknown-track" : "ok")
      }
      let path = "\(HiddenTests.path)/tracks/\(own)/mute"
      #expect(await house.ask(.post, path, #"{"muted":true}"#).status == (isHidden ? 404 : 200))
      try await request("leave", "", "closed")
    }

    func remove() async throws {
      #expect(await house.ask(.delete, HiddenTests.path).status == 204)
    }

    func request(_ type: String, _ fields: String = "", _ expected: String = "ok") async throws {
      #expect(try await ghost.verdict(type, fields) == expected, "\(type) \(fields)")
    }
  }

  typealias Operation = @Sendable (Scene) async throws -> Void
  static let operations: [(name: String, perform: Operation)] = [
    ("is in", { _ in }),
    ("offers a camera", { try await $0.offerCamera() }),
    ("offers receivers", { _ = try await $0.ghost.offer(receivers: 2) }),
    (
      "subscribes, says how it shows that, and unsubscribes",
      { scene in
        _ = try await scene.ghost.offer(receivers: 1)
        try await scene.request("unsubscribe", #""track":"\#(scene.track)""#)
        try await scene.request("subscribe", #""track":"\#(scene.track)""#)
        try await scene.request("view", #""tracks":[{"track":"\#(scene.track)","maxWidth":320}]"#)
        try await scene.request("explain", "", "explain")
      }
    ),
    (
      "mutes another's track",
      { try await $0.request("mute", #""track":"\#($0.track)","muted":true"#, "unknown-track") }
    ),
    (
      "says how large another's pictures are",
      {
        try await $0.request(
          "layers", #""track":"\#($0.track)","layers":[{"width":9,"height":9}]"#, "unknown-track")
      }
    ),
    ("changes its name", { try await $0.request("update", #""name":"gh0st by name""#) }),
    ("changes its metadata", { try await $0.request("update", #""metadata":"gh0st""#) }),
    ("changes its attributes", { try await $0.request("update", #""attributes":{"gh0st":"gh0st"}"#) }),
    ("says something to all", { try await $0.request("data", #""payload":"eA==","topic":"t""#) }),
    (
      "says something to one",
      { try await $0.request("data", #""payload":"eA==","destinations":["witness"],"reliable":false"#) }
    ),
    (
      "raises its hand",
      {
        try await $0.request("hand", #""raised":true"#, $0.isHidden ? "not-allowed" : "ok")
        try await $0.patch(#"{"handRaised":false}"#)
      }
    ),
    ("lets in who waits", { try await $0.request("admit", #""waiting":"WT_gh0st""#, "not-allowed") }),
    (
      "says something to a session",
      {
        let event = #"{"id":"00000000-0000-4000-8000-000000000000","type":"gh0st"}"#
        try await $0.request("session.event", #""sid":"gh0st","event":\#(event)"#, "unsupported")
      }
    ),
    ("is named by an administrator", { try await $0.patch(#"{"name":"gh0st by name"}"#) }),
    ("gets metadata", { try await $0.patch(#"{"metadata":"gh0st"}"#) }),
    ("gets attributes", { try await $0.patch(#"{"attributes":{"gh0st":"gh0st"}}"#) }),
    ("may publish no more, and again", permissions("canPublish")),
    ("may subscribe no more, and again", permissions("canSubscribe")),
    ("may say nothing more, and again", permissions("canPublishData")),
    ("may change itself no more, and again", permissions("canUpdateOwnMetadata")),
    (
      "is restricted to a source",
      { try await $0.patch(#"{"permissions":{"canPublishSources":["microphone"]}}"#) }
    ),
    (
      "gets a message from REST", { try await $0.tell() }
    ),
    ("leaves", { try await $0.request("leave", "", "closed") }),
    (
      "breaks off",
      { scene in
        scene.ghost.socket.hangUp()
        await scene.ghost.ended()
      }
    ),
    (
      "comes again in its own place",
      { scene in _ = try await scene.house.enter(HiddenTests.mark) { $0.hidden = scene.isHidden } }
    ),
    (
      "is removed", { try await $0.remove() }
    ),
    (
      "sends a candidate and a ping",
      { scene in
        try await scene.request("candidate", #""candidate":"","mid":"0""#)
        try await scene.request("ping", "", "pong")
      }
    ),
    ("mutes its own track, which is muted by REST too, and leaves", { try await $0.muteAndLeave() }),
    (
      "resumes",
      { scene in
        let resumed = try await scene.house.resume(scene.ghost).next("resumed")
        #expect(resumed["type"] as? String == "resumed")
      }
    ),
    (
      "has its room created again",
      { #expect(await $0.house.ask(.post, "/v1/rooms", #"{"name":"demo"}"#).status == 200) }
    ),
  ]

  private static func permissions(_ name: String) -> Operation {
    { scene in
      for value in [false, true] { try await scene.patch(#"{"permissions":{"\#(name)":\#(value)}}"#) }
    }
  }

  func names(_ ghost: Guest, _ texts: [String]) -> [String] {
    texts.filter { $0.contains(Self.mark) || $0.contains(ghost.id) }
  }

  @Test(arguments: Self.operations.indices)
  func `a hidden participant is announced to no other, whatever it does and whatever is done to it`(
    index: Int
  )
    async throws
  {
    let (name, perform) = Self.operations[index]
    let scene = try await Scene()
    try await perform(scene)
    // Somebody who comes now, and then a last word to all.
    let late = try await scene.house.enter("late")
    #expect(late.joined.contains("witness") && names(scene.ghost, [late.joined]) == [], "\(name)")
    #expect(
      await scene.house.ask(.patch, "/v1/rooms/demo", #"{"metadata":"the last word"}"#).status == 200)
    for other in [scene.witness, late] {
      let heard = await other.heard(until: "room.updated")
      #expect(heard.last?.contains("the last word") == true, "\(name)")
      #expect(names(scene.ghost, heard) == [], "\(name)")
    }
    // Events are the room's, for who administers it as well.
    for path in ["/v1/rooms/demo/events", "/v1/events"] {
      let events = await scene.house.ask(.get, path)
      #expect(events.status == 200 && names(scene.ghost, [events.text]) == [], "\(name)")
    }
    let list = House.token("lister") { $0.roomList = true }
    for path in ["/v1/rooms", "/v1/rooms/demo", "/v1/events"] {
      let answer = await scene.house.ask(.get, path, token: list)
      #expect(answer.status == 200 && names(scene.ghost, [answer.text]) == [], "\(name)")
    }
    for path in ["/v1/rooms/demo/participants", Self.path, "\(Self.path)/flight", "/v1/rooms/demo/explain"] {
      let answer = await scene.house.ask(.get, path, token: list)
      #expect(answer.status == 403 && !answer.text.contains(scene.ghost.id), "\(name)")
    }
  }

  @Test func `an administrator sees hidden participants`() async throws {
    let scene = try await Scene()
    let one = await scene.house.ask(.get, Self.path)
    #expect(one.status == 200 && one["hidden"] as? Bool == true && one["id"] as? String == scene.ghost.id)
    let all = await scene.house.ask(.get, "/v1/rooms/demo/participants")
    #expect(all.items.map { $0["identity"] as? String } == [Self.mark, "witness"])
    let here = House.token("keeper") { ($0.roomAdmin, $0.room) = (true, "demo") }
    #expect(await scene.house.ask(.get, Self.path, token: here)["hidden"] as? Bool == true)
  }

  @Test func `a message of a hidden participant names no sender`() async throws {
    let scene = try await Scene()
    try await scene.request("data", #""payload":"eA==""#)
    let heard = try await scene.witness.next("data")
    #expect(heard["from"] is NSNull && heard["payload"] as? String == "eA==")
  }

  @Test func `a hidden participant that joins again unhidden is announced as a new one`() async throws {
    let scene = try await Scene()
    let seen = try await scene.house.enter(Self.mark)
    let joined = try await scene.witness.event("participant.joined")["participant"] as? NSDictionary
    #expect(joined?["id"] as? String == seen.id && seen.id != scene.ghost.id)
    _ = try await scene.house.enter(Self.mark) { $0.hidden = true }
    let left = try await scene.witness.event("participant.left")["participant"] as? NSDictionary
    #expect(left?["id"] as? String == seen.id)
  }
}
