internal import AccessTokens
internal import Model
internal import Rooms
internal import Signalling

/// One participant's session at the native door, over one socket after the other, as a value: it takes what happens, and says
/// what is to be done. It has no socket, no room and no clock.
///
///     serving ──socket gone──▶ alone ──grace──▶ over
///        ▲                       │
///        └──────── resume ───────┘     leave, closed ──▶ over, from anywhere
///
/// While it is alone, the room's events are left to the room's log, and what changes by message to the next `resumed`;
/// answers are kept by their requests' ids, messages from others in a bounded bag.
///
/// The room knows nothing of sockets: it hears in order that there is none, and that there is one again, and answers each of
/// the latter by one `resumed`; which socket that is for is counted here.
struct SignallingState {
  /// Makes a resume token at random, and the code that is kept of it.
  typealias Draw = @Sendable () -> (token: String, code: ResumeCode)

  /// The socket that it is served on.
  struct Line {
    let number: Int
    /// Which of the room's `resumed` is for it; nil: the first socket, which has none.
    var resumption: Int?
    /// `joined` or `resumed` has been sent; before, nothing else may be.
    var isOpen = false
    /// The token that was redeemed for it, until something is heard: a client that hasn't got the next one comes with this.
    var opener: ResumeCode?
    /// Of the request `resume`.
    var id: RequestID?
  }

  /// An answer that came while there was no socket.
  struct MissedAnswer {
    /// Of the offer.
    var id: RequestID?
    var answer: ServerMessage.Answer
    /// It was given to a socket that may have broken before it.
    var isSent = false
  }

  struct OfferInFlight { let id: RequestID? }

  private let room: String
  /// Whose notices are for the client; nil: it has no media.
  let transport: TransportID?
  private let draw: Draw
  private(set) var token: AccessToken
  private(set) var isOver = false
  var line: Line?
  private var lastLine = 0
  /// The resume token that was sent last; the one before, where it isn't known whether that arrived.
  private var current: ResumeCode?
  private var previous: ResumeCode?
  var requests = AnsweredRequests()
  /// The request that waits for its answer among the room's notices.
  var offerInFlight: OfferInFlight?
  var missedAnswer: MissedAnswer?
  var bag = MessageBag()
  var resumptions = Resumptions()
  /// What is sent now is what the client begins or goes on with.
  var isOpening = false
  var effects: [SignallingEffect] = []

  init(room: String, token: AccessToken, transport: TransportID?, draw: @escaping Draw) {
    self.room = room
    self.token = token
    self.transport = transport
    self.draw = draw
  }

  /// - Parameter now: seconds since 1970.
  mutating func handle(_ input: SignallingInput, now: Int) -> [SignallingEffect] {
    defer { effects = [] }
    switch input {
    case .begin(let joined, let id): begin(joined, id)
    // Bounded by what rooms keep.
    case .history(let text): effects.append(.send(text, isOpening: true))
    case .reconnect(let code, let room, let id): reconnect(code, room, id, now)
    case .turn(let number): turn(number)
    case .presented(let number, let code, let error): presented(number, code, error)
    case .hungUp(let number, let inGoodOrder): hungUp(number, inGoodOrder)
    case .message(let message, let number): receive(message, on: number)
    case .paid(let answer, let number, let toOffer):
      guard isServed(number) else { break }
      effects.append(.send(answer, isOpening: false))
      // The slots in it may have changed since.
      if toOffer { effects.append(.tellSlots) }
    case .done(let id, let error): finish(id, error)
    case .explained(let id, let found): if !isOver { explain(id, found) }
    case .offerRefused(let id, let error):
      offerInFlight = nil
      say(.error(Refusal(error).body), id: id)
    case .notice(let notice): if !isOver { forward(notice) }
    case .live(let text): if !isOver { pass(text) }
    case .shared(let id, let result): finish(id, result)
    case .renewed(let text, let fresh):
      token = fresh
      say(.token(text))
    }
    return effects
  }

  /// Whether that socket is the one that is served.
  func isServed(_ number: Int) -> Bool { !isOver && line?.number == number }

  /// The number of the socket that came last.
  var lastNumber: Int { lastLine }

  // MARK: - Sockets

  private mutating func begin(_ joined: ServerMessage.Joined, _ id: RequestID?) {
    lastLine = 1
    line = Line(number: lastLine, isOpen: true)
    var joined = joined
    joined.resumeToken = issueToken()
    // Not among the answers that are sent again: a client whose socket breaks resumes.
    effects.append(.send(ServerMessage(.joined(joined), id: id).json, isOpening: true))
  }

  private mutating func reconnect(_ code: ResumeCode, _ room: String, _ id: RequestID?, _ now: Int) {
    guard !isOver else {
      effects += [.revoke(code), .refuse(.sessionGone)]
      return
    }
    guard room.isExactly(self.room) else {
      effects += [.restore(code), .refuse(.sessionGone)]
      return
    }
    guard token.expires + AccessToken.leeway > now else {
      effects += [
        .revoke(code), .refuse(Refusal(.tokenExpired, "the access token of this session has expired")),
      ]
      return
    }
    // A client that has the last token has got the last `resumed`, with all that came with it.
    if code == current { forgetSent() }
    if code == previous { previous = nil } else { current = nil }
    let old = line
    lastLine += 1
    line = Line(number: lastLine, opener: code, id: id)
    if let opener = old?.opener { effects.append(.revoke(opener)) }
    guard let old else { return }
    effects.append(.opened(line: old.number, false))
    // A client that comes back has no use for what waits there, however slowly it is read.
    effects += [.drop(line: old.number), .close(.replaced, line: old.number)]
  }

  private mutating func turn(_ number: Int) {
    guard isServed(number) else { return effects.append(.refuse(.sessionGone)) }
    line?.resumption = resumptions.begin()
  }

  private mutating func presented(_ number: Int, _ code: ResumeCode, _ error: RequestError?) {
    guard let error else { return }
    resumptions.fail()
    if case .tooOften = error {
      stayAway(number, code)
      effects.append(.refuse(Refusal(error)))
    } else {
      // A client that can't get what was missed joins again, and this session is in the way.
      effects += [.leave(.connectionLost), .refuse(.sessionGone)]
    }
  }

  /// The room has not taken a socket: its token is good once more, and there is none as long as no other has come.
  private mutating func stayAway(_ number: Int, _ code: ResumeCode) {
    guard isServed(number) else { return effects.append(.revoke(code)) }
    line = nil
    if let previous { effects.append(.revoke(previous)) }
    previous = code
    effects += [.restore(code), .absent(waits: false)]
  }

  /// Whether that socket has got `resumed`; nil: that is still to come.
  func hasOpened(_ number: Int) -> Bool? {
    isServed(number) ? line?.isOpen == true ? true : nil : false
  }

  private mutating func hungUp(_ number: Int, _ inGoodOrder: Bool) {
    guard let line, isServed(number) else { return }
    self.line = nil
    if let opener = line.opener {
      if inGoodOrder {
        effects.append(.revoke(opener))
      } else {
        // It may not have got what was sent last.
        previous = opener
        effects.append(.restore(opener))
      }
    }
    effects.append(.absent(waits: true))
  }

  // MARK: - Resume tokens

  /// A new resume token, in place of those before.
  mutating func issueToken() -> String {
    revokeTokens()
    let (token, code) = draw()
    effects.append(.allow(code))
    current = code
    return token
  }

  private mutating func revokeTokens() {
    for code in [current, previous] { if let code { effects.append(.revoke(code)) } }
    (current, previous) = (nil, nil)
  }

  /// The client has got what was sent when the line was opened.
  mutating func heard() {
    guard let opener = line?.opener else { return }
    effects.append(.revoke(opener))
    line?.opener = nil
    forgetSent()
  }

  private mutating func forgetSent() {
    if missedAnswer?.isSent == true { missedAnswer = nil }
    bag.forgetSent()
  }

  /// Whether what is sent now may not arrive: there is no socket, or nothing was heard on it.
  var isDoubtful: Bool { line.map { !$0.isOpen || $0.opener != nil } ?? true }

  mutating func end() {
    isOver = true
    revokeTokens()
    guard let line else { return }
    if let opener = line.opener { effects.append(.revoke(opener)) }
    effects.append(.opened(line: line.number, false))
  }
}
