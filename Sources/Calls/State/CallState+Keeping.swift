#if PLANTED_DEFECTS
  internal import Model
#endif

/// As calls are written down and read again. Moments on the clock that doesn't jump are written as they are, and beside them how
/// far that clock is from the time of day (`CallTime.offset`): it begins again with each process.
extension CallState: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, caller, path, media, isEncrypted, metadata, people, createdAt, updatedAt, connectedAt, end,
      aloneUntil, heard
  }

  /// What is read goes by the usual terms, until `restored`.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    id = try values.decode(CallUUID.self, forKey: .id)
    caller = try values.decode(PersonID.self, forKey: .caller)
    path = try values.decode(CallPath.self, forKey: .path)
    media = try values.decode(CallMedia.self, forKey: .media)
    isEncrypted = try values.decode(Bool.self, forKey: .isEncrypted)
    metadata = try values.decodeIfPresent(String.self, forKey: .metadata)
    people = try values.decode([CallPerson].self, forKey: .people)
    createdAt = try values.decode(Int64.self, forKey: .createdAt)
    updatedAt = try values.decode(Int64.self, forKey: .updatedAt)
    connectedAt = try values.decodeIfPresent(CallTime.self, forKey: .connectedAt)
    end = try values.decodeIfPresent(CallEnd.self, forKey: .end)
    aloneUntil = try values.decodeIfPresent(Int64.self, forKey: .aloneUntil)
    heard = try values.decodeIfPresent(UInt64.self, forKey: .heard) ?? 0
    terms = CallTerms()
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(id, forKey: .id)
    try values.encode(caller, forKey: .caller)
    try values.encode(path, forKey: .path)
    try values.encode(media, forKey: .media)
    try values.encode(isEncrypted, forKey: .isEncrypted)
    try values.encodeIfPresent(metadata, forKey: .metadata)
    try values.encode(people, forKey: .people)
    try values.encode(createdAt, forKey: .createdAt)
    try values.encode(updatedAt, forKey: .updatedAt)
    try values.encodeIfPresent(connectedAt, forKey: .connectedAt)
    try values.encodeIfPresent(end, forKey: .end)
    try values.encodeIfPresent(aloneUntil, forKey: .aloneUntil)
    if heard > 0 { try values.encode(heard, forKey: .heard) }
  }

  /// As it is read again by the process that wrote it.
  public func read(with terms: CallTerms) -> CallState {
    var call = self
    call.terms = terms
    return call
  }

  /// As it is read by another process: what was to be over at a moment is so at the same one, and what passed meanwhile is over now.
  /// Where the clock was set back nothing takes longer than it ever may.
  /// - Parameter offset: of the process that wrote it.
  public func carried(from offset: Int64, to now: CallTime, terms: CallTerms) -> CallState {
    var call = moved(by: offset &- now.offset)
    call.terms = terms
    // Another process numbers its words from 1.
    call.heard = 0
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.clockBelieved) { return call }
    #endif
    for index in people.indices { call.people[index].status.bound(by: terms, path: path, at: now.steady) }
    call.aloneUntil = call.aloneUntil.map { min($0, now.steady + terms.alone) }
    return call
  }

  private func moved(by span: Int64) -> CallState {
    var call = self
    for index in people.indices { call.people[index].status.move { $0 &+ span } }
    call.aloneUntil = aloneUntil.map { $0 &+ span }
    call.connectedAt?.steady &+= span
    return call
  }
}

extension CallPerson.Status {
  fileprivate mutating func move(_ moment: (Int64) -> Int64) {
    switch self {
    case .invited(var ring):
      ring.until = moment(ring.until)
      self = .invited(ring)
    case .active(var session):
      switch session.media {
      case .awaited(let until): session.media = .awaited(until: moment(until))
      case .gone(let until): session.media = .gone(until: moment(until))
      case .standing: break
      }
      self = .active(session)
    case .left: break
    }
  }

  fileprivate mutating func bound(by terms: CallTerms, path: CallPath, at now: Int64) {
    let span =
      switch self {
      case .invited: terms.ring
      case .active, .left: max(terms.awaited(path), terms.gone(path), terms.restart)
      }
    move { min($0, now + span) }
  }
}
