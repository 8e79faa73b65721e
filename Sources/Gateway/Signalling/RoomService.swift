public import AccessTokens
public import Model
public import Rooms

/// What the front doors ask of the rooms.
public protocol RoomService: Sendable {
  /// The participant stays until `leave` or until its messages say `closed`.
  func join(_ request: JoinRequest) async throws(RoomRefusal) -> any RoomParticipant
  /// Whether the token's identity was removed from the room after it was issued.
  func forbids(_ token: AccessToken, in room: String) -> Bool
  /// Nobody new is let in, because the server is about to stop.
  var isDraining: Bool { get }
  /// Whether it makes sense to send somebody here: not draining, and the media plane answers.
  func isReady() async -> Bool
}

public struct JoinRequest: Sendable {
  public var room: String
  public var identity: String
  public var name: String?
  public var metadata: String?
  public var attributes: [String: String]
  public var grants: Grants
  /// When the token counts as issued, seconds since 1970; nil: not known.
  public var tokenIssued: Int?
  /// The other end of the signalling connection.
  public var remote: SocketAddress
}

/// One participant's session, as its own front door sees it. Calls come one at a time, but for `candidate`,
/// which may come while an offer is being answered.
public protocol RoomParticipant: Sendable {
  /// The state of the room as of `joined.lastEvent`, for one who asks once.
  var joined: JoinedBody { get }
  /// What happens from `joined.lastEvent` on, in order, for one reader. Bounded by whoever fills it; ends after
  /// `closed`.
  var messages: AsyncStream<RoomMessage> { get }

  /// What the participant may do by now; nil: the session is over.
  func grants() async -> Grants?
  /// The answer comes among the messages, after all that it names.
  func offer(_ offer: SessionOffer) async throws(RoomRefusal)
  /// All slots come among the messages, for somebody whose picture of them may be old.
  func tellSlots() async
  func candidate(_ candidate: String, mid: String) async
  func subscribe(_ track: String, mid: String?) async throws(RoomRefusal)
  func unsubscribe(_ track: String) async throws(RoomRefusal)
  func mute(_ track: String, _ muted: Bool) async throws(RoomRefusal)
  func update(_ change: ParticipantChange) async throws(RoomRefusal)
  func send(_ message: OutgoingMessage) async throws(RoomRefusal)
  /// There is no socket to send to; the participant stays for the grace.
  func absent() async
  /// There is again: `resumed` comes among the messages once, and what comes after it is for the new socket. `absent` and
  /// `present` come one at a time.
  /// - Throws: the session is over, or what came after that event is no longer kept. `rateLimited`: there is none as before,
  ///   and it may be asked again in a while.
  func present(after: Int) async throws(RoomRefusal)
  func leave(_ reason: LeaveReason) async
}

/// Why a room doesn't do what it was asked.
public struct RoomRefusal: Error, Equatable, Sendable {
  public var code: SignallingErrorCode
  /// For people.
  public var message: String

  public init(_ code: SignallingErrorCode, _ message: String) {
    self.code = code
    self.message = message
  }
}

/// A message of a participant to others.
public struct OutgoingMessage: Equatable, Sendable {
  /// Base64.
  public var payload: String
  public var topic: String?
  public var reliable: Bool
  /// Identities; nil: everybody.
  public var destinations: [String]?

  public init(payload: String, topic: String? = nil, reliable: Bool = true, destinations: [String]? = nil) {
    self.payload = payload
    self.topic = topic
    self.reliable = reliable
    self.destinations = destinations
  }
}

/// What a room tells one participant.
public indirect enum RoomMessage: Equatable, Sendable {
  /// To the offer that is in flight.
  case answer(SessionAnswer)
  /// Which tracks now play in which receive sections; each was announced before.
  case slots([Slot])
  /// So many more receive sections are needed, or a restart of ICE.
  case offerWanted(audio: Int, video: Int, reason: OfferReason)
  case event(EventBody)
  /// A message that many get, as it goes out.
  case shared(String)
  /// Who speaks now, the loudest first.
  case speakers([SpeakerBody])
  /// Only those that changed.
  case quality([QualityBody])
  /// Each becomes a message of its own.
  case streams([StreamBody])
  case data(DataBody)
  /// The server stops at that time (RFC 3339) at the latest.
  case draining(deadline: String)
  case resumed(ResumedBody)
  /// The last one.
  case closed(LeaveReason)
}

public enum OfferReason: String, Codable, Sendable {
  case slots
  case iceRestart
}
