internal import Calls
internal import Storage

/// Decides which people a call rings.
extension CallDesk {
  /// Milliseconds until one who is in as many calls as it may be asks again.
  private static let crowdedWait: Int64 = 5_000

  /// Each recipient costs two reads or more, so that their number is bounded before anything is read.
  func check(_ people: [PersonID], by person: PersonID) throws(CallProblem) {
    guard people.count <= 4 * callTerms.people, Set(people).subtracting([person]).count < callTerms.people
    else {
      throw .tooManyPeople(most: callTerms.people)
    }
  }

  /// Each of some people once.
  /// - Parameter call: to which they are invited: whether one who isn't rung by that has blocked who rings doesn't matter; nil: one that
  ///   is begun.
  func invitations(
    of people: [PersonID], to call: CallState? = nil, by person: PersonID, head: CallHead?,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> [CallInvitation] {
    var invitations: [CallInvitation] = []
    for other in distinct(people, without: person) {
      let isRung = call?.canInvite(other, unheard: false) ?? true
      let isBlocked = try isRung ? BlockRecords.has(person, by: other, transaction) : false
      invitations.append(CallInvitation(other, ring: uuid(), isSilent: isBlocked, head: head))
    }
    return invitations
  }

  /// The people that an invitation to an ongoing call rings, each once. Those who are ringing or in the call already are left out, unless
  /// their present ring is one that they don't hear and this one is.
  func rung(
    of people: [PersonID], in call: CallState, by person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [PersonID] {
    var rung: [PersonID] = []
    for other in distinct(people, without: person) {
      let isUnheard = call[other]?.ring?.isSilent ?? false
      let isBlocked = try isUnheard ? BlockRecords.has(person, by: other, transaction) : false
      if call.canInvite(other, unheard: isBlocked) { rung.append(other) }
    }
    return rung
  }

  /// In the order in which they were named.
  func distinct(_ people: [PersonID], without person: PersonID) -> [PersonID] {
    var seen: Set<PersonID> = [person]
    return people.filter { seen.insert($0).inserted }
  }

  /// Calls by which it is decided what becomes of one that is begun: in which those are who are to be rung, and by which the only one
  /// of them may be ringing the caller.
  func others(
    beside call: CallUUID, of people: [PersonID], rungBy caller: PersonID,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> Known {
    var known = try CallRecords.standing(of: people, beside: call, terms: callTerms, transaction)
    guard people.count == 1, let other = people.first else { return known }
    let shared = try CallRecords.active(of: other, naming: caller, terms: callTerms, transaction)
    known.merge(shared) { first, _ in first }
    return known
  }

  /// Whether a person would come into a call, being in it not yet or no longer.
  func comesNew(_ person: PersonID, to call: CallState) -> Bool {
    !call.isEnded && call[person]?.session == nil
  }

  /// What keeps a person from coming into a call at this moment; nil: nothing. Nothing is counted by it. All that lets people into calls
  /// asks here.
  func comingProblem(
    of person: PersonID, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallProblem? {
    if let wait = changeRates.wait(person, at: now.steady) { return .tooMany(wait: wait) }
    return try crowding(of: person, transaction)
  }

  /// What keeps a person from coming into one more call; nil: nothing. What counts is what the person has started or joined itself.
  func crowding(
    of person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallProblem? {
    try CallRecords.isActive(person, inAtLeast: terms.book.calls, transaction)
      ? .tooMany(wait: Self.crowdedWait) : nil
  }
}
