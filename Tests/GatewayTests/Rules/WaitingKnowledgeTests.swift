import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import Testing

@testable import Gateway

/// What those hear who wait, what others hear of them, and who is given what was said before: every message, and every
/// answer of REST, is searched for the marks of what it must not have.
@Suite("Who waits knows nothing, and hosts alone know of it", .timeLimit(.minutes(2)))
struct WaitingKnowledgeTests {
  /// In every text of who waits; the room's and those of who is in it have another.
  static let outside = "outs1de"

  /// A room that asks and keeps messages, with a host, somebody else, and somebody who waits.
  struct Scene {
    let house: House
    let host: Guest
    let member: Guest
    let waiter: Guest
    let id: String

    init() async throws {
      house = try House()
      let more =
        #","metadata":"ins1de","dataHistory":{"topics":["ins1de"],"max":9,"seconds":60}"#
      try await house.makeAsking("demo", more)
      host = try await house.enterHost { $0.canUpdateOwnMetadata = true }
      let admitted = AccessToken(
        apiKey: "APIkey", identity: "ins1de member", expires: House.now + 600, issuedAt: House.now,
        grants: .join("demo"), roost: RoostClaim(isAdmitted: true)
      ).signed(secret: House.secret)
      member = house.connect(admitted)
      _ = try await member.next("joined")
      waiter = try await house.wait("outs1de")
      id = try #require(try await house.waiting()["outs1de"])
    }

    /// All that it is sent up to the answer to a ping.
    func heard(by guest: Guest) async -> [String] {
      guest.socket.say(#"{"type":"ping"}"#)
      return await guest.heard(until: "pong")
    }
  }

  typealias Operation = @Sendable (Scene) async throws -> Void
  /// What happens in a room beside who waits.
  static let operations: [(name: String, perform: Operation)] = [
    ("a track is published", { _ = try await $0.host.publish(.video, as: "camera") }),
    (
      "something is said",
      { scene in
        let answer = try await scene.member.verdict("data", #""payload":"aW5zMWRl","topic":"ins1de""#)
        #expect(answer == "ok")
      }
    ),
    (
      "something is said to it by its name",
      { scene in
        let fields = #""payload":"aW5zMWRl","topic":"ins1de","destinations":["outs1de"]"#
        let answer = try await scene.member.verdict("data", fields)
        #expect(answer == "ok")
      }
    ),
    (
      "REST says something to all",
      { scene in
        let body = #"{"payload":"aW5zMWRl","topic":"ins1de"}"#
        let answer = await scene.house.ask(.post, "/v1/rooms/demo/data", body).status
        #expect(answer == 204)
      }
    ),
    (
      "a name changes",
      { scene in
        let answer = try await scene.host.verdict("update", #""name":"ins1de""#)
        #expect(answer == "ok")
      }
    ),
    (
      "a hand goes up",
      { scene in
        let answer = try await scene.member.verdict("hand", #""raised":true"#)
        #expect(answer == "ok")
      }
    ),
    (
      "the room changes",
      { scene in
        let answer = await scene.house.ask(.patch, "/v1/rooms/demo", #"{"metadata":"ins1de 2"}"#).status
        #expect(answer == 200)
      }
    ),
    (
      "somebody leaves",
      { scene in
        let answer = try await scene.member.verdict("leave")
        #expect(answer == "closed")
      }
    ),
    (
      "another waits, and is let in",
      { scene in
        _ = try await scene.house.wait("ins1de too")
        let path = "/v1/rooms/demo/participants/ins1de%20too/admit"
        #expect(await scene.house.ask(.post, path).status == 204)
      }
    ),
  ]

  @Test(arguments: Self.operations.indices)
  func `who waits hears of nothing that happens in the room`(index: Int) async throws {
    let (name, perform) = Self.operations[index]
    let scene = try await Scene()
    try await perform(scene)
    let heard = await scene.heard(by: scene.waiter)
    #expect(heard.count == 1 && heard[0].contains(#""type":"pong""#), "\(name): \(heard)")
  }

  /// Requests by who waits, each of a kind.
  static let requests = [
    ("offer", #""sdp":"v=0","tracks":[]"#), ("candidate", #""candidate":"","mid":"0""#),
    ("subscribe", #""track":"TR_1""#), ("unsubscribe", #""track":"TR_1""#),
    ("view", #""tracks":[{"track":"TR_1","quality":"low"}]"#), ("mute", #""track":"TR_1","muted":true"#),
    ("layers", #""track":"TR_1","layers":[{"width":9,"height":9}]"#),
    ("update", #""name":"outs1de 2""#), ("data", #""payload":"eA==","topic":"ins1de""#),
    ("hand", #""raised":true"#), ("admit", #""waiting":"WT_1""#), ("explain", ""),
    ("session.event", #""sid":"1","event":{"id":"00000000-0000-4000-8000-000000000000","type":"x"}"#),
  ]

  @Test func `nothing of what it asks is done, and it goes on waiting`() async throws {
    let scene = try await Scene()
    for (type, fields) in Self.requests {
      #expect(try await scene.waiter.verdict(type, fields) == "admission-required", "\(type)")
    }
    // One that lets itself in.
    let own = #""waiting":"\#(scene.id)""#
    #expect(try await scene.waiter.verdict("admit", own) == "admission-required")
    #expect(try await scene.waiter.verdict("auth", #""token":"x""#) == "auth-repeated")
    #expect(try await scene.waiter.verdict("resume", #""resumeToken":"x","after":0"#) == "auth-repeated")
    #expect(try await scene.waiter.verdict("none") == "admission-required")
    #expect(try await scene.waiter.verdict("data", #""payload":1"#) == "bad-message")
    #expect(try await scene.house.waiting()["outs1de"] == scene.id)
    #expect(await scene.heard(by: scene.member).filter { $0.contains(Self.outside) } == [])
  }

  @Test func `those who are in and no hosts hear nothing of who waits, and neither do lists`() async throws {
    let scene = try await Scene()
    _ = try await scene.house.wait("outs1de two")
    #expect(await scene.house.ask(.delete, "/v1/rooms/demo/participants/outs1de%20two").status == 204)
    scene.waiter.socket.hangUp()
    await scene.waiter.ended()
    _ = try await scene.house.wait("outs1de three")
    #expect(await scene.heard(by: scene.member).filter { $0.contains(Self.outside) } == [])
    let lister = House.token("lister") { $0.roomList = true }
    let member = House.token("ins1de member") { $0 = .join("demo") }
    for path in ["/v1/rooms", "/v1/rooms/demo"] {
      let answer = await scene.house.ask(.get, path, token: lister)
      #expect(answer.status == 200 && !answer.text.contains(Self.outside))
    }
    for token in [lister, member] {
      let answer = await scene.house.ask(.get, "/v1/rooms/demo/waiting", token: token)
      #expect(answer.status == 403 && !answer.text.contains(Self.outside))
    }
    let participants = await scene.house.ask(.get, "/v1/rooms/demo/participants")
    #expect(participants.items.count == 2 && !participants.text.contains(Self.outside))
    // The host hears all of it, and finds in `joined` who waits.
    let heard = await scene.heard(by: scene.host).filter { $0.contains(Self.outside) }
    for reason in ["removed", "connectionLost"] {
      #expect(heard.contains { $0.contains(#""reason":"\#(reason)""#) }, "\(reason)")
    }
    #expect(heard.filter { $0.contains(#""type":"participant.waiting""#) }.count == 3)
    #expect(try await scene.house.enterHost().joined.contains("outs1de three"))
  }

  @Test func `who comes back to its session, and who resumes, is given no event of who waits`() async throws {
    let scene = try await Scene()
    // It resumes by the token of its session, with which it came.
    let member = try await scene.house.enter("ins1de two") { $0.roomAdmin = true }
    #expect(await scene.house.ask(.patch, "/v1/rooms/demo", #"{"admission":false}"#).status == 200)
    _ = try await scene.waiter.next("joined")
    let other = try await scene.house.enter("ins1de three")
    #expect(await scene.house.ask(.patch, "/v1/rooms/demo", #"{"admission":true}"#).status == 200)
    for (guest, isHost) in [(member, true), (other, false)] {
      guest.socket.hangUp()
      await guest.ended()
      _ = try await scene.house.wait("outs1de \(isHost)")
      let back = await scene.house.resume(guest)
      let heard = await scene.heard(by: back).filter { $0.contains("outs1de \(isHost)") }
      #expect(heard.isEmpty != isHost)
    }
  }

  // MARK: - What was said before

  @Test func `who comes is given what was said to all, but for those who may not hear it`() async throws {
    let scene = try await Scene()
    let member = scene.member
    #expect(try await member.verdict("data", #""payload":"Zmlyc3Q=","topic":"ins1de""#) == "ok")
    #expect(try await member.verdict("data", #""payload":"b3RoZXI=","topic":"other""#) == "ok")
    let one = #""payload":"b25l","topic":"ins1de","destinations":["host"]"#
    #expect(try await member.verdict("data", one) == "ok")
    let body = #"{"payload":"cmVzdA==","topic":"ins1de"}"#
    #expect(await scene.house.ask(.post, "/v1/rooms/demo/data", body).status == 204)

    let late = try await scene.house.enter("late") { $0.roomAdmin = true }
    let history = try await late.next("history")["messages"] as? [NSDictionary] ?? []
    #expect(history.map { $0["payload"] as? String } == ["Zmlyc3Q=", "cmVzdA=="])
    #expect(history.first?["identity"] as? String == "ins1de member")
    #expect(history.last?["from"] is NSNull && history.last?["identity"] == nil)
    let deaf = try await scene.house.enter("deaf") {
      $0.roomAdmin = true
      $0.canSubscribe = false
    }
    #expect(await scene.heard(by: deaf).filter { $0.contains("history") } == [])

    // What a removed identity has said goes with it.
    #expect(await scene.house.ask(.delete, "/v1/rooms/demo/participants/ins1de%20member").status == 204)
    let later = try await scene.house.enter("later") { $0.roomAdmin = true }
    let rest = try await later.next("history")["messages"] as? [NSDictionary] ?? []
    #expect(rest.map { $0["payload"] as? String } == ["cmVzdA=="])
    #expect(await scene.house.ask(.patch, "/v1/rooms/demo", #"{"dataHistory":null}"#).status == 200)
    let last = try await scene.house.enter("last") { $0.roomAdmin = true }
    #expect(await scene.heard(by: last).filter { $0.contains("history") } == [])
  }

  @Test func `a message of somebody hidden is kept without a name`() async throws {
    let scene = try await Scene()
    let ghost = try await scene.house.enter("gh0st") {
      $0.roomAdmin = true
      $0.hidden = true
    }
    #expect(try await ghost.verdict("data", #""payload":"eA==","topic":"ins1de""#) == "ok")
    let late = try await scene.house.enter("late") { $0.roomAdmin = true }
    let text = try #require(await late.heard(until: "history").last)
    #expect(text.contains(#""payload":"eA==""#) && !text.contains("gh0st") && !text.contains(ghost.id))
  }
}
