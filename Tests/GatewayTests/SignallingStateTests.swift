import AccessTokens
import Model
import Signalling
import Synchronization
import Testing

@testable import Gateway
@testable import Rooms

@Suite("A session at the native door, as a value", .timeLimit(.minutes(1)))
struct SignallingStateTests {
  /// A session whose resume tokens are numbers, from 1.
  struct Session {
    var state: SignallingState
    private(set) var said: [String] = []

    init(_ token: AccessToken = AccessToken(apiKey: "k", identity: "ada", expires: 9_000, issuedAt: 0)) {
      let numbers = Numbers()
      state = SignallingState(room: "demo", token: token, transport: .first) {
        let number = numbers.next()
        return ("token \(number)", [number])
      }
    }

    mutating func handle(_ input: SignallingInput, now: Int = 0) -> [SignallingEffect] {
      state.handle(input, now: now)
    }

    /// What is done, in words; of messages their type.
    mutating func does(_ input: SignallingInput, now: Int = 0) -> [String] {
      handle(input, now: now).map(Self.word)
    }

    mutating func begin() {
      let joined = ServerMessage.Joined(
        participant: ParticipantBody(id: "PA_1", identity: "ada"), room: RoomBody(id: "RM_1", name: "demo"),
        participants: [], lastEvent: 7)
      _ = handle(.begin(joined, id: nil))
    }

    /// Breaks the first socket, and gets as far as the room's word for the second.
    mutating func comeBack(_ code: UInt8 = 1, line: Int = 2) {
      _ = handle(.hungUp(line: line - 1, inGoodOrder: false))
      _ = handle(.reconnect([code], room: "demo", id: RequestID(9)))
      _ = handle(.turn(line: line))
      _ = handle(.presented(line: line, [code], nil))
    }

    static func word(_ effect: SignallingEffect) -> String {
      switch effect {
      case .send(let text, let isOpening):
        "\(isOpening ? "opens with" : "says") \(text.split(separator: #""type":""#).last?.prefix { $0 != "\"" } ?? "?")"
      case .drop(let line): "drops \(line)"
      case .close(let code, let line): "closes \(line) by \(code.rawValue)"
      case .allow(let code): "allows \(code[0])"
      case .restore(let code): "restores \(code[0])"
      case .revoke(let code): "revokes \(code[0])"
      case .opened(let line, let isOpen): "\(line) \(isOpen ? "is" : "will never be") open"
      case .refuse(let refusal): "refuses: \(refusal.code.rawValue)"
      case .absent(let waits): waits ? "is absent after what came before" : "is absent"
      case .leave(let reason): "leaves: \(reason.rawValue)"
      case .perform(_, let id): "asks \(id?.json ?? "-")"
      case .explain(let id): "asks why \(id?.json ?? "-")"
      case .share(let message, let id): "shares \(message.event.type) \(id?.json ?? "-")"
      case .offer(let offer, let id): "offers \(offer.sdp) \(id?.json ?? "-")"
      case .tellSlots: "has slots said again"
      case .charge(let bytes): "is charged \(bytes)"
      case .pay(_, let line, let toOffer): "pays on \(line)\(toOffer ? " for an offer's answer" : "")"
      case .renewNow: "renews"
      case .renewLater: "renews beside"
      }
    }
  }

  /// Counts for a closure that may be called by any thread.
  private final class Numbers: Sendable {
    private let value = Mutex<UInt8>(0)
    func next() -> UInt8 {
      value.withLock {
        $0 += 1
        return $0
      }
    }
  }

  static func ask(_ content: ClientMessage.Content, id: Int? = nil, line: Int = 1) -> SignallingInput {
    .message(ClientMessage(content, id: id.map { RequestID($0) }), line: line)
  }

  @Test func `it begins with joined and its resume token`() throws {
    var session = Session()
    let joined = ServerMessage.Joined(
      participant: ParticipantBody(id: "PA_1", identity: "ada"), room: RoomBody(id: "RM_1", name: "demo"),
      participants: [], lastEvent: 7)
    let effects = session.handle(.begin(joined, id: RequestID(4)))
    #expect(effects.map(Session.word) == ["allows 1", "opens with joined"])
    guard case .send(let text, _)? = effects.last else { return }
    let message = try ServerMessage(json: text)
    guard case .joined(let said) = message.content else { return #expect(Bool(false), "\(text)") }
    #expect(message.id == RequestID(4) && said.resumeToken == "token 1" && said.lastEvent == 7)
  }

  @Test func `what was said before is a part of how it opens, and hosts' requests are the room's to do`() {
    var session = Session()
    session.begin()
    #expect(session.does(.history(#"{"type":"history","messages":[]}"#)) == ["opens with history"])
    #expect(session.does(Self.ask(.hand(.init(raised: true)), id: 5)) == ["asks 5", "renews"])
    #expect(session.does(Self.ask(.admit(.init(waiting: "WT_1")), id: 6)) == ["asks 6", "renews"])
  }

  @Test func `without a socket nothing is sent, and answers are kept`() {
    var session = Session()
    session.begin()
    #expect(session.does(Self.ask(.mute(.init(track: "TR_1", muted: true)), id: 3)) == ["asks 3", "renews"])
    #expect(session.does(.hungUp(line: 1, inGoodOrder: false)) == ["is absent after what came before"])
    #expect(session.does(.hungUp(line: 1, inGoodOrder: false)) == [], "a socket ends once")
    #expect(session.does(.done(RequestID(3), nil)) == [])
    #expect(session.does(.notice(.speakers([]))) == [] && session.does(.notice(.event(.plain(8)))) == [])
    session.comeBack()
    _ = session.handle(.notice(.resumed(.blank(lastEvent: 8))))
    // It asks again by the same id, and nothing is done twice.
    #expect(
      session.does(Self.ask(.mute(.init(track: "TR_1", muted: true)), id: 3, line: 2))
        == ["revokes 1", "pays on 2"])
    #expect(session.does(.paid(answer: #"{"type":"ok"}"#, line: 2, toOffer: false)) == ["says ok"])
    #expect(session.does(.paid(answer: "", line: 1, toOffer: true)) == [], "that socket is gone")
  }

  @Test func `another socket closes the one before, and begins with what was missed`() {
    var session = Session()
    session.begin()
    #expect(
      session.does(.reconnect([1], room: "demo", id: nil))
        == ["1 will never be open", "drops 1", "closes 1 by 4006"])
    #expect(session.does(.turn(line: 2)) == [] && session.state.hasOpened(2) == nil)
    #expect(session.does(.notice(.speakers([]))) == [], "before resumed nothing is said")
    #expect(session.does(Self.ask(.ping)) == [], "nor heard of the old one")
    #expect(
      session.does(.notice(.resumed(.blank(lastEvent: 9, missed: [.plain(9)], notices: [.speakers([])]))))
        == [
          "allows 2", "opens with resumed", "opens with event", "opens with speakers", "renews beside",
          "2 is open",
        ])
    #expect(session.state.hasOpened(2) == true && session.state.hasOpened(1) == false)
    #expect(session.does(.notice(.speakers([]))) == ["says speakers"])
  }

  @Test func `what the room says to one socket opens no later one`() {
    var session = Session()
    session.begin()
    session.comeBack()
    // A third socket comes before the room's word for the second.
    #expect(session.does(.reconnect([1], room: "demo", id: nil)).contains("closes 2 by 4006"))
    _ = session.handle(.turn(line: 3))
    #expect(session.does(.notice(.resumed(.blank(lastEvent: 7)))) == [])
    #expect(session.does(.notice(.resumed(.blank(lastEvent: 7)))).contains("3 is open"))
  }

  @Test func `a socket that is not taken gives its token back, or ends the session`() {
    var session = Session()
    session.begin()
    _ = session.handle(.hungUp(line: 1, inGoodOrder: false))
    _ = session.handle(.reconnect([1], room: "demo", id: nil))
    _ = session.handle(.turn(line: 2))
    #expect(
      session.does(.presented(line: 2, [1], .tooOften))
        == ["restores 1", "is absent", "refuses: rate-limited"])
    _ = session.handle(.reconnect([1], room: "demo", id: nil))
    _ = session.handle(.turn(line: 3))
    #expect(
      session.does(.presented(line: 3, [1], .gone)) == ["leaves: connectionLost", "refuses: session-gone"])
  }

  @Test func `a token of another room, of an expired session, or of one that is over opens nothing`() {
    var session = Session()
    session.begin()
    #expect(
      session.does(.reconnect([1], room: "elsewhere", id: nil)) == ["restores 1", "refuses: session-gone"])
    #expect(
      session.does(.reconnect([1], room: "demo", id: nil), now: 9_000 + AccessToken.leeway)
        == ["revokes 1", "refuses: token-expired"])
    _ = session.handle(.notice(.closed(.removed)))
    #expect(session.does(.reconnect([1], room: "demo", id: nil)) == ["revokes 1", "refuses: session-gone"])
  }

  @Test
  func `a redeemed token is good again where its socket broke before a word, and not where it was closed`() {
    var session = Session()
    session.begin()
    session.comeBack()
    _ = session.handle(.notice(.resumed(.blank(lastEvent: 7))))
    #expect(
      session.does(.hungUp(line: 2, inGoodOrder: false))
        == ["restores 1", "is absent after what came before"])
    session.comeBack(1, line: 3)
    _ = session.handle(.notice(.resumed(.blank(lastEvent: 7))))
    #expect(
      session.does(.hungUp(line: 3, inGoodOrder: true)) == ["revokes 1", "is absent after what came before"])
  }

  @Test func `messages that may not have arrived are sent again, and paid for`() {
    var session = Session()
    session.begin()
    _ = session.handle(.hungUp(line: 1, inGoodOrder: false))
    #expect(session.does(.notice(.data(.plain("abc")))) == [])
    #expect(session.does(.notice(.data(.plain("x", reliable: false)))) == [])
    session.comeBack()
    let opening = ["opens with resumed", "opens with data", "renews beside"]
    #expect(session.does(.notice(.resumed(.blank(lastEvent: 7)))) == ["allows 2"] + opening + ["2 is open"])
    session.comeBack(1, line: 3)
    #expect(
      session.does(.notice(.resumed(.blank(lastEvent: 7))))
        == ["is charged 4", "revokes 2", "allows 3"] + opening + ["3 is open"])
    // Having spoken, it has got them.
    #expect(session.does(Self.ask(.ping, line: 3)) == ["revokes 1", "says pong", "renews"])
    session.comeBack(3, line: 4)
    #expect(!session.does(.notice(.resumed(.blank(lastEvent: 7)))).contains("opens with data"))
  }

  @Test func `one offer is in flight, and its answer has its id`() throws {
    var session = Session()
    session.begin()
    #expect(session.does(Self.ask(.offer(.init(sdp: "a")), id: 1)) == ["offers a 1", "renews"])
    #expect(session.does(Self.ask(.offer(.init(sdp: "b")), id: 2)) == ["says error", "renews"])
    let answer = OfferAnswer(sdp: "v=0", tracks: [], slots: [], declined: [])
    guard case .send(let text, _)? = session.handle(.notice(.on(.first, .answer(answer)))).first else {
      return #expect(Bool(false), "it is not answered")
    }
    #expect(try ServerMessage(json: text).id == RequestID(1))
    #expect(session.does(Self.ask(.offer(.init(sdp: "c")), id: 3)) == ["offers c 3", "renews"])
    #expect(session.does(.offerRefused(RequestID(3), .overloaded)) == ["says error"])
    #expect(session.does(Self.ask(.offer(.init(sdp: "d")))) == ["offers d -", "renews"])
  }

  @Test func `after its end it does nothing more`() {
    for end in [Self.ask(.leave), .notice(.closed(.duplicateIdentity))] {
      var session = Session()
      session.begin()
      let done = session.does(end)
      if case .notice = end {
        #expect(
          done == ["revokes 1", "1 will never be open", "drops 1", "says closed", "closes 1 by 4012"])
      } else {
        #expect(
          done == [
            "revokes 1", "1 will never be open", "leaves: left", "says closed", "closes 1 by 4000", "renews",
          ])
      }
      #expect(session.state.isOver && !session.state.isServed(1) && !session.state.isRenewalDue(9_000))
      #expect(session.does(Self.ask(.ping)) == [] && session.does(.notice(.speakers([]))) == [])
      #expect(session.does(.hungUp(line: 1, inGoodOrder: true)) == [])
    }
  }
}
