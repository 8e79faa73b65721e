public import AccessTokens
public import Model
public import Rooms

/// What the front doors ask of the rooms.
public protocol RoomService: Sendable {
  /// The participant stays until `leave`, or until its notices say `closed`.
  func join(_ request: JoinRequest) async throws(JoinError) -> any RoomParticipant
  /// Whether the token's identity was removed from the room after it was issued.
  func forbids(_ token: AccessToken, in room: String) -> Bool
  /// No participant is let in any more, because the server is about to stop.
  var isDraining: Bool { get }
  /// Whether it makes sense to send clients here: the server isn't draining, and the media plane answers.
  func isReady() async -> Bool
}

/// Who asks to be let in, as its token has it.
public struct JoinRequest: Sendable {
  public var room: String
  public var identity: String
  public var name: String?
  public var metadata: String?
  public var attributes: [String: String]
  public var grants: Grants
  /// When the token counts as issued, seconds since 1970; nil: not known.
  public var tokenIssued: Int?
  /// Of the person's: as a call's token has it, else what stands for the token.
  public var device: String?
  /// The other end of the signalling connection.
  public var remote: SocketAddress
}

/// One participant's session, as its own front door sees it. Calls come one at a time, but for the transport's `offer`, beside
/// which others may come.
public protocol RoomParticipant: Sendable {
  associatedtype Transport: RoomTransport

  /// The way of its media that the native door has; nil: it was given none.
  var transport: Transport? { get }
  /// The state of the room as of `joined.lastEvent`.
  var joined: JoinedState { get }
  /// What happens from `joined.lastEvent` on, in order, for one reader. Bounded by what fills it; ends after `closed`.
  var notices: AsyncStream<ParticipantNotice> { get }

  /// What the participant may do by now; nil: the session is over.
  func grants() async -> Grants?
  /// All slots come among the notices, for a client whose picture of them may be old.
  func tellSlots() async
  func mute(_ track: String, _ muted: Bool) async throws(RequestError)
  func update(_ change: ParticipantChange) async throws(RequestError)
  /// - Parameter destinations: identities; nil: all others.
  func send(
    _ payload: [UInt8], topic: String?, reliable: Bool, to destinations: [String]?
  ) async throws(RequestError)
  /// Why it gets what it gets, within little more than a second.
  func explain() async throws(RequestError) -> ParticipantExplanation
  /// There is no socket to send to; the participant stays for the grace.
  func absent() async
  /// There is again: `resumed` comes among the notices once, and what comes after it is for the new socket. `absent` and
  /// `present` come one at a time.
  /// - Throws: the session is over, or what came after that event is no longer kept. `tooOften`: there is none as before,
  ///   and it may be asked again in a while.
  func present(after: Int) async throws(RequestError)
  func leave(reason: LeaveReason) async
}

/// One way of a participant's media, as the front door that has it sees it.
public protocol RoomTransport: Sendable {
  /// Names it among the participant's notices.
  var id: TransportID { get }

  /// The answer comes among the notices too, after all that it names.
  func offer(_ sdp: String, tracks: [OfferedTrack]) async throws(OfferError) -> OfferAnswer
  func subscribe(_ track: String, mid: String?, picture: PicturePreference) async throws(RequestError)
  func view(_ tracks: [(track: String, picture: PicturePreference)]) async throws(RequestError)
  func unsubscribe(_ track: String) async throws(RequestError)
  func resize(_ track: String, layers: [OfferedLayer]) async throws(RequestError)
}

extension ParticipantSession: RoomParticipant {}
extension ParticipantTransport: RoomTransport {}

extension RoomDirectory: RoomService {
  public func join(_ request: JoinRequest) async throws(JoinError) -> any RoomParticipant {
    try await join(
      room: request.room, identity: request.identity, name: request.name, metadata: request.metadata,
      attributes: request.attributes, grants: request.grants, issued: request.tokenIssued,
      device: request.device,
      opening: .both)
  }

  public func forbids(_ token: AccessToken, in room: String) -> Bool {
    token.identity.map { forbids($0, in: room, issued: token.effectiveIssue) } ?? false
  }
}
