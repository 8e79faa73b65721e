/// Why something that was asked for from outside the room was not done.
public enum AdministrationError: Error, Equatable, Sendable {
  case unknownRoom
  case unknownParticipant
  case unknownTrack
  /// Who was to be let in can't come in.
  case joining(JoinError)
  case unknownInvitation
  case tooLarge(String)
  /// More metadata and attributes than the participant may have in the room now.
  case stateTooLarge(StateExcess)
  /// The server is about to stop.
  case draining
  /// As many as there may be: of what, and how many.
  case full(String)
  /// It was asked for a moment ago, or too much of the kind is under way.
  case tooOften
  /// It holds, and is to be written down, which could not be done in time: a crash may undo it.
  case notStored
  /// A field is more than the server allows: which, and the bound.
  case aboveLimit(String, Int)
  /// The server has no directory in which recordings would be written.
  case recordingOff
  case unknownRecording
  /// It is still being written.
  case recordingActive
  /// Less space is free on the disk than has to stay free.
  case noSpace
  /// The disk doesn't answer in time; what was asked for may still be done.
  case diskSlow
  /// No picture of the track is shown to those who run the room: why.
  case noThumbnail(String)
  /// What was waited for didn't come in time.
  case late
  /// Files can't be removed: why.
  case notErased(String)
}

extension AdministrationError {
  init(_ excess: StateExcess) {
    switch excess {
    case .part(let part): self = .tooLarge(part)
    case .whole, .crowded: self = .stateTooLarge(excess)
    }
  }
}
