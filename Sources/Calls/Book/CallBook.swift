#if PLANTED_DEFECTS
  internal import Model
#endif

/// Calls that have to do with each other, as far as one request or one moment is about them: what is decided over several at once
/// is decided here.
///
/// A value for the length of one transaction: it is given the calls as they stand, and says which have changed and what is to be done
/// for each. It has no clock and no store.
public struct CallBook: Sendable {
  public struct Terms: Hashable, Sendable {
    public var call = CallTerms()
    /// Calls that one person may be in at a time, by having started or joined them.
    public var calls = 32
    /// One who is in a call is rung all the same.
    public var ringsBusy = false

    public init() {}
  }

  /// A call that has changed.
  public struct Change: Hashable, Sendable {
    /// nil: it has begun.
    public var before: CallState?
    public var after: CallState
    /// What is to be done, in this order; empty: nothing of it concerns anybody yet.
    public var effects: [CallEffect]

    public init(before: CallState?, after: CallState, effects: [CallEffect]) {
      self.before = before
      self.after = after
      self.effects = effects
    }
  }

  /// Something of a call that was said before now and may not be written down yet.
  public struct Word: Hashable, Sendable {
    public var call: CallUUID
    public var event: CallEvent
    /// Among all words of the process, from 1.
    public var number: UInt64
    /// When it was said.
    public var at: CallTime

    public init(of call: CallUUID, _ event: CallEvent, number: UInt64, at moment: CallTime) {
      self.call = call
      self.event = event
      self.number = number
      at = moment
    }
  }

  public enum Refusal: Error, Hashable, Sendable {
    case call(CallRefusal)
    /// In how many milliseconds it may be done.
    case tooOften(Int64)
  }

  public let terms: Terms
  private var calls: [CallUUID: CallState] = [:]
  /// In the order in which it happened; a call may be there more than once.
  public private(set) var changes: [Change] = []
  /// What it has counted of who calls and rings.
  public private(set) var counted: [CallRates.Count] = []

  /// - Parameters:
  ///   - calls: the call that the request names, of each person that is to be rung one that it is in, and those by which such a person
  ///     may be ringing the caller.
  ///   - words: what was said of them before, in order: it takes effect at the time at which it was said, and time goes on from there.
  ///   - now: what is over by then is so first, and stands among the changes.
  public init(_ calls: [CallState], hearing words: [Word] = [], terms: Terms = Terms(), at now: CallTime) {
    self.terms = terms
    for call in calls { self.calls[call.id] = call }
    for word in words { hear(word, at: now) }
    for id in self.calls.keys.sorted() { _ = perform(.time, on: id, at: now) }
  }

  public subscript(_ id: CallUUID) -> CallState? { calls[id] }

  /// Those of a person that aren't over, in the order in which they began.
  private func calls(of person: PersonID) -> [CallState] {
    calls.values.filter { !$0.isEnded && $0.isOpen(to: person) }
      .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }

  private func isInCall(_ person: PersonID, beside call: CallUUID) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.busyRung) { return false }
    #endif
    return calls.values.contains { $0.id != call && $0[person]?.session != nil }
  }

  // MARK: - Start

  /// Begins a call, or joins the one by which the only recipient rings the caller at this moment.
  /// - Returns: the call that it has led to; another than wanted: the caller has joined that one.
  public mutating func start(
    _ wanted: CallState.Start, rates: inout CallRates, at now: CallTime
  ) throws(Refusal) -> CallUUID {
    var wanted = wanted
    wanted.recipients = marked(
      CallInvitation.each(wanted.recipients, without: wanted.caller), beside: wanted.id)
    guard !wanted.recipients.isEmpty else { throw .call(.noRecipients) }
    guard wanted.recipients.count < terms.call.people else {
      throw .call(.tooManyPeople(most: terms.call.people))
    }
    if let mirror = mirror(of: wanted, at: now) {
      try count(CallRates.Count(person: wanted.caller, isStart: true, rung: [], at: now.steady), in: &rates)
      let refusal = perform(
        .join(wanted.caller, wanted.device, session: wanted.session, takeover: false), on: mirror, at: now)
      if let refusal { throw .call(refusal) }
      return mirror
    }
    let rung = wanted.recipients.filter { !$0.isBusy || $0.isSilent }.map(\.person)
    try count(CallRates.Count(person: wanted.caller, isStart: true, rung: rung, at: now.steady), in: &rates)
    do throws(CallRefusal) {
      let (call, effects) = try CallState.start(wanted, terms: terms.call, at: now)
      calls[call.id] = call
      changes.append(Change(before: nil, after: call, effects: effects))
      return call.id
    } catch { throw .call(error) }
  }

  /// The call of the only recipient to the caller alone, while it rings there, by the same way and as secret.
  private func mirror(of wanted: CallState.Start, at now: CallTime) -> CallUUID? {
    guard wanted.recipients.count == 1, let other = wanted.recipients.first?.person else { return nil }
    return calls(of: wanted.caller).first {
      guard let ring = $0[wanted.caller]?.ring, !ring.isSilent, ring.until > now.steady else { return false }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.mergedWithMany) { return ring.from == other }
      #endif
      return ring.from == other && $0.people.count == 2 && $0[other]?.session != nil
        && $0.isEncrypted == wanted.isEncrypted && $0.path == wanted.path
    }?.id
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

  // MARK: - Later

  /// Has something happen to a call. What only its people may do is refused to others as if there were no such call.
  public mutating func apply(
    _ event: CallEvent, to id: CallUUID, rates: inout CallRates, at now: CallTime
  ) throws(Refusal) {
    var event = event
    if case .invite(let person, let others) = event {
      event = .invite(by: person, try invitations(others, by: person, to: id, rates: &rates, at: now))
    }
    if let refusal = perform(event, on: id, at: now) { throw .call(refusal) }
  }

  /// As they are made. Who is rung is counted, or is busy, which the people of the call hear as well; and only if all of it is done.
  private mutating func invitations(
    _ others: [CallInvitation], by person: PersonID, to id: CallUUID, rates: inout CallRates, at now: CallTime
  ) throws(Refusal) -> [CallInvitation] {
    guard let call = calls[id] else { throw .call(.unknown) }
    let new: [CallInvitation]
    do throws(CallRefusal) { new = marked(try call.invitable(others, by: person), beside: id) } catch {
      throw .call(error)
    }
    let changed = new.filter { call.canInvite($0.person, unheard: $0.isUnheard) }.map(\.person)
    try count(CallRates.Count(person: person, isStart: false, rung: changed, at: now.steady), in: &rates)
    return new
  }

  private mutating func count(_ count: CallRates.Count, in rates: inout CallRates) throws(Refusal) {
    if let wait = rates.take(count) { throw .tooOften(wait) }
    counted.append(count)
  }

  private mutating func perform(_ event: CallEvent, on id: CallUUID, at now: CallTime) -> CallRefusal? {
    guard let before = calls[id] else { return .unknown }
    var call = before
    let (effects, refusal) = call.apply(event, at: now)
    note(call, effects, insteadOf: before)
    return refusal
  }

  private mutating func hear(_ word: Word, at now: CallTime) {
    guard let before = calls[word.call] else { return }
    var call = before
    // It may have been said a moment behind now.
    let effects = call.hear(word.event, number: word.number, at: word.at.steady < now.steady ? word.at : now)
    note(call, effects, insteadOf: before)
  }

  private mutating func note(_ call: CallState, _ effects: [CallEffect], insteadOf before: CallState) {
    guard call != before else { return }
    calls[call.id] = call
    changes.append(Change(before: before, after: call, effects: effects))
  }
}
