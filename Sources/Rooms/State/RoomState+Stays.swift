internal import AccessTokens
internal import Model

/// What those who oversee the room know its participants by.
extension RoomState {
  /// A participant is there by that stay. What of it came by another is of before, and ends; and so does all of it, where the stay is
  /// over by now.
  mutating func note(_ stay: String, of id: ParticipantID, by arrival: Arrival) {
    guard let member = member(id), isThere(arrival, member) else { return }
    if let known = members[member].stay.id, known != stay { endAll(but: arrival, of: member) }
    if let reason = members[member].stay.begin(stay) { end(member, reason: reason) }
  }

  /// Another may have followed it meanwhile.
  private func isThere(_ arrival: Arrival, _ member: Int) -> Bool {
    if case .session(let number) = arrival { return members[member].session == number }
    return members[member].transports.contains(where: arrival.isOf)
  }

  private mutating func endAll(but arrival: Arrival, of member: Int) {
    for transport in members[member].transports
    where transport.standalone != nil && !arrival.isOf(transport) {
      if let place = place(of: transport.id, of: member) { close(place) }
    }
    guard case .standalone = arrival, members[member].session != nil else { return }
    endSession(member, reason: .movedElsewhere)
  }
}
