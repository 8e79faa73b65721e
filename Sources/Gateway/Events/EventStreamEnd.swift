internal import AccessTokens
internal import Rooms

/// Why a stream of events ends, as its last event says.
package enum EventStreamEnd: Equatable, Sendable {
  /// `room.finished` came before it.
  case roomFinished
  case tokenExpired
  /// The token's identity was removed from the room.
  case removed
  /// The token holds, and doesn't allow this.
  case notAllowed
  /// The reader fell behind what is kept of a room, of which this is the present one of the name.
  case eventsGone(roomId: String, oldest: Int, latest: Int, state: String)
  /// The same for a reader of all rooms; `oldest` is the cursor from which it can go on.
  case cursorGone(oldest: String, state: String)
  /// The reader took nothing for too long.
  case tooSlow
  /// Another stream of the same reader has begun, which has as many as it may.
  case replaced
  case serverShutdown

  init(_ refusal: AccessTokenRefusal) {
    switch refusal {
    case .removed: self = .removed
    case .expired: self = .tokenExpired
    default: self = .notAllowed
    }
  }

  /// - Parameter state: where the present is read.
  init(_ error: EventLogError, state: String) {
    switch error {
    case .gone(let room, let oldest, let latest):
      self = .eventsGone(roomId: room.text, oldest: oldest, latest: latest, state: state)
    case .cursorGone(let oldest): self = .cursorGone(oldest: oldest, state: state)
    // The room is over, and so long ago that nothing of it is kept.
    case .unknownRoom, .notACursor: self = .roomFinished
    }
  }

  /// Stable, for programs.
  package var reason: String {
    switch self {
    case .roomFinished: "roomFinished"
    case .tokenExpired: "tokenExpired"
    case .removed: "removed"
    case .notAllowed: "notAllowed"
    case .eventsGone, .cursorGone: "eventsGone"
    case .tooSlow: "tooSlow"
    case .replaced: "replaced"
    case .serverShutdown: "serverShutdown"
    }
  }

  var json: String {
    var members: [String: StrictJSON] = ["reason": .string(reason)]
    switch self {
    case .eventsGone(let room, let oldest, let latest, let state):
      members["roomId"] = .string(room)
      members["oldest"] = .number(Double(oldest))
      members["latest"] = .number(Double(latest))
      members["state"] = .string(state)
    case .cursorGone(let oldest, let state):
      members["oldest"] = .string(oldest)
      members["state"] = .string(state)
    default: break
    }
    return StrictJSON.object(members).text
  }
}
