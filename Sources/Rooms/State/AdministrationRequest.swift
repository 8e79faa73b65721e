/// What those who run the room ask of it.
enum AdministrationRequest: Sendable {
  case change(RoomPatch)
  case changeParticipant(String, ParticipantPatch)
  case remove(String)
  case mute(track: String, of: String, Bool)
  case send(DataMessage, to: [String]?)
}
