internal import CallDesk
internal import Calls
internal import Model

/// A call as JSON.
struct CallBody: Encodable {
  struct Left: Encodable {
    let id: String
    let reason: String
    let at: String
  }

  /// What the call is to who reads it, in lists.
  struct Mine: Encodable {
    /// `caller` or `recipient`.
    let role: String
    let outcome: String?
    let joinedAt: String?
    let leftAt: String?
  }

  let id: String
  let room: String?
  /// `active` or `inactive`.
  let status: String
  let outcome: String?
  let path: String
  let media: String
  let e2ee: Bool
  let callerId: String
  let allParticipants: [String]
  let names: [String: String]
  let invitedParticipants: [String]
  let activeParticipants: [String]
  let leftParticipants: [Left]
  let createdAt: String
  let updatedAt: String
  let connectedAt: String?
  let endedAt: String?
  let endedBy: String?
  let durationMs: Int64?
  let metadata: String?
  let mine: Mine?

  /// - Parameter person: who reads it in a list; nil: it isn't one.
  init(_ document: CallDocument, for person: PersonID? = nil) {
    let call = document.state
    id = call.id.text
    room = document.room
    status = call.isEnded ? "inactive" : "active"
    outcome = call.end?.outcome.rawValue
    path = call.path.rawValue
    media = call.media.rawValue
    e2ee = call.isEncrypted
    callerId = call.caller.text
    allParticipants = call.people.map(\.id.text)
    var names: [String: String] = [:]
    for person in call.people {
      names[person.id.text] = document.erased.contains(person.id) ? "deleted" : document.names[person.id]
    }
    self.names = names
    invitedParticipants = call.invited.map(\.text)
    activeParticipants = call.active.map(\.text)
    leftParticipants = call.people.compactMap { person in
      guard case .left(let reason, let moment) = person.status else { return nil }
      return Left(id: person.id.text, reason: reason.rawValue, at: Self.time(moment))
    }
    createdAt = Self.time(call.createdAt)
    updatedAt = Self.time(call.updatedAt)
    connectedAt = call.connectedAt.map { Self.time($0.wall) }
    endedAt = call.end.map { Self.time($0.at) }
    endedBy = call.end?.by?.text
    durationMs = call.end?.duration
    metadata = call.metadata
    mine = person.flatMap { person in
      call[person].map { mine in
        Mine(
          role: person == call.caller ? "caller" : "recipient", outcome: call.outcome(for: person)?.rawValue,
          joinedAt: mine.joinedAt.map(Self.time), leftAt: mine.leftAt.map(Self.time))
      }
    }
  }

  static func time(_ milliseconds: Int64) -> String { WallTime(milliseconds: milliseconds).text }
}
