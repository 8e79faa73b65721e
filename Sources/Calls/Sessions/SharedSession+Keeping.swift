/// As sessions are written down and read again, like calls.
extension SharedSession: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, call, experience, status, owner, participants, everyone, lastSeq, snapshotSeq, eventBytes,
      createdAt,
      endedAt, offer,
      degradedUntil, asked
  }

  /// What is read goes by the usual terms, until `read` or `carried`.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    id = try values.decode(CallUUID.self, forKey: .id)
    call = try values.decode(CallUUID.self, forKey: .call)
    experience = try values.decode(String.self, forKey: .experience)
    status = try values.decode(Status.self, forKey: .status)
    owner = try values.decodeIfPresent(PersonID.self, forKey: .owner)
    participants = try values.decode([PersonID].self, forKey: .participants)
    everyone = try values.decode([PersonID].self, forKey: .everyone)
    lastSeq = try values.decode(Int64.self, forKey: .lastSeq)
    snapshotSeq = try values.decodeIfPresent(Int64.self, forKey: .snapshotSeq)
    eventBytes = try values.decodeIfPresent(Int64.self, forKey: .eventBytes) ?? 0
    createdAt = try values.decode(Int64.self, forKey: .createdAt)
    endedAt = try values.decodeIfPresent(Int64.self, forKey: .endedAt)
    offer = try values.decodeIfPresent(Offer.self, forKey: .offer)
    degradedUntil = try values.decodeIfPresent(Int64.self, forKey: .degradedUntil)
    asked = try values.decode(Set<PersonID>.self, forKey: .asked)
    terms = SharedSessionTerms()
    guard hasSoundNumbers else {
      throw DecodingError.dataCorruptedError(
        forKey: .lastSeq, in: values, debugDescription: "numbers that no session comes to")
    }
  }

  /// A row of the database may say anything; what is counted on from there has to stay a number.
  private var hasSoundNumbers: Bool {
    let most: Int64 = 1 << 53
    return (0..<most).contains(lastSeq) && (0...lastSeq).contains(snapshotSeq ?? 0)
      && (0..<most).contains(eventBytes)
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(id, forKey: .id)
    try values.encode(call, forKey: .call)
    try values.encode(experience, forKey: .experience)
    try values.encode(status, forKey: .status)
    try values.encodeIfPresent(owner, forKey: .owner)
    try values.encode(participants, forKey: .participants)
    try values.encode(everyone, forKey: .everyone)
    try values.encode(lastSeq, forKey: .lastSeq)
    try values.encodeIfPresent(snapshotSeq, forKey: .snapshotSeq)
    try values.encode(eventBytes, forKey: .eventBytes)
    try values.encode(createdAt, forKey: .createdAt)
    try values.encodeIfPresent(endedAt, forKey: .endedAt)
    try values.encodeIfPresent(offer, forKey: .offer)
    try values.encodeIfPresent(degradedUntil, forKey: .degradedUntil)
    try values.encode(asked.sorted(), forKey: .asked)
  }

  /// As it is read again by the process that wrote it.
  public func read(with terms: SharedSessionTerms) -> SharedSession {
    var session = self
    session.terms = terms
    return session
  }

  /// As it is read by another process: an offer, and the time without an owner, go on to the same moment.
  /// - Parameter offset: of the process that wrote it.
  public func carried(from offset: Int64, to now: CallTime, terms: SharedSessionTerms) -> SharedSession {
    var session = read(with: terms)
    let span = offset &- now.offset
    if let until = offer?.until { session.offer?.until = min(until &+ span, now.steady + terms.offer) }
    session.degradedUntil = degradedUntil.map { min($0 &+ span, now.steady + terms.ownerless) }
    return session
  }
}
