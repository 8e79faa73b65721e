/// What happens in rooms, as the log of events and the protocols name it.
public enum RoomEventKind: String, Sendable, CaseIterable {
  case roomStarted = "room.started"
  case roomFinished = "room.finished"
  case roomUpdated = "room.updated"
  case participantJoined = "participant.joined"
  case participantLeft = "participant.left"
  case participantUpdated = "participant.updated"
  /// Nothing has come on its way of media for a while; it may come back, or be left.
  case participantReconnecting = "participant.reconnecting"
  case participantReconnected = "participant.reconnected"
  /// A session waits to be let in, or no longer does. Those who are in the room hear of it only as its hosts.
  case participantWaiting = "participant.waiting"
  case waitingEnded = "waiting.ended"
  case trackPublished = "track.published"
  case trackUnpublished = "track.unpublished"
  case trackMuted = "track.muted"
  case trackUnmuted = "track.unmuted"
  /// From here on the room is recorded, or recorded once more.
  case roomRecording = "room.recording"
  case recordingEnded = "recording.ended"
  /// A host of the room has looked at a picture of the track.
  case thumbnailTaken = "thumbnail.taken"
  /// Of the call that the room is of, or of one that has no room.
  case callStarted = "call.started"
  case callAnswered = "call.answered"
  case callEnded = "call.ended"
  case sessionStarted = "session.started"
  case sessionEnded = "session.ended"

  /// Whether it is for those who run the room alone: who waits at a room's door is no one else's business.
  public var isForHosts: Bool { self == .participantWaiting || self == .waitingEnded }
}
