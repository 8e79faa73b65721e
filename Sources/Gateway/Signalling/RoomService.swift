public import AccessTokens
public import Model
public import Rooms

/// What the front doors ask of the rooms.
public protocol RoomService: Sendable {
  /// The participant stays until `leave`, or until its notices say `closed`.
  func join(_ request: JoinRequest) async throws(JoinError) -> any RoomParticipant
  /// As `join`, of a client that may wait until a host of the room lets it in.
  func enter(_ request: JoinRequest) async throws(JoinError) -> RoomArrival
  /// Whether an invitation still lets those into the room who have a token by it.
  func holds(_ invitation: String, in room: String) -> Bool
  /// Whether the token's identity was removed from the room after it was issued.
  func forbids(_ token: AccessToken, in room: String) -> Bool
  /// No participant is let in any more, because the server is about to stop.
  var isDraining: Bool { get }
  /// Whether it makes sense to send clients here: the server isn't draining, and the media plane answers.
  func isReady() async -> Bool
}

extension RoomService {
  /// Where no one waits.
  public func enter(_ request: JoinRequest) async throws(JoinError) -> RoomArrival {
    .joined(try await join(request))
  }

  /// Where there are no invitations.
  public func holds(_ invitation: String, in room: String) -> Bool { false }
}

/// How a client has come to a room.
public enum RoomArrival: Sendable {
  case joined(any RoomParticipant)
  case waiting(any RoomWaiter)
}

/// One that waits to be let in, as its front door sees it: it hears of its end, and of nothing else.
public protocol RoomWaiter: Sendable {
  /// Until when it may wait.
  var until: WallTime { get }
  /// Returns once it is let in; asked once.
  func outcome() async throws(JoinError) -> any RoomParticipant
  /// Its client waits no longer. It may have been let in a moment before.
  func stop(_ reason: WaitingEndReason) async
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
  /// It needn't wait until a host lets it in.
  public var isAdmitted = false
  /// For how long it may wait for that.
  public var patience = Duration.zero
  /// The id of the invitation that has given out the token; nil: none has.
  public var invitation: String?
  /// The id of the one while which holds it needn't wait; nil: none.
  public var admittedBy: String?
}

/// One participant's session, as its own front door sees it. Calls come one at a time, but for the transport's `offer` and
/// `stored`, beside which others may come.
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
  /// Raises its hand or lowers it.
  /// - Parameter other: whose hand a host lowers, by its id; nil: its own.
  func raiseHand(_ isRaised: Bool, of other: String?) async throws(RequestError)
  /// As a host it lets one in that waits, or refuses it.
  /// - Parameter waiting: its id.
  func admit(_ waiting: String, _ isAllowed: Bool) async throws(RequestError)
  /// Returns once what was done before outlives the process; other calls may come beside it.
  func stored() async throws(RequestError)
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

extension RoomParticipant {
  /// Where nothing is stored.
  public func stored() async throws(RequestError) {}
}

extension ParticipantSession: RoomParticipant {}
extension ParticipantTransport: RoomTransport {}

extension RoomDirectory: RoomService {
  public func join(_ request: JoinRequest) async throws(JoinError) -> any RoomParticipant {
    try await join(
      room: request.room, identity: request.identity, name: request.name, metadata: request.metadata,
      attributes: request.attributes, grants: request.grants, issued: request.tokenIssued,
      device: request.device,
      opening: .both, isAdmitted: request.isAdmitted, invitation: request.invitation,
      admittedBy: request.admittedBy)
  }

  public func enter(_ request: JoinRequest) async throws(JoinError) -> RoomArrival {
    let entry = try await enter(
      room: request.room, identity: request.identity, name: request.name, metadata: request.metadata,
      attributes: request.attributes, grants: request.grants, issued: request.tokenIssued,
      device: request.device, isAdmitted: request.isAdmitted, patience: request.patience,
      invitation: request.invitation, admittedBy: request.admittedBy)
    switch entry {
    case .joined(let session): return .joined(session)
    case .waiting(let waiting): return .waiting(DirectoryWaiter(waiting: waiting))
    }
  }

  public func forbids(_ token: AccessToken, in room: String) -> Bool {
    token.identity.map { forbids($0, in: room, issued: token.effectiveIssue) } ?? false
  }
}

private struct DirectoryWaiter: RoomWaiter {
  let waiting: WaitingParticipant

  var until: WallTime { waiting.until }
  func outcome() async throws(JoinError) -> any RoomParticipant { try await waiting.outcome() }
  func stop(_ reason: WaitingEndReason) async { await waiting.stop(reason) }
}
