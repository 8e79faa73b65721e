internal import Model
internal import Negotiation

/// What a participant asks of its room.
enum ParticipantRequest: Sendable {
  case openTransport(TransportRole)
  case closeTransport(TransportID)
  case offer(String, [OfferedTrack], on: TransportID)
  case makeOffer(SlotCount, on: TransportID)
  case accept(String, on: TransportID)
  case subscribe(String, mid: String?, PicturePreference, on: TransportID)
  case unsubscribe(String, on: TransportID)
  case view([(track: String, picture: PicturePreference)], on: TransportID)
  /// How large the pictures of its own track are.
  case resize(String, [OfferedLayer], on: TransportID)
  case mute(String, Bool)
  case update(ParticipantChange)
  case send(DataRequest)
  /// Raises its hand or lowers it, or lowers another's, by that one's id.
  case hand(Bool, of: String?)
  /// Lets one in that waits, by its id, or refuses it.
  case admit(String, Bool)
  case grants
  /// Why it gets what it gets: what is paid for that, before the media plane is asked.
  case explain
  /// All slots, in their place among the notices.
  case tellSlots
  /// Its front door has nowhere to send to.
  case absent
  /// It has again; the client has the events up to that one.
  case present(after: Int)
  case leave(LeaveReason)

  var isNoticed: Bool {
    switch self {
    case .leave, .absent, .present, .grants, .explain, .tellSlots, .closeTransport: false
    default: true
    }
  }
}

/// A message that a participant sends.
struct DataRequest: Sendable {
  var payload: [UInt8]
  var topic: String?
  var reliable: Bool
  /// Identities; nil or none: everybody.
  var destinations: [String]?
}
