internal import Model

/// What those who run the room ask of it.
enum AdministrationRequest: Sendable {
  case change(RoomPatch)
  case changeParticipant(String, ParticipantPatch)
  case remove(String)
  /// Lets an identity in that waits; with an id, if it waits by that one.
  case admit(String, WaitingID?)
  /// Refuses an identity that waits; with an id, if it waits by that one.
  case refuse(String, WaitingID?)
  /// Ends an identity's session, if it is there by that stay, and no more.
  case disconnect(String, stay: String, LeaveReason)
  case mute(track: String, of: String, Bool)
  case send(DataMessage, to: [String]?)
  case record(RecordingScope)
  case stopRecording(String)
  /// A picture of a track is about to be given to somebody who runs the room.
  case thumbnail(track: String, of: String)

  /// Whether it waits while front doors are behind. What takes something away from a participant doesn't: it may be what ends the flood.
  var isNoticed: Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.withdrawalsWait), case .changeParticipant = self { return true }
    #endif
    return switch self {
    case .changeParticipant, .remove, .refuse, .disconnect, .mute(_, _, true), .stopRecording: false
    case .change, .send, .mute(_, _, false), .record, .thumbnail, .admit: true
    }
  }
}
