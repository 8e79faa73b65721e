/// All calls that aren't over, and who is in which: what is decided over several calls at once is decided here.
///
/// A value: it has no clock, no store and no sockets. What it answers names each call that has changed and what is to be done for it.
public struct CallBook: Sendable {
  public struct Terms: Hashable, Sendable {
    public var call = CallTerms()
    /// Starts of one person in a minute.
    public var starts = 10
    /// Rings from one person to the same other in a minute.
    public var rings = 3
    /// One who is in a call is rung all the same.
    public var ringsBusy = false

    public init() {}
  }

  /// What came of a request.
  public struct Answer: Sendable {
    /// The call that it was about, or that it led to.
    public var call: CallUUID
    /// Calls that have changed, with what is to be done for each, in this order.
    public var changes: [(call: CallUUID, effects: [CallEffect])] = []
    /// The other one has called at the same time: this one joined that call.
    public var isMerged = false
    /// Why what was asked for isn't done; nil: it is. Time may have passed for the call all the same.
    public var refusal: CallRefusal?
  }

  public enum Refusal: Error, Hashable, Sendable {
    case call(CallRefusal)
    /// The id was given to another call.
    case idTaken
    /// In how many milliseconds it may be done.
    case tooOften(Int64)
  }

  private static let minute: Int64 = 60_000

  public let terms: Terms
  public private(set) var calls: [CallUUID: CallState] = [:]
  /// Calls of which somebody is, while they aren't over.
  private var callsOf: [PersonID: Set<CallUUID>] = [:]
  private var starts: [PersonID: RateWindow] = [:]
  private var rings: [Pair: RateWindow] = [:]
  private var sweptAt: Int64 = 0

  private struct Pair: Hashable, Sendable {
    var from: PersonID
    var to: PersonID
  }

  public init(terms: Terms = Terms()) { self.terms = terms }

  /// Takes in one that was written down.
  public mutating func restore(_ call: CallState) { keep(call) }

  // MARK: - What is known

  /// Those of a person that aren't over, in the order in which they began.
  public func calls(of person: PersonID) -> [CallState] {
    (callsOf[person] ?? []).compactMap { calls[$0] }.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }

  public func isInCall(_ person: PersonID, beside call: CallUUID? = nil) -> Bool {
    (callsOf[person] ?? []).contains { $0 != call && calls[$0]?[person]?.session != nil }
  }

  /// When something is over in one of them, on the clock that doesn't jump.
  public var deadline: Int64? { calls.values.compactMap(\.deadline).min() }

  // MARK: - Start

  public struct Start: Hashable, Sendable {
    public var id: CallUUID
    public var caller: PersonID
    public var device: DeviceID
    public var session: CallUUID
    /// As they were named; with an id for the ring of each.
    public var recipients: [CallInvitation]
    public var media: CallMedia
    public var isEncrypted: Bool

    public init(
      id: CallUUID, caller: PersonID, device: DeviceID, session: CallUUID, recipients: [CallInvitation],
      media: CallMedia, isEncrypted: Bool = false
    ) {
      self.id = id
      self.caller = caller
      self.device = device
      self.session = session
      self.recipients = recipients
      self.media = media
      self.isEncrypted = isEncrypted
    }
  }

  /// Begins a call, or joins the one by which the only recipient rings the caller at this moment.
  public mutating func start(_ wanted: Start, at now: CallTime) throws(Refusal) -> Answer {
    guard calls[wanted.id] == nil else { throw .idTaken }
    var wanted = wanted
    var seen: Set<PersonID> = [wanted.caller]
    wanted.recipients = wanted.recipients.filter { seen.insert($0.person).inserted }
    guard !wanted.recipients.isEmpty else { throw .call(.noRecipients) }
    sweep(at: now.steady)
    if let wait = starts[wanted.caller, default: RateWindow()].take(
      most: terms.starts, span: Self.minute, at: now.steady)
    {
      throw .tooOften(wait)
    }
    if let mirror = mirror(of: wanted, at: now) {
      return try join(mirror, wanted, at: now)
    }
    try ring(wanted.recipients, from: wanted.caller, at: now)
    do throws(CallRefusal) {
      let (call, effects) = try CallState.start(
        wanted.id, by: wanted.caller, wanted.device, session: wanted.session,
        recipients: marked(wanted.recipients, beside: wanted.id), media: wanted.media,
        isEncrypted: wanted.isEncrypted, terms: terms.call, at: now)
      keep(call)
      return Answer(call: wanted.id, changes: [(wanted.id, effects)])
    } catch { throw .call(error) }
  }

  /// The call of the only recipient to the caller alone, while it rings there.
  private func mirror(of wanted: Start, at now: CallTime) -> CallUUID? {
    guard wanted.recipients.count == 1, let other = wanted.recipients.first?.person else { return nil }
    return calls(of: wanted.caller).first {
      guard let ring = $0[wanted.caller]?.ring, !ring.isSilent, ring.until > now.steady else { return false }
      return $0.caller == other && $0.people.count == 2 && $0[other]?.session != nil
    }?.id
  }

  private mutating func join(_ mirror: CallUUID, _ wanted: Start, at now: CallTime) throws(Refusal) -> Answer
  {
    var answer = try apply(
      .join(wanted.caller, wanted.device, session: wanted.session, takeover: false), to: mirror, at: now)
    answer.isMerged = true
    return answer
  }

  // MARK: - Later

  /// Has something happen to a call. What only its people may do is refused to others as if there were no such call.
  /// - Throws: what is refused before the call is asked.
  public mutating func apply(_ event: CallEvent, to id: CallUUID, at now: CallTime) throws(Refusal) -> Answer
  {
    guard var call = calls.removeValue(forKey: id) else { throw .call(.unknown) }
    var event = event
    if case .invite(let person, let others) = event {
      do throws(Refusal) { try ring(others, from: person, at: now) } catch {
        calls[id] = call
        throw error
      }
      event = .invite(by: person, marked(others, beside: id))
    }
    let (effects, refusal) = call.apply(event, at: now)
    keep(call)
    return Answer(call: id, changes: effects.isEmpty ? [] : [(id, effects)], refusal: refusal)
  }

  /// What is over by now.
  public mutating func advance(to now: CallTime) -> [(call: CallUUID, effects: [CallEffect])] {
    var changes: [(call: CallUUID, effects: [CallEffect])] = []
    for (id, call) in calls.sorted(by: { $0.key < $1.key }) {
      guard let deadline = call.deadline, deadline <= now.steady else { continue }
      var call = call
      let (effects, _) = call.apply(.time, at: now)
      keep(call)
      if !effects.isEmpty { changes.append((id, effects)) }
    }
    return changes
  }

  // MARK: - Keeping

  private mutating func keep(_ call: CallState) {
    for person in call.people {
      if call.isEnded {
        callsOf[person.id]?.remove(call.id)
        if callsOf[person.id]?.isEmpty ?? false { callsOf[person.id] = nil }
      } else {
        callsOf[person.id, default: []].insert(call.id)
      }
    }
    calls[call.id] = call.isEnded ? nil : call
  }

  /// Who is in another call isn't rung, or is rung all the same where that is configured.
  private func marked(_ invitations: [CallInvitation], beside call: CallUUID) -> [CallInvitation] {
    invitations.map { invitation in
      var marked = invitation
      let isBusy = isInCall(invitation.person, beside: call)
      (marked.isBusy, marked.ringsBusy) = (isBusy && !terms.ringsBusy, isBusy && terms.ringsBusy)
      return marked
    }
  }

  private mutating func ring(
    _ invitations: [CallInvitation], from person: PersonID, at now: CallTime
  ) throws(Refusal) {
    for invitation in invitations {
      let pair = Pair(from: person, to: invitation.person)
      if let wait = rings[pair, default: RateWindow()].take(
        most: terms.rings, span: Self.minute, at: now.steady)
      {
        throw .tooOften(wait)
      }
    }
  }

  /// Windows in which nothing has happened lately, once a minute.
  private mutating func sweep(at now: Int64) {
    guard now - sweptAt >= Self.minute else { return }
    sweptAt = now
    starts = starts.filter { !$0.value.isIdle(span: Self.minute, at: now) }
    rings = rings.filter { !$0.value.isIdle(span: Self.minute, at: now) }
  }
}
