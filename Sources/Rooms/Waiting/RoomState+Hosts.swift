internal import AccessTokens
internal import Model

/// Hands, and what hosts say of those who are in and of those who wait.
extension RoomState {
  /// That a hand goes up or down, of which everybody hears: two a second, ten at once.
  private static let handPrice = 10.0

  /// - Parameter other: whose hand a host lowers, by its id; nil: one's own.
  mutating func raiseHand(_ isRaised: Bool, of other: String?, by id: ParticipantID) throws(RequestError) {
    let member = try asking(id, price: Self.handPrice)
    guard let other, other != id.text else {
      guard !members[member].grants.hidden else { throw .notAllowed("this (the participant is hidden)") }
      return try setHand(isRaised, of: member, for: member)
    }
    guard members[member].isHost else { throw .notAllowed("this (roomAdmin)") }
    guard !isRaised else { throw .notAllowed("raising another's hand") }
    guard let target = members.firstIndex(where: { $0.id.text == other && !$0.grants.hidden }) else {
      throw .unknownParticipant
    }
    try setHand(false, of: target, for: member)
  }

  private mutating func setHand(
    _ isRaised: Bool, of member: Int, for payer: Int
  ) throws(RequestError) {
    guard isRaised != (members[member].floor.handRaised != nil) else { return }
    // What everybody is about to be sent of the participant.
    let cost = members[member].eventCost
    guard spend(payer, { $0.requests.take(upTo: cost, now: $1) }) else { throw .tooOften }
    members[member].floor.handRaised = isRaised ? wallTime : nil
    record(.participantUpdated, of: member)
  }

  /// A host lets one in that waits, or refuses it.
  /// - Parameter waiting: its id.
  mutating func decide(_ waiting: String, isAllowed: Bool, by id: ParticipantID) throws(RequestError) {
    let member = try asking(id)
    guard members[member].isHost else { throw .notAllowed("this (roomAdmin)") }
    guard let index = self.waiting.firstIndex(where: { $0.id.text == waiting }) else {
      throw .unknownParticipant
    }
    if isAllowed {
      // Its answer comes with the place.
      do throws(JoinError) { try letIn(index, .host) } catch { throw .joining(error) }
    } else {
      turnAway(index, .host)
    }
  }

  /// Those who get the events that are for hosts.
  var hosts: [ParticipantID] { members.filter(\.isHost).map(\.id) }
}
