import AccessTokens
import Foundation
import Model
import Signalling
import Synchronization
import Testing

@testable import Gateway
@testable import Rooms

@Suite("Native signalling over one socket after the other", .timeLimit(.minutes(2)))
struct SignallingResumeTests {
  typealias Client = SignallingSessionTests.Client

  /// A client that has joined.
  struct Joined {
    let tokens = ResumeTokens()
    let room = TestRoom()
    let clock = Seconds()
    let client: Client
    let participant: TestParticipant
    /// As `joined` said it.
    let token: String

    init() async throws {
      client = Client(room, tokens: tokens, now: { [clock] in clock.now })
      let joined = try await client.ask(#"{"type":"auth","token":"good","id":1}"#)
      token = try #require(joined["resumeToken"] as? String)
      participant = try #require(room.first)
    }

    /// Another socket that has not said anything.
    func other(path: String = "demo") -> Client { Client(room, tokens: tokens, path: path) }

    /// Breaks the first socket, and waits until that is known.
    func breakSocket() async {
      client.socket.hangUp()
      await client.session.value
    }
  }

  /// Seconds since 1970, as the test has them.
  final class Seconds: Sendable {
    private let value = Mutex(0)
    var now: Int { value.withLock { $0 } }
    func set(_ now: Int) { value.withLock { $0 = now } }
  }

  static func resume(_ token: String, after: Int = 7) -> String {
    #"{"type":"resume","resumeToken":"\#(token)","after":\#(after),"id":"r"}"#
  }

  @Test func `a token is random, and is kept by a code of it only`() async throws {
    let joined = try await Joined()
    #expect(joined.token.utf8.count == 32)
    let tokens = ResumeTokens()
    let session = SignallingSession(
      TestParticipant(
        JoinRequest(
          room: "r", identity: "i", name: nil, metadata: nil, attributes: [:], grants: .join("r"),
          tokenIssued: nil, remote: joined.client.socket.remote)),
      token: AccessToken(apiKey: "k", identity: "i", expires: 9),
      terms: SignallingTerms(room: "r") { (_) throws(AccessTokenRefusal) in throw .absent }, tokens: tokens,
      intakes: Intakes())
    let issued = (0..<100).map { _ in
      let drawn = tokens.draw()
      tokens.allow(drawn.code, for: session)
      return drawn
    }
    #expect(Set(issued.map(\.token)).count == 100 && tokens.count == 100)
    #expect(issued.allSatisfy { $0.token.utf8.allSatisfy { $0 != 43 && $0 != 47 && $0 != 61 } })
    #expect(tokens.redeem(issued[5].token)?.session === session)
    #expect(tokens.redeem(issued[5].token) == nil && tokens.redeem("") == nil)
    for each in issued { tokens.revoke(each.code) }
    #expect(tokens.count == 0)
  }

  @Test func `a client that resumes gets what it missed, in order, and a new token`() async throws {
    let joined = try await Joined()
    await joined.breakSocket()
    joined.participant.state.withLock {
      $0 = .blank(
        lastEvent: 9, missed: [.plain(8), .plain(9)],
        slots: [SlotAssignment(mid: "1", track: TrackID(known: "TR_0"))],
        tracks: [("4", TrackID(known: "TR_4"))],
        notices: [.speakers([]), .on(.first, .streams([(TrackID(known: "TR_0"), .active)]))])
    }
    let back = joined.other()
    let resumed = try await back.ask(Self.resume(joined.token))
    let token = try #require(resumed["resumeToken"] as? String)
    let expected: NSDictionary = [
      "type": "resumed", "id": "r", "lastEvent": 9, "slots": [["mid": "1", "track": "TR_0"]],
      "tracks": [["mid": "4", "track": "TR_4"]], "resumeToken": token,
    ]
    #expect(resumed == expected && token != joined.token)
    for id in [8, 9] { #expect((try await back.next()["event"] as? NSDictionary)?["id"] as? Int == id) }
    #expect(try await back.next()["type"] as? String == "speakers")
    #expect(try await back.next()["type"] as? String == "stream")
    #expect(joined.participant.resumed.withLock { $0 } == ["after 7"])
    #expect(joined.participant.lost.withLock { $0 } == 1 && joined.participant.left.withLock { $0 } == [])
    #expect(try await back.ask(#"{"type":"ping"}"#) == ["type": "pong"])
    joined.participant.say.yield(.speakers([]))
    #expect(try await back.next()["type"] as? String == "speakers")
    #expect(joined.tokens.count == 1)
  }

  @Test func `what a session begins or goes on with doesn't count among what waits for a slow client`()
    async throws
  {
    let joined = try await Joined()
    #expect(joined.client.socket.opening.withLock { $0 } == 1)
    await joined.breakSocket()
    joined.participant.say.yield(.data(.plain("x", from: nil)))
    joined.participant.state.withLock {
      $0 = .blank(
        lastEvent: 8, missed: [.plain(8)],
        notices: [.speakers([]), .on(.first, .streams([(TrackID(known: "TR_0"), .active)]))])
    }
    let back = joined.other()
    #expect(try await back.ask(Self.resume(joined.token))["type"] as? String == "resumed")
    for type in ["event", "speakers", "stream", "data"] {
      #expect(try await back.next()["type"] as? String == type)
    }
    #expect(back.socket.opening.withLock { $0 } == 5)
    #expect(try await back.ask(#"{"type":"ping"}"#) == ["type": "pong"])
    #expect(back.socket.opening.withLock { $0 } == 5)
  }

  @Test func `a new socket closes the old one`() async throws {
    let joined = try await Joined()
    let back = joined.other()
    #expect(try await back.ask(Self.resume(joined.token))["type"] as? String == "resumed")
    await joined.client.session.value
    #expect(joined.client.socket.closeCode == 4006)
    // Else a client that reads nothing would have each of its sockets keep what waits on it.
    #expect(joined.client.socket.dropped.withLock { $0 } == 1)
    // What the old one still says is nothing, and its end is none.
    #expect(joined.participant.lost.withLock { $0 } == 0)
    #expect(await joined.client.text() == nil)
    #expect(try await back.ask(#"{"type":"ping","id":9}"#)["id"] as? Int == 9)
  }

  @Test func `a token is good once`() async throws {
    let joined = try await Joined()
    var back = joined.other()
    let second = try #require(try await back.ask(Self.resume(joined.token))["resumeToken"] as? String)
    var thief = joined.other()
    let refusal = try await thief.ask(Self.resume(joined.token))
    #expect(refusal["code"] as? String == "session-gone" && refusal["retry"] as? String == "now")
    await thief.session.value
    #expect(thief.socket.closeCode == 4007)
    // Also after its successor's socket has gone, once that was heard of or closed in good order.
    _ = try await back.ask(#"{"type":"ping"}"#)
    back.socket.hangUp()
    await back.session.value
    thief = joined.other()
    #expect(try await thief.ask(Self.resume(joined.token))["code"] as? String == "session-gone")
    back = joined.other()
    _ = try await back.ask(Self.resume(second))
    back.socket.hangUp(inGoodOrder: true)
    await back.session.value
    thief = joined.other()
    #expect(try await thief.ask(Self.resume(second))["code"] as? String == "session-gone")
    #expect(joined.tokens.count == 1)
  }

  @Test func `where the answer to a token was lost, the token is good again, and nothing else is lost`()
    async throws
  {
    let joined = try await Joined()
    await joined.breakSocket()
    joined.participant.say.yield(.data(.plain("a")))
    joined.participant.say.yield(.data(.plain("b", reliable: false)))
    let lost = joined.other()
    _ = try await lost.ask(Self.resume(joined.token))
    #expect(try await lost.next()["payload"] as? String == "YQ==")
    joined.participant.say.yield(.data(.plain("c")))
    #expect(try await lost.next()["payload"] as? String == "Yw==")
    lost.socket.hangUp()
    await lost.session.value

    var back = joined.other()
    #expect(try await back.ask(Self.resume(joined.token))["type"] as? String == "resumed")
    #expect(try await back.next()["payload"] as? String == "YQ==")
    #expect(try await back.next()["payload"] as? String == "Yw==")
    #expect(joined.tokens.count == 2)
    // Having spoken, it has got them.
    _ = try await back.ask(#"{"type":"ping"}"#)
    #expect(joined.tokens.count == 1)
    back.socket.hangUp()
    await back.session.value
    back = joined.other()
    #expect(try await back.ask(Self.resume(joined.token))["code"] as? String == "session-gone")
  }

  @Test func `resuming with the newest token confirms the messages that came with it`() async throws {
    let joined = try await Joined()
    await joined.breakSocket()
    joined.participant.say.yield(.data(.plain("a")))
    let first = joined.other()
    let token = try #require(try await first.ask(Self.resume(joined.token))["resumeToken"] as? String)
    #expect(try await first.next()["payload"] as? String == "YQ==")
    first.socket.hangUp()
    await first.session.value
    joined.participant.say.yield(.data(.plain("b")))
    let second = joined.other()
    #expect(try await second.ask(Self.resume(token))["type"] as? String == "resumed")
    #expect(try await second.next()["payload"] as? String == "Yg==")
    #expect(try await second.ask(#"{"type":"ping"}"#) == ["type": "pong"])
  }

  @Test func `messages for an absent participant are bounded, and the oldest are dropped first`() {
    var bag = MessageBag()
    for number in 0..<300 { bag.put(.plain("\(number)")) }
    #expect(bag.messages.count == 256 && bag.messages.first?.payload == Array("44".utf8))
    let large = String(repeating: "A", count: 16_386)
    for _ in 0..<200 { bag.put(.plain(large)) }
    #expect(bag.messages.count == 47)
  }

  @Test func `an offer that was answered while the socket was away has its answer in resumed`() async throws {
    let joined = try await Joined()
    joined.client.socket.say(#"{"type":"offer","id":5,"sdp":"wait"}"#)
    for _ in 0..<10_000 where joined.participant.offers.withLock({ $0.isEmpty }) { await Task.yield() }
    await joined.breakSocket()
    joined.participant.gate.continuation.yield()
    for _ in 0..<10_000 where joined.participant.answered.withLock({ $0 == 0 }) { await Task.yield() }
    let back = joined.other()
    let answer = try #require(try await back.ask(Self.resume(joined.token))["answer"] as? NSDictionary)
    #expect(answer["id"] as? Int == 5 && answer["sdp"] as? String == "answer to wait")
    // A client that asks again gets the same, and nothing is done twice.
    back.socket.say(#"{"type":"offer","id":5,"sdp":"wait"}"#)
    let again = try await back.next()
    #expect(again["id"] as? Int == 5 && again["sdp"] as? String == "answer to wait")
    // Its slots may be of another day: those of now follow.
    let now: NSDictionary = ["type": "slots", "assignments": [["mid": "1", "track": "TR_0"]]]
    #expect(try await back.next() == now)
    #expect(joined.participant.offers.withLock { $0.count } == 1)
  }

  @Test func `a request that was being done is done once, and its answer comes to the new socket`()
    async throws
  {
    let joined = try await Joined()
    joined.client.socket.say(#"{"type":"offer","id":5,"sdp":"wait"}"#)
    for _ in 0..<10_000 where joined.participant.offers.withLock({ $0.isEmpty }) { await Task.yield() }
    let back = joined.other()
    #expect(try await back.ask(Self.resume(joined.token))["answer"] == nil)
    back.socket.say(#"{"type":"offer","id":5,"sdp":"wait"}"#)
    _ = try await back.ask(#"{"type":"ping"}"#)
    joined.participant.gate.continuation.yield()
    #expect(try await back.next()["id"] as? Int == 5)
    #expect(joined.participant.offers.withLock { $0.count } == 1)
  }

  @Test func `an unknown token, another room's, or one of a session that is over finds nothing`() async throws
  {
    let joined = try await Joined()
    for text in [Self.resume("nonsense"), Self.resume(String(repeating: "x", count: 128))] {
      let client = joined.other()
      #expect(try await client.ask(text)["code"] as? String == "session-gone")
    }
    for text in [
      #"{"type":"resume","resumeToken":"t"}"#, #"{"type":"resume","after":1}"#,
      #"{"type":"resume","resumeToken":"t","after":-1}"#, #"{"type":"resume","resumeToken":7,"after":1}"#,
      Self.resume(String(repeating: "x", count: 129)),
    ] {
      let client = joined.other()
      #expect(try await client.ask(text)["code"] as? String == "bad-message")
    }
    let elsewhere = joined.other(path: "elsewhere")
    #expect(try await elsewhere.ask(Self.resume(joined.token))["code"] as? String == "session-gone")
    // That cost the session nothing.
    let back = joined.other()
    let token = try #require(try await back.ask(Self.resume(joined.token))["resumeToken"] as? String)
    joined.participant.say.yield(.closed(.removed))
    #expect(try await back.next() == ["type": "closed", "reason": "removed"])
    await back.session.value
    #expect(joined.tokens.count == 0)
    let late = joined.other()
    #expect(try await late.ask(Self.resume(token))["code"] as? String == "session-gone")
  }

  @Test func `a session whose room no longer has the missed events is ended`() async throws {
    let joined = try await Joined()
    await joined.breakSocket()
    joined.participant.state.withLock { $0 = nil }
    let back = joined.other()
    #expect(try await back.ask(Self.resume(joined.token))["code"] as? String == "session-gone")
    #expect(joined.participant.left.withLock { $0 } == [.connectionLost])
  }

  @Test func `a client that resumes too often is refused, and resumes later with the same token`()
    async throws
  {
    let joined = try await Joined()
    joined.participant.state.withLock { $0 = nil }
    joined.participant.refusal.withLock { $0 = .tooOften }
    for round in 1...3 {
      let back = joined.other()
      let refusal = try await back.ask(Self.resume(joined.token))
      #expect(refusal["code"] as? String == "rate-limited" && refusal["retry"] as? String == "after")
      await back.session.value
      #expect(back.socket.closeCode == 4005)
      // The room knows that there is no socket, though it never heard of this one.
      #expect(joined.participant.lost.withLock { $0 } == round && joined.tokens.count == 1)
    }
    #expect(await joined.client.text() == nil)
    #expect(joined.participant.left.withLock { $0 } == [])
    joined.participant.state.withLock { $0 = .blank(lastEvent: 7) }
    let back = joined.other()
    #expect(try await back.ask(Self.resume(joined.token))["type"] as? String == "resumed")
    #expect(try await back.ask(#"{"type":"ping"}"#) == ["type": "pong"])
    #expect(joined.tokens.count == 1)
  }

  @Test func `a session replaced by its own identity is closed ahead of all queued messages`() async throws {
    let joined = try await Joined()
    joined.participant.say.yield(.speakers([]))
    #expect(try await joined.client.next()["type"] as? String == "speakers")
    joined.participant.say.yield(.closed(.duplicateIdentity))
    #expect(try await joined.client.next() == ["type": "closed", "reason": "duplicateIdentity"])
    await joined.client.session.value
    #expect(joined.client.socket.closeCode == 4012 && joined.client.socket.dropped.withLock { $0 } == 2)
  }

  @Test func `a client whose access token has expired does not resume`() async throws {
    let joined = try await Joined()
    await joined.breakSocket()
    joined.clock.set(9_060)
    let back = joined.other()
    #expect(try await back.ask(Self.resume(joined.token))["code"] as? String == "token-expired")
    await back.session.value
    #expect(back.socket.closeCode == 4002)
  }

  @Test func `before an access token expires a fresh one is sent, once`() async throws {
    // A session asks for the time after its answer: a second answer shows that the first one's time has passed by.
    let early = try await Joined()
    early.clock.set(8_699)
    #expect(try await early.client.ask(#"{"type":"ping"}"#) == ["type": "pong"])
    #expect(try await early.client.ask(#"{"type":"ping"}"#) == ["type": "pong"])
    let joined = try await Joined()
    joined.clock.set(8_700)
    #expect(try await joined.client.ask(#"{"type":"ping"}"#) == ["type": "pong"])
    #expect(try await joined.client.next() == ["type": "token", "token": "fresh 9300"])
    #expect(try await joined.client.ask(#"{"type":"ping","id":2}"#) == ["type": "pong", "id": 2])
    #expect(try await joined.client.ask(#"{"type":"ping","id":3}"#) == ["type": "pong", "id": 3])
    // Who was away at that time gets it on coming back, and the session holds as long as the fresh one.
    await joined.breakSocket()
    joined.clock.set(9_100)
    let back = joined.other()
    #expect(try await back.ask(Self.resume(joined.token))["type"] as? String == "resumed")
    #expect(try await back.next() == ["type": "token", "token": "fresh 9700"])
  }

  @Test func `no renewed token follows closed, even if one was being made`() async throws {
    let joined = try await Joined()
    let gate = AsyncStream<Void>.makeStream()
    joined.participant.permissionsGate.withLock { $0 = gate.stream }
    // Half of the token's lifetime has passed, so a message of the client's begins a renewal.
    joined.clock.set(8_700)
    #expect(try await joined.client.ask(#"{"type":"ping"}"#) == ["type": "pong"])
    joined.participant.say.yield(.closed(.removed))
    #expect(try await joined.client.next() == ["type": "closed", "reason": "removed"])
    gate.continuation.yield()
    await joined.client.session.value
    #expect(await joined.client.text() == nil)
    #expect(joined.client.socket.unsent.withLock { $0 } == [])
  }

  @Test func `after a session has joined or resumed it does neither again`() async throws {
    let joined = try await Joined()
    let back = joined.other()
    let token = try #require(try await back.ask(Self.resume(joined.token))["resumeToken"] as? String)
    #expect(try await back.ask(Self.resume(token))["code"] as? String == "auth-repeated")
    #expect(try await back.ask(#"{"type":"auth","token":"good"}"#)["code"] as? String == "auth-repeated")
  }
}
