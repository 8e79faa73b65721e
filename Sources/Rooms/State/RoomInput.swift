internal import AccessTokens
internal import Engine
internal import Model
internal import Negotiation
internal import Peer

/// All that a room hears.
enum RoomInput: Sendable {
  /// Made from outside: the first event.
  case start
  /// It goes on from what a process before this one had; before anything else.
  case comeBack(RoomRecovery.Room)
  /// The directory has forgotten the room: the last event.
  case finish
  /// - Parameter refused: why its token lets it in no more, as it is known now: `removed` or `revoked`.
  case join(Newcomer, refused: JoinError?)
  /// - Parameter session: number of the session that asks; nil: whichever the participant has. One that another has followed is over.
  case request(ParticipantID, ParticipantRequest, session: UInt32? = nil)
  /// To `RoomEffect.askWait`: nil: it may wait.
  case waits(WaitingSession, JoinError?)
  /// To `RoomEffect.askPlace`: nil: there is one.
  case placed(WaitingID, of: String, JoinError?, AdmissionCause)
  /// To `RoomEffect.forbid`: false: as many removals are remembered as can be.
  case forbidden(WaitingID, isRemembered: Bool, AdmissionCause)
  /// A front door waits no longer for one of its sessions to be let in.
  case stopWaiting(WaitingID, WaitingEndReason)
  /// An invitation has ended before its time.
  case invitationEnded
  /// To `RoomEffect.askInvitations`: these hold no more.
  case uninvited([InvitationID])
  /// A client without a socket comes with an offer.
  /// - Parameter refused: as of `join`.
  case open(StandaloneEntry, refused: JoinError?)
  case standalone(StandaloneName, StandaloneRequest)
  case administration(AdministrationRequest)
  /// Those who oversee the room name the stay by which a participant is there.
  case stay(ParticipantID, String, by: Arrival)
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
  /// To `RoomEffect.historyChanged`: so many bytes of messages the room may keep, which has more.
  case keepAtMost(Int)
  /// A recording has ended by itself.
  case recordingEnded(RecordingID, RecordingEndReason)
  /// Something has happened in the call that the room is of.
  case called(RoomEventKind, EventCall)
  /// A process before this one left a recording of the room open, which is closed now.
  case recordingLeftOpen(RecordingID)

  /// Others may hear of it, and it can wait for them.
  var isNoticed: Bool {
    switch self {
    case .request(_, let request, _): request.isNoticed
    case .administration(let request): request.isNoticed
    default: false
    }
  }
}
