/// Why a request was not done; the session goes on as before.
public enum RequestError: Error, Equatable, Sendable, CustomStringConvertible {
  /// No such track in the room, or none that this participant may name here.
  case unknownTrack
  /// No section of that name that could play the track.
  case unknownSlot
  /// The token doesn't allow it.
  case notAllowed(String)
  /// An administrator's mute stands, which its publisher can't lift.
  case mutedByAdmin
  case tooOften
  /// As many as there may be.
  case limit(Int)
  case tooLarge(String)
  /// More metadata and attributes than the participant may have in the room now.
  case stateTooLarge(StateExcess)
  /// There is none of that id, or no longer.
  case unknownParticipant
  /// Who was to be let in can't come in.
  case joining(JoinError)
  /// Who was refused is out, but as many removals are remembered as can be: it may come again by its token.
  case unremembered
  /// It is done, and is to be written down, which could not be done in time: a crash may undo it.
  case notStored
  /// The session ended meanwhile.
  case gone

  public var description: String {
    switch self {
    case .unknownTrack: "no such track"
    case .unknownSlot: "no receive section with that mid takes this kind of track"
    case .notAllowed(let what): "the token doesn't allow \(what)"
    case .mutedByAdmin: "the track stays muted until an administrator lifts the mute"
    case .tooOften: "too many requests; wait a moment"
    case .limit(let limit): "at most \(limit) are allowed"
    case .tooLarge(let what): "\(what) is too large"
    case .unremembered:
      "refused, but the server remembers as many removals as it can: it may come again; try it again later"
    case .stateTooLarge(let excess): excess.description
    case .unknownParticipant: "no such participant, or none that waits"
    case .joining: "it can't come in"
    case .notStored: "it is done, but could not be stored yet; a crash of the server may undo it"
    case .gone: "the session is over; join again"
    }
  }
}

extension RequestError {
  init(_ excess: StateExcess) {
    switch excess {
    case .part(let part): self = .tooLarge(part)
    case .whole, .crowded: self = .stateTooLarge(excess)
    }
  }
}
