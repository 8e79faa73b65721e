/// Something that people of a call do together: who takes part, whose it is, and how far its events have come. A value; the events
/// themselves are in the store.
///
///     active ──owner leaves──▶ degraded ──somebody accepts──▶ active
///                                 └──60 s──▶ inactive ◀──ended by its owner, call is over── any
public struct SharedSession: Hashable, Sendable {
  public enum Status: String, Hashable, Sendable, CaseIterable {
    case active
    /// Without an owner for now: it is offered to those who take part, one after the other.
    case degraded
    case inactive
  }

  /// Who is asked to take it over, until when.
  public struct Offer: Hashable, Sendable {
    public var to: PersonID
    public var until: Int64
  }

  public let id: CallUUID
  public let call: CallUUID
  /// Its kind.
  public let experience: String
  public private(set) var status = Status.active
  public private(set) var owner: PersonID?
  /// In the order in which they came; the longest present is the first.
  public private(set) var participants: [PersonID] = []
  public private(set) var lastSeq: Int64 = 0
  /// Everything up to it is in the snapshot.
  public private(set) var snapshotSeq: Int64 = 0
  /// Milliseconds since 1970.
  public let createdAt: Int64
  public private(set) var endedAt: Int64?
  public private(set) var offer: Offer?
  /// When it ends without an owner, on the clock that doesn't jump.
  private var degradedUntil: Int64?
  /// Who was asked in this round.
  private var asked: Set<PersonID> = []
  private let terms: SharedSessionTerms

  public init(
    _ id: CallUUID, of call: CallUUID, experience: String, by person: PersonID,
    terms: SharedSessionTerms = SharedSessionTerms(), at now: CallTime
  ) {
    self.id = id
    self.call = call
    self.experience = experience
    self.terms = terms
    createdAt = now.wall
    owner = person
    participants = [person]
  }

  public var isEnded: Bool { status == .inactive }

  /// When something is over in it, on the clock that doesn't jump.
  public var deadline: Int64? {
    [offer?.until, degradedUntil].compactMap { $0 }.min()
  }

  // MARK: - Events

  /// Gives an event of a participant's its number.
  public mutating func append(by person: PersonID) throws(SharedSessionRefusal) -> Int64 {
    try requireParticipant(person)
    return number()
  }

  private mutating func number() -> Int64 {
    lastSeq += 1
    return lastSeq
  }

  /// The owner keeps how everything stands behind an event.
  public mutating func keepSnapshot(upTo seq: Int64, by person: PersonID) throws(SharedSessionRefusal) {
    try requireOwner(person)
    guard (0...lastSeq).contains(seq) else { throw .beyondLast(lastSeq) }
    guard seq >= snapshotSeq else { throw .staleSnapshot(snapshotSeq) }
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

  /// The owner gives it to another participant.
  public mutating func handOver(to person: PersonID, by owner: PersonID) throws(SharedSessionRefusal)
    -> [SystemEvent]
  {
    try requireOwner(owner)
    guard participants.contains(person) else { throw .notAllowed }
    return person == owner ? [] : [take(person)]
  }

  /// Who was asked takes it over, or doesn't.
  public mutating func answerOffer(
    _ accepts: Bool, by person: PersonID, at now: CallTime
  ) throws(SharedSessionRefusal) -> [SystemEvent] {
    try requireParticipant(person)
    guard offer?.to == person else { throw .notAllowed }
    if accepts { return [take(person)] }
    askNext(at: now)
    return []
  }

  private mutating func take(_ person: PersonID) -> SystemEvent {
    owner = person
    status = .active
    (offer, degradedUntil, asked) = (nil, nil, [])
    return say(.ownerChanged(person))
  }

  /// The longest present who wasn't asked in this round; when all were, another round begins.
  private mutating func askNext(at now: CallTime) {
    if let offer { asked.insert(offer.to) }
    if participants.allSatisfy(asked.contains) { asked = [] }
    offer = participants.first { !asked.contains($0) }.map { Offer(to: $0, until: now.steady + terms.offer) }
  }

  // MARK: - Time and end

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

/// Spans of shared sessions, in milliseconds.
public struct SharedSessionTerms: Hashable, Sendable {
  /// How long one is asked to take it over.
  public var offer: Int64 = 5_000
  /// How long it may have no owner.
  public var ownerless: Int64 = 60_000

  public init() {}
}

/// What the server itself says in a session, numbered among the events of people.
public struct SystemEvent: Hashable, Sendable {
  public enum What: Hashable, Sendable {
    case joined(PersonID)
    case left(PersonID)
    case ownerLeft(PersonID)
    case ownerChanged(PersonID)
    case ended
  }

  public var seq: Int64
  public var what: What

  /// Types that begin so are the server's own.
  public static let prefix = "system."

  public var type: String {
    let name =
      switch what {
      case .joined: "joined"
      case .left: "left"
      case .ownerLeft: "ownerLeft"
      case .ownerChanged: "ownerChanged"
      case .ended: "ended"
      }
    return Self.prefix + name
  }
}

/// Why something of a session isn't done.
public enum SharedSessionRefusal: Error, Hashable, Sendable {
  case notAllowed
  case ended
  /// A snapshot of what hasn't come yet; the number of the last event.
  case beyondLast(Int64)
  /// A newer one is kept already; how far that goes.
  case staleSnapshot(Int64)
}
