import AccessTokens
import Foundation
import Model
import Signalling
import Synchronization
import Testing

@testable import Gateway
@testable import Rooms

@Suite("Native signalling", .timeLimit(.minutes(2)))
struct SignallingSessionTests {
  /// A client in a room that does as the test says.
  final class Client: NativeClient {
    let room: TestRoom
    let tokens: ResumeTokens

    init(
      _ room: TestRoom = TestRoom(), authorized: AccessToken? = nil, tokens: ResumeTokens = ResumeTokens(),
      intakes: Intakes = Intakes(), path: String = "demo", now: @escaping @Sendable () -> Int = { 0 },
      pause: (@Sendable (Duration) async throws -> Void)? = nil
    ) {
      self.room = room
      self.tokens = tokens
      var terms = SignallingTerms(room: path) { text throws(AccessTokenRefusal) in
        switch text {
        case "good":
          AccessToken(
            apiKey: "k", identity: "ada", expires: 9_000, issuedAt: 0, name: "Ada", grants: .join("demo"))
        case "other": throw .notForThis(missing: "room")
        default: throw .wrongSignature
        }
      }
      terms.now = now
      if let pause {
        terms.pause = pause
      } else {
        terms.authTime = .seconds(60)
      }
      terms.renew = { token, grants in
        let fresh = token.renewed(at: now(), grants: grants)
        return ("fresh \(fresh.expires)", fresh)
      }
      super.init(terms, room, tokens: tokens, intakes: intakes, authorized: authorized)
    }

    func ask(_ text: String) async throws -> NSDictionary { try await say(text) }

    func join() async throws -> TestParticipant {
      #expect(try await ask(#"{"type":"auth","token":"good"}"#)["type"] as? String == "joined")
      return try #require(room.first)
    }
  }

  @Test func `a token joins and tells the state of the room`() async throws {
    let client = Client()
    let joined = try await client.ask(#"{"type":"auth","token":"good","id":1}"#)
    let permissions: NSDictionary = [
      "canPublish": false, "canSubscribe": false, "canPublishData": false, "canUpdateOwnMetadata": false,
    ]
    let expected: NSDictionary = [
      "type": "joined", "id": 1, "lastEvent": 7, "resumeToken": joined["resumeToken"] ?? "",
      "pingInterval": 20, "iceServers": [Any](),
      "room": ["id": "RM_1", "name": "demo", "recorded": false, "admission": false, "locked": false],
      "participant": [
        "id": "PA_1", "identity": "ada", "name": "Ada", "attributes": [String: String](), "tracks": [Any](),
        "permissions": permissions,
      ],
      "participants": [
        [
          "id": "PA_0", "identity": "eve", "attributes": [String: String](), "permissions": permissions,
          "tracks": [
            [
              "id": "TR_0", "kind": "audio", "source": "microphone", "muted": false, "mutedByAdmin": false,
              "encrypted": false,
            ]
          ],
        ]
      ],
    ]
    #expect(joined == expected)
    #expect(client.room.requests.withLock { $0.first?.remote.host } == "192.0.2.1")
  }

  @Test func `the end of the server is announced with its time`() async throws {
    let client = Client()
    let participant = try await client.join()
    participant.say.yield(.draining(deadline: WallTime(milliseconds: 1_795_237_200_000)))
    let expected: NSDictionary = ["type": "draining", "deadline": "2026-11-21T05:00:00.000Z"]
    #expect(try await client.next() == expected)
    #expect(try await client.ask(#"{"type":"ping"}"#)["type"] as? String == "pong")
  }

  @Test func `a token of the request joins without auth`() async throws {
    let token = AccessToken(apiKey: "k", identity: "ada", expires: 9, grants: .join("demo"))
    let client = Client(authorized: token)
    #expect(try await client.next()["type"] as? String == "joined")
    #expect(try await client.ask(#"{"type":"auth","token":"good"}"#)["code"] as? String == "auth-repeated")
    #expect(client.socket.closeCode == nil)
  }

  @Test(arguments: [
    (#"{"type":"auth","token":"bad"}"#, "token-signature", 4002),
    (#"{"type":"auth","token":"other"}"#, "token-not-for-this", 4003),
    (#"{"type":"ping"}"#, "auth-required", 4002), (#"{"type":"offer","sdp":"x"}"#, "auth-required", 4002),
    ("nonsense", "bad-message", 4004), ("[]", "bad-message", 4004),
  ])
  func `without a good token the door stays shut`(text: String, code: String, close: UInt16) async throws {
    let client = Client()
    #expect(try await client.ask(text)["code"] as? String == code)
    await client.session.value
    #expect(client.socket.closeCode == close)
    #expect(client.room.requests.withLock { $0.isEmpty })
  }

  @Test func `a socket that does not authenticate is closed after five seconds`() async throws {
    // No time goes by but the one that is waited for.
    let client = Client(pause: { #expect($0 == .seconds(5)) })
    #expect(try await client.next()["code"] as? String == "auth-required")
    await client.session.value
    #expect(client.socket.closeCode == 4001)
  }

  @Test func `a room's refusal has its code and closes`() async throws {
    let client = Client(TestRoom(refusing: .full(limit: 3)))
    let refusal = try await client.ask(#"{"type":"auth","token":"good","id":"a"}"#)
    #expect(
      refusal == [
        "type": "error", "code": "room-full", "message": "All 3 places are taken", "retry": "after",
        "id": "a",
      ])
    await client.session.value
    #expect(client.socket.closeCode == 4005)
  }

  @Test func `an offer is answered with tracks, slots and what is declined, and slots come after it`()
    async throws
  {
    let client = Client()
    let participant = try await client.join()
    let answer = try await client.ask(
      #"{"type":"offer","id":"o","sdp":"v=0","tracks":[{"mid":"0","source":"camera","name":"c","new":1},"#
        + #"{"mid":"3"}],"future":[]}"#)
    let expected: NSDictionary = [
      "type": "answer", "id": "o", "sdp": "answer to v=0",
      "tracks": [["mid": "0", "track": "TR_0"], ["mid": "3", "track": "TR_3"]],
      "slots": [["mid": "1", "track": NSNull()]], "declined": [["mid": "9", "code": "codec"]],
    ]
    #expect(answer == expected)
    #expect(
      participant.offers.withLock { $0 } == ["v=0, 0 camera c false, 3 - - false"])
    let slots: NSDictionary = [
      "type": "slots", "assignments": [["mid": "1", "track": "TR_0"], ["mid": "2", "track": NSNull()]],
    ]
    #expect(try await client.next() == slots)
  }

  @Test
  func
    `one offer is in flight, pings and candidates pass it, its answer keeps its place among what the room says`()
    async throws
  {
    let client = Client()
    let participant = try await client.join()
    client.socket.say(#"{"type":"offer","id":1,"sdp":"wait"}"#)
    client.socket.say(#"{"type":"candidate","candidate":"c","mid":"0"}"#)
    let second = try await client.ask(#"{"type":"offer","id":2,"sdp":"v=0"}"#)
    #expect(second["code"] as? String == "offer-pending" && second["retry"] as? String == "now")
    #expect(try await client.ask(#"{"type":"ping","id":3}"#) == ["type": "pong", "id": 3])
    participant.say.yield(.on(.first, .slots([])))
    participant.gate.continuation.yield()
    #expect(try await client.next()["type"] as? String == "slots")
    #expect(try await client.next()["sdp"] as? String == "answer to wait")
    #expect(try await client.next()["type"] as? String == "slots")
    #expect(
      try await client.ask(#"{"type":"offer","id":4,"sdp":"v=1"}"#)["sdp"] as? String == "answer to v=1")
  }

  @Test func `a refused offer leaves the way free for the next`() async throws {
    let client = Client()
    _ = try await client.join()
    #expect(
      try await client.ask(#"{"type":"offer","id":1,"sdp":"bad"}"#)["code"] as? String == "offer-refused")
    #expect(try await client.ask(#"{"type":"offer","id":2,"sdp":"v=0"}"#)["type"] as? String == "answer")
  }

  @Test func `an id that comes again gets its first answer and is done once`() async throws {
    let client = Client()
    let participant = try await client.join()
    let first = try await client.ask(#"{"type":"offer","id":5,"sdp":"v=0"}"#)
    #expect(try await client.next()["type"] as? String == "slots")
    #expect(try await client.ask(#"{"type":"offer","id":5,"sdp":"another"}"#) == first)
    // Its slots may have changed since.
    #expect(try await client.next()["type"] as? String == "slots")
    #expect(participant.offers.withLock { $0.count } == 1)

    client.socket.say(#"{"type":"offer","id":6,"sdp":"wait"}"#)
    client.socket.say(#"{"type":"offer","id":6,"sdp":"wait"}"#)
    #expect(try await client.ask(#"{"type":"ping","id":7}"#) == ["type": "pong", "id": 7])
    participant.gate.continuation.yield()
    #expect(try await client.next()["id"] as? Int == 6)
    #expect(participant.offers.withLock { $0.count } == 2)
  }

  @Test func `ids are compared by their bytes, not by their looks`() async throws {
    let client = Client()
    _ = try await client.join()
    let composed = try await client.ask("{\"type\":\"ping\",\"id\":\"\u{E9}\"}")
    let decomposed = try await client.ask(
      "{\"type\":\"candidate\",\"candidate\":\"\",\"id\":\"e\u{301}\"}")
    #expect(composed["type"] as? String == "pong" && decomposed["type"] as? String == "ok")
    #expect((decomposed["id"] as? String)?.unicodeScalars.count == 2)
  }

  @Test func `every request with an id is answered, also what isn't known`() async throws {
    let client = Client()
    _ = try await client.join()
    client.socket.say(#"{"type":"teleport"}"#)
    let unknown = try await client.ask(#"{"type":"teleport","id":1}"#)
    #expect(unknown["code"] as? String == "unsupported" && unknown["id"] as? Int == 1)
    let candidate = try await client.ask(#"{"type":"candidate","candidate":"","id":"c"}"#)
    #expect(candidate == ["type": "ok", "id": "c"])
    let offer = try await client.ask(#"{"type":"offer","id":2}"#)
    #expect(offer["code"] as? String == "bad-message" && offer["id"] as? Int == 2)
    #expect((offer["message"] as? String)?.hasPrefix("sdp ") == true)
    #expect(try await client.ask(#"{"type":"ping"}"#) == ["type": "pong"])
  }

  @Test func `before auth one message is read, and nothing else than auth and resume`() async throws {
    for text in [
      #"{"type":"zz"}"#, #"{"type":"ping"}"#, #"{"type":"auth"}"#, #"{"type":"auth","token":7}"#, "{}",
      #"{"type":"subscribe","track":"TR_1","quality":"low"}"#,
    ] {
      let client = Client()
      client.socket.say(text)
      client.socket.say(#"{"type":"auth","token":"good"}"#)
      #expect(try await client.next()["type"] as? String == "error", "\(text)")
      await client.session.value
      #expect(client.socket.closeCode == (text.contains("auth") || text == "{}" ? 4004 : 4002), "\(text)")
      #expect(client.room.first == nil, "\(text)")
    }
  }

  @Test func `requests are done in order, and answered where they had an id`() async throws {
    let client = Client()
    let participant = try await client.join()
    client.socket.say(#"{"type":"subscribe","track":"TR_1","mid":"3"}"#)
    client.socket.say(#"{"type":"unsubscribe","track":"TR_1"}"#)
    client.socket.say(#"{"type":"mute","track":"TR_2","muted":true}"#)
    client.socket.say(#"{"type":"update","name":"<img onerror=alert(1)>","attributes":{"a":"b"}}"#)
    client.socket.say(
      #"{"type":"data","payload":"aGk=","topic":"t","reliable":false,"destinations":["eve"]}"#)
    #expect(try await client.ask(#"{"type":"data","payload":"","id":1}"#) == ["type": "ok", "id": 1])
    #expect(
      participant.asked.withLock { $0 } == [
        "subscribe TR_1 3", "unsubscribe TR_1", "mute TR_2 true",
        #"update <img onerror=alert(1)> - ["a": "b"]"#, #"data hi t false ["eve"]"#, "data  - true []",
      ])
    // Twice with one id is once.
    #expect(try await client.ask(#"{"type":"data","payload":"","id":1}"#) == ["type": "ok", "id": 1])
    #expect(participant.asked.withLock { $0.count } == 6)
    let refusal = try await client.ask(#"{"type":"subscribe","track":"TR_unknown"}"#)
    #expect(refusal["code"] as? String == "unknown-track" && refusal["retry"] as? String == "never")
    let later = try await client.ask(#"{"type":"subscribe","track":"TR_1","quality":"lowest","id":"q"}"#)
    #expect(later["code"] as? String == "bad-message" && later["id"] as? String == "q")
    #expect(participant.asked.withLock { $0.count } == 7)
    client.socket.say(#"{"type":"subscribe","track":"TR_1","quality":"low","priority":9}"#)
    let view =
      #"{"type":"view","id":2,"tracks":[{"track":"TR_1","maxWidth":640,"maxFrameRate":15},{"track":"TR_2","quality":"off"}]}"#
    #expect(try await client.ask(view) == ["type": "ok", "id": 2])
    #expect(
      participant.asked.withLock { $0.suffix(2) } == [
        "subscribe TR_1 - low 0x0 0 9", "view TR_1 high 640x0 15 128, TR_2 off 0x0 0 128",
      ])
    let layers =
      #"{"type":"layers","id":3,"track":"TR_3","layers":[{"rid":"f","width":640,"height":360},{"width":1,"height":16384}]}"#
    #expect(try await client.ask(layers) == ["type": "ok", "id": 3])
    #expect(participant.asked.withLock { $0.last } == "layers TR_3 f 640x360, - 1x16384")
  }

  @Test func `before joining no request is done`() async throws {
    for text in [
      #"{"type":"subscribe","track":"t"}"#, #"{"type":"mute","track":"t","muted":true}"#,
      #"{"type":"data","payload":""}"#, #"{"type":"update"}"#,
    ] {
      let client = Client()
      #expect(try await client.ask(text)["code"] as? String == "auth-required")
      await client.session.value
      #expect(client.room.requests.withLock { $0.isEmpty })
    }
  }

  @Test func `what a room says reaches the client as it is`() async throws {
    let client = Client()
    let participant = try await client.join()
    participant.say.yield(.speakers([Speaker(participant: ParticipantID(known: "PA_0"), level: 0.5)]))
    participant.say.yield(
      .quality([ParticipantQuality(participant: ParticipantID(known: "PA_0"), quality: .poor)]))
    participant.say.yield(.on(.first, .streams([(TrackID(known: "TR_0"), .paused(.codec))])))
    participant.say.yield(.data(.plain("hi", from: nil)))
    let speakers: NSDictionary = ["type": "speakers", "speakers": [["participant": "PA_0", "level": 0.5]]]
    #expect(try await client.next() == speakers)
    let quality: NSDictionary = [
      "type": "quality", "participants": [["participant": "PA_0", "quality": "poor"]],
    ]
    #expect(try await client.next() == quality)
    #expect(
      try await client.next() == ["type": "stream", "track": "TR_0", "state": "paused", "reason": "codec"])
    #expect(
      try await client.next() == ["type": "data", "from": NSNull(), "payload": "aGk=", "reliable": true])
  }

  @Test func `what came before the end of a socket is not obeyed after it`() async throws {
    // Full for who comes with a token in its request, which has sent `auth` with another one.
    let room = TestRoom(refusing: JoinError.full(limit: 1))
    let socket = TestSocket()
    socket.say(#"{"type":"auth","token":"good"}"#)
    var terms = SignallingTerms(room: "demo") { _ throws(AccessTokenRefusal) in
      AccessToken(apiKey: "k", identity: "bob", expires: 9_000, grants: .join("demo"))
    }
    terms.authTime = .seconds(60)
    let token = AccessToken(apiKey: "k", identity: "ada", expires: 9_000, grants: .join("demo"))
    await SignallingConnection(socket: socket, terms: terms, rooms: room, tokens: ResumeTokens())
      .run(authorized: token)
    #expect(room.requests.withLock { $0.map(\.identity) } == ["ada"])
    #expect(socket.closeCode == SignallingCloseCode.joinRefused.rawValue)
  }

  @Test func `a client that leaves while an offer is being answered gets no further message`() async throws {
    let client = Client()
    let participant = try await client.join()
    client.socket.say(#"{"type":"offer","id":1,"sdp":"wait"}"#)
    #expect(try await client.ask(#"{"type":"ping"}"#) == ["type": "pong"])
    #expect(
      try await client.ask(#"{"type":"leave","id":2}"#) == ["type": "closed", "reason": "left", "id": 2])
    participant.gate.continuation.yield()
    await client.session.value
    #expect(client.socket.closeCode == 4000)
    #expect(participant.left.withLock { $0 } == [.left])
  }

  @Test func `leaving reaches the room and closes the socket`() async throws {
    let client = Client()
    let participant = try await client.join()
    #expect(try await client.ask(#"{"type":"leave"}"#) == ["type": "closed", "reason": "left"])
    await client.session.value
    #expect(client.socket.closeCode == 4000)
    #expect(participant.left.withLock { $0 } == [.left])
  }

  @Test func `a socket that goes doesn't end the session`() async throws {
    let client = Client()
    let participant = try await client.join()
    client.socket.hangUp()
    await client.session.value
    #expect(participant.left.withLock { $0 } == [])
    #expect(participant.lost.withLock { $0 } == 1)
    #expect(client.tokens.count == 1)
  }

  @Test func `a publisher hears which of its encodings are watched, and in which codecs all can see it`()
    async throws
  {
    let client = Client()
    let participant = try await client.join()
    let track = TrackID(known: "TR_1")
    participant.say.yield(
      .on(.first, .publish(track, PublishAdvice(layers: [("f", false), ("q", true)], codecs: [(98, "VP9")]))))
    let layers: [NSDictionary] = [["rid": "f", "active": false], ["rid": "q", "active": true]]
    let codecs: [NSDictionary] = [["payloadType": 98, "codec": "VP9"]]
    #expect(
      try await client.next() == ["type": "publish", "track": "TR_1", "layers": layers, "codecs": codecs])
    participant.say.yield(.on(.first, .streams([(track, .paused(.bandwidth)), (track, .paused(.off))])))
    for reason in ["bandwidth", "off"] {
      #expect(
        try await client.next() == ["type": "stream", "track": "TR_1", "state": "paused", "reason": reason])
    }
    participant.say.yield(.closed(.left))
    await client.session.value
  }

  @Test(arguments: LeaveReason.allCases)
  func `a session that the room ends is closed with the reason and its code`(reason: LeaveReason) async throws
  {
    let client = Client()
    let participant = try await client.join()
    participant.say.yield(.event(.plain(8, .participantLeft)))
    participant.say.yield(.on(.first, .offerWanted(audio: 2, video: 1)))
    participant.say.yield(.closed(reason))
    let event = try await client.next()
    #expect((event["event"] as? NSDictionary)?["id"] as? Int == 8)
    #expect(try await client.next() == ["type": "offerWanted", "audio": 2, "video": 1, "reason": "slots"])
    #expect(try await client.next() == ["type": "closed", "reason": reason.rawValue])
    await client.session.value
    #expect(client.socket.closeCode == SignallingCloseCode(reason).rawValue)
    #expect(participant.left.withLock { $0.isEmpty })
  }
}
