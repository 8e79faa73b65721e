internal import AccessTokens
internal import Engine
internal import Model
internal import Negotiation
internal import Peer

/// All that a room hears.
enum RoomInput: Sendable {
  /// Made from outside: the first event.
  case start
  /// The directory has forgotten the room: the last event.
  case finish
  /// - Parameter isForbidden: the identity was removed after its token was issued, as it is known now.
  case join(Newcomer, isForbidden: Bool)
  case request(ParticipantID, ParticipantRequest)
  case administration(AdministrationRequest)
  /// Those who are in may stay until then.
  case drain(until: WallTime)
  /// Every session ends, also those on their way in.
  case close(LeaveReason)
  case media(PeerEvents)
  case samples([PeerSample])
  /// The alarm's time has come.
  case alarm
  /// To `RoomEffect.prepare`: a place of the media plane, and our end with fresh credentials.
  case prepared(Proposal, PeerKey, LocalTransport)
  /// To `RoomEffect.prepare`: there is no place.
  case overloaded(Proposal)
  /// To `RoomEffect.read`: nil: they are not kept any more.
  case missed(ParticipantID, after: Int, EventLog.Page?)

  /// Others may hear of it, and it can wait for them.
  var isNoticed: Bool {
    switch self {
    case .request(_, let request): request.isNoticed
    case .administration(let request): request.isNoticed
    default: false
    }
  }
}

/// What a participant asks of its room.
enum ParticipantRequest: Sendable {
  case openTransport(TransportRole)
  case closeTransport(TransportID)
  case offer(String, [OfferedTrack], on: TransportID)
  case makeOffer(SlotCount, on: TransportID)
  case accept(String, on: TransportID)
  case subscribe(String, mid: String?, on: TransportID)
  case unsubscribe(String, on: TransportID)
  case mute(String, Bool)
  case update(ParticipantChange)
  case send(DataRequest)
  case grants
  /// All slots, in their place among the notices.
  case tellSlots
  /// Its front door has nowhere to send to.
  case absent
  /// It has again; the client has the events up to that one.
  case present(after: Int)
  case leave(LeaveReason)

  fileprivate var isNoticed: Bool {
    switch self {
    case .leave, .absent, .present, .grants, .tellSlots, .closeTransport: false
    default: true
    }
  }
}

/// What those who run the room ask of it.
enum AdministrationRequest: Sendable {
  case change(RoomPatch)
  case changeParticipant(String, ParticipantPatch)
  case remove(String)
  case mute(track: String, of: String, Bool)
  case send(DataMessage, to: [String]?)

  /// What takes something away from a participant doesn't wait: it may be what ends the flood.
  fileprivate var isNoticed: Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.withdrawalsWait), case .changeParticipant = self { return true }
    #endif
    switch self {
    case .changeParticipant, .remove, .mute: return false
    case .change, .send: return true
    }
  }
}

/// A message that a participant sends.
struct DataRequest: Sendable {
  var payload: String
  var topic: String?
  var reliable: Bool
  /// Identities; nil or none: everybody.
  var destinations: [String]?
}

/// Who comes in, as the token has it.
struct Newcomer: Sendable {
  var identity: String
  var name: String?
  var metadata: String?
  var attributes: [String: String] = [:]
  var grants: Grants
  /// When its token counts as issued, seconds since 1970; nil: not known.
  var issued: Int?
  /// A transport that it has from the beginning; nil: it opens them itself.
  var opens: TransportRole? = .both
}

/// What the media plane last knew of a peer and of its tracks.
struct PeerSample: Sendable {
  var peer: PeerKey
  var quality: PeerQuality
  var levels: [(track: TrackKey, level: TrackLevel)]
}
