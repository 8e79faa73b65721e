internal import CallDesk
internal import Calls
internal import Model

/// A call as JSON.
struct CallBody: Encodable {
  private enum CodingKeys: String, CodingKey {
    case id, room, status, outcome, path, media, e2ee, callerId, allParticipants, names, invitedParticipants,
      activeParticipants, leftParticipants, createdAt, updatedAt, connectedAt, endedAt, endedBy, durationMs,
      metadata,
      mine
  }

  private struct Left: Encodable {
    let id: String
    let reason: String
    let at: String
  }

  /// What the call is to who reads it.
  private struct Mine: Encodable {
    /// `caller` or `recipient`.
    let role: String
    let outcome: String?
    let joinedAt: String?
    let leftAt: String?
  }

  private let document: CallDocument
  private let person: PersonID?

  /// - Parameter person: who reads it, for `mine`; nil: it is left out.
  init(_ document: CallDocument, for person: PersonID? = nil) {
    self.document = document
    self.person = person
  }

  func encode(to encoder: any Encoder) throws {
    let call = document.state
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(call.id.text, forKey: .id)
    try values.encodeIfPresent(document.room, forKey: .room)
    try values.encode(call.isEnded ? "inactive" : "active", forKey: .status)
    try values.encode(call.end?.outcome.rawValue, forKey: .outcome)
    try values.encode(call.path.rawValue, forKey: .path)
    try values.encode(call.media.rawValue, forKey: .media)
    try values.encode(call.isEncrypted, forKey: .e2ee)
    try values.encode(call.caller.text, forKey: .callerId)
    try values.encode(call.people.map(\.id.text), forKey: .allParticipants)
    try values.encode(names, forKey: .names)
    try values.encode(call.invited.map(\.text), forKey: .invitedParticipants)
    try values.encode(call.active.map(\.text), forKey: .activeParticipants)
    try values.encode(left, forKey: .leftParticipants)
    try values.encode(Self.time(call.createdAt), forKey: .createdAt)
    try values.encode(Self.time(call.updatedAt), forKey: .updatedAt)
    try values.encodeIfPresent(call.connectedAt.map { Self.time($0.wall) }, forKey: .connectedAt)
    try values.encodeIfPresent(call.end.map { Self.time($0.at) }, forKey: .endedAt)
    try values.encodeIfPresent(call.end?.by?.text, forKey: .endedBy)
    try values.encodeIfPresent(call.end?.duration, forKey: .durationMs)
    try values.encodeIfPresent(call.metadata, forKey: .metadata)
    try values.encodeIfPresent(mine, forKey: .mine)
  }

  private var names: [String: String] {
    var names: [String: String] = [:]
    for person in document.state.people {
      names[person.id.text] = document.erased.contains(person.id) ? "deleted" : document.names[person.id]
    }
    return names
  }

  private var left: [Left] {
    document.state.people.compactMap { person in
      guard case .left(let reason, let moment) = person.status else { return nil }
      return Left(id: person.id.text, reason: reason.rawValue, at: Self.time(moment))
    }
  }

  private var mine: Mine? {
    guard let person, let mine = document.state[person] else { return nil }
    return Mine(
      role: person == document.state.caller ? "caller" : "recipient",
      outcome: document.state.outcome(for: person)?.rawValue, joinedAt: mine.joinedAt.map(Self.time),
      leftAt: mine.leftAt.map(Self.time))
  }

  /// RFC 3339, in UTC, with milliseconds.
  static func time(_ milliseconds: Int64) -> String { WallTime(milliseconds: milliseconds).text }
}
