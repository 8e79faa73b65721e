public import Model
public import Rooms

/// What the front doors ask of the rooms.
public protocol RoomService: Sendable {
  /// The participant stays until `leave` or until its messages say `closed`.
  func join(_ request: JoinRequest) async throws(RoomRefusal) -> any RoomParticipant
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
  /// The state of the room as of `joined.lastEvent`.
  var joined: JoinedBody { get }
  /// What happens from `joined.lastEvent` on, in order, for one reader. Bounded by whoever fills it; ends after
  /// `closed`.
  var messages: AsyncStream<RoomMessage> { get }

  func offer(_ offer: SessionOffer) async throws(RoomRefusal) -> SessionAnswer
  func candidate(_ candidate: String, mid: String) async
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

/// What a room tells one participant.
public enum RoomMessage: Equatable, Sendable {
  /// Which tracks now play in which receive sections; each was announced before.
  case slots([Slot])
  /// So many more receive sections are needed, or a restart of ICE.
  case offerWanted(audio: Int, video: Int, reason: OfferReason)
  case event(EventBody)
  /// The last one.
  case closed(LeaveReason)
}

public enum OfferReason: String, Codable, Sendable {
  case slots
  case iceRestart
}
