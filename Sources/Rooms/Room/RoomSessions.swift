/// Who is in a room, as the effects of its state have it so far: in the order in which they came, and each by its id, since an
/// input may concern every one.
struct RoomSessions: Sendable {
  private(set) var inOrder: [ParticipantSession] = []
  private var byID: [ParticipantID: ParticipantSession] = [:]

  subscript(id: ParticipantID) -> ParticipantSession? { byID[id] }

  mutating func insert(_ session: ParticipantSession) {
    inOrder.append(session)
    byID[session.id] = session
  }

  /// - Returns: nil: it is out already.
  mutating func remove(_ id: ParticipantID) -> ParticipantSession? {
    guard let session = byID.removeValue(forKey: id) else { return nil }
    inOrder.removeAll { $0.id == id }
    return session
  }
}
