#if PLANTED_DEFECTS
  internal import Model
#endif

/// Something that people of a call do together: who takes part, whose it is, and how far its events have come. A value; the events
/// themselves are in the store.
///
///     active ──owner leaves──▶ degraded ──offer accepted──▶ active
///                                 └──60 s──▶ inactive ◀──ended by its owner, call is over── any
public struct SharedSession: Hashable, Sendable {
  public enum Status: String, Hashable, Sendable, Codable, CaseIterable {
    case active
    /// Without an owner for now: it is offered to those who take part, one after the other.
    case degraded
    case inactive
  }

  /// Who is asked to take it over, until when.
  public struct Offer: Hashable, Sendable, Codable {
    public var to: PersonID
    public var until: Int64
  }

  public let id: CallUUID
  public let call: CallUUID
  /// Its kind.
  public let experience: String
  public internal(set) var status = Status.active
  public internal(set) var owner: PersonID?
  /// In the order in which they came; the longest present is the first.
  public internal(set) var participants: [PersonID] = []
  /// Everybody who has ever taken part, each once.
  public internal(set) var everyone: [PersonID] = []
  public internal(set) var lastSeq: Int64 = 0
  /// Everything up to it is in the snapshot; nil: there is none.
  public internal(set) var snapshotSeq: Int64?
  /// Of the data of people's events that are kept.
  public internal(set) var eventBytes: Int64 = 0
  /// Milliseconds since 1970.
  public let createdAt: Int64
  public internal(set) var endedAt: Int64?
  public internal(set) var offer: Offer?
  /// When it ends without an owner, on the clock that doesn't jump.
  var degradedUntil: Int64?
  /// Who was asked in this round.
  var asked: Set<PersonID> = []
  var terms: SharedSessionTerms

  /// - Parameter snapshot: it begins with one of an earlier session.
  public init(
    _ id: CallUUID, of call: CallUUID, experience: String, by person: PersonID,
    from snapshot: Bool = false, terms: SharedSessionTerms = SharedSessionTerms(), at now: CallTime
  ) {
    self.id = id
    snapshotSeq = snapshot ? 0 : nil
    self.call = call
    self.experience = experience
    self.terms = terms
    createdAt = now.wall
    owner = person
    participants = [person]
    everyone = [person]
  }

  public var isEnded: Bool { status == .inactive }

  /// When something is over in it, on the clock that doesn't jump.
  public var deadline: Int64? {
    [offer?.until, degradedUntil].compactMap { $0 }.min()
  }

  // MARK: - Events

  /// Gives an event of a participant's its number.
  /// - Parameter bytes: of its data.
  public mutating func append(by person: PersonID, bytes: Int = 0) throws(SharedSessionRefusal) -> Int64 {
    try requireParticipant(person)
    guard lastSeq - (snapshotSeq ?? 0) < terms.events, eventBytes + Int64(bytes) <= terms.eventBytes else {
      throw .full
    }
    eventBytes += Int64(bytes)
    return number()
  }

  /// Events of people have gone.
  /// - Parameter bytes: of their data.
  public mutating func noteGone(_ bytes: Int64) { eventBytes = max(0, eventBytes - bytes) }

  private mutating func number() -> Int64 {
    lastSeq += 1
    return lastSeq
  }

  /// The owner keeps how everything stands behind an event.
  public mutating func keepSnapshot(upTo seq: Int64, by person: PersonID) throws(SharedSessionRefusal) {
    try requireOwner(person)
    guard (0...lastSeq).contains(seq) else { throw .beyondLast(lastSeq) }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.olderSnapshot) {
        snapshotSeq = seq
        return
      }
    #endif
    if let snapshotSeq, seq < snapshotSeq { throw .staleSnapshot(snapshotSeq) }
    snapshotSeq = seq
  }

  private func requireParticipant(_ person: PersonID) throws(SharedSessionRefusal) {
    guard !isEnded else { throw .ended }
    guard participants.contains(person) else { throw .notAllowed }
  }

  private func requireOwner(_ person: PersonID) throws(SharedSessionRefusal) {
    try requireParticipant(person)
    guard owner == person else { throw .notAllowed }
  }

  // MARK: - People

  /// - Returns: what the server says in it, each with its number; empty: the person takes part already.
  public mutating func join(_ person: PersonID, at now: CallTime) throws(SharedSessionRefusal)
    -> [SystemEvent]
  {
    guard !isEnded else { throw .ended }
    guard !participants.contains(person) else { return [] }
    participants.append(person)
    if !everyone.contains(person) { everyone.append(person) }
    let events = [say(.joined(person))]
    if owner == nil, offer == nil { askNext(at: now) }
    return events
  }

  /// - Returns: likewise; empty: the person takes no part.
  public mutating func leave(_ person: PersonID, at now: CallTime) -> [SystemEvent] {
    guard !isEnded, let place = participants.firstIndex(of: person) else { return [] }
    participants.remove(at: place)
    var events = [say(.left(person))]
    if owner == person {
      owner = nil
      status = .degraded
      degradedUntil = now.steady + terms.ownerless
      asked = []
      events.append(say(.ownerLeft(person)))
      askNext(at: now)
    } else if offer?.to == person {
      askNext(at: now)
    }
    return events
  }

  /// The owner gives it to another participant. Asked again, it is done already.
  public mutating func handOver(to person: PersonID, by owner: PersonID) throws(SharedSessionRefusal)
    -> [SystemEvent]
  {
    try requireParticipant(owner)
    if self.owner == person { return [] }
    try requireOwner(owner)
    guard participants.contains(person) else { throw .notAllowed }
    return [take(person)]
  }

  /// Who was asked takes it over, or doesn't. Asked again, it is done already.
  public mutating func answerOffer(
    _ accepts: Bool, by person: PersonID, at now: CallTime
  ) throws(SharedSessionRefusal) -> [SystemEvent] {
    try requireParticipant(person)
    guard offer?.to == person else {
      if accepts, owner != person { throw .notAllowed }
      return []
    }
    if accepts { return [take(person)] }
    // One who is alone isn't asked again at once.
    if participants.count > 1 { askNext(at: now) }
    return []
  }

  private mutating func take(_ person: PersonID) -> SystemEvent {
    owner = person
    status = .active
    (offer, degradedUntil, asked) = (nil, nil, [])
    return say(.ownerChanged(person))
  }

  /// The longest present who wasn't asked in this round; when all were, another round begins.
  mutating func askNext(at now: CallTime) {
    if let offer { asked.insert(offer.to) }
    if participants.allSatisfy(asked.contains) { asked = [] }
    offer = participants.first { !asked.contains($0) }.map { Offer(to: $0, until: now.steady + terms.offer) }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.latestAsked) {
        offer = participants.last.map { Offer(to: $0, until: now.steady + terms.offer) }
      }
    #endif
  }

  // MARK: - Time and end

  /// - Returns: what the server says in it; the offer may be another's then.
  public mutating func advance(to now: CallTime) -> [SystemEvent] {
    guard !isEnded else { return [] }
    if let degradedUntil, degradedUntil <= now.steady { return [finish(at: now)] }
    if let offer, offer.until <= now.steady { askNext(at: now) }
    return []
  }

  /// The owner ends it.
  public mutating func end(by person: PersonID, at now: CallTime) throws(SharedSessionRefusal)
    -> [SystemEvent]
  {
    try requireOwner(person)
    return [finish(at: now)]
  }

  /// Its call is over.
  public mutating func callEnded(at now: CallTime) -> [SystemEvent] { isEnded ? [] : [finish(at: now)] }

  private mutating func finish(at now: CallTime) -> SystemEvent {
    let event = say(.ended)
    status = .inactive
    endedAt = now.wall
    (owner, offer, degradedUntil, asked) = (nil, nil, nil, [])
    return event
  }

  private mutating func say(_ what: SystemEvent.What) -> SystemEvent {
    SystemEvent(seq: number(), what: what)
  }
}
