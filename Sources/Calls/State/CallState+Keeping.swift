extension CallState {
  /// As it is written down: its moments on the clock that doesn't jump are on the wall's, since the other one begins with each process.
  public func kept(at now: CallTime) -> CallState { moved(by: now.wall - now.steady) }

  /// As it is read again: what was to be over at a moment is so at the same one, and what passed meanwhile is over now.
  public func restored(at now: CallTime, terms: CallTerms) -> CallState {
    var call = moved(by: now.steady - now.wall)
    call.terms = terms
    return call
  }

  private func moved(by span: Int64) -> CallState {
    var call = self
    for index in people.indices { call.people[index].status.move(by: span) }
    call.aloneUntil = aloneUntil.map { $0 + span }
    call.connectedAt?.steady += span
    return call
  }
}

extension CallPerson.Status {
  fileprivate mutating func move(by span: Int64) {
    switch self {
    case .invited(var ring):
      ring.until += span
      self = .invited(ring)
    case .active(var session):
      switch session.media {
      case .awaited(let until): session.media = .awaited(until: until + span)
      case .gone(let until): session.media = .gone(until: until + span)
      case .standing: break
      }
      self = .active(session)
    case .left: break
    }
  }
}
