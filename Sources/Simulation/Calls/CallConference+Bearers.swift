internal import AccessTokens
internal import HTTPServer
internal import SyntheticPeers

/// By whose tokens things are asked.
extension CallConference {
  /// Seconds for which a person's token holds, and by which clocks may differ.
  private static let lifetime = 60
  private static let leeway = 60

  private func signed(_ identity: String, name: String? = nil, _ grants: Grants = Grants()) -> String {
    AccessToken(
      apiKey: CallServer.apiKey, identity: identity, expires: time.seconds + Self.lifetime,
      issuedAt: time.seconds, name: name, grants: grants
    ).signed(secret: CallServer.secret)
  }

  /// One that names no room, with a name that was never heard of.
  func personToken(of person: String) -> CallBearer {
    let name = ledger.word(.name(of: person), by: person)
    return CallBearer(
      kind: .person, token: signed(person, name: name), identity: person,
      validUntil: time.seconds + Self.lifetime + Self.leeway)
  }

  /// The app gives a person another token.
  func renew(_ member: CallMember) {
    member.bearer = personToken(of: member.name)
    journal.count(.callTokenRenewed)
  }

  /// The person's own, which is renewed in time, but now and then isn't.
  func personBearer(of member: CallMember) -> CallBearer {
    if time.seconds >= member.bearer.validUntil, below(6) > 0 { renew(member) }
    return member.bearer
  }

  func roomBearer(of member: CallMember) -> CallBearer {
    CallBearer(
      kind: .room, token: signed(member.name, .join("demo")), identity: member.name,
      validUntil: time.seconds + Self.lifetime + Self.leeway)
  }

  /// One who runs rooms.
  /// - Parameter room: nil: another than any call's.
  func adminBearer(_ room: String?) -> CallBearer {
    var grants = Grants()
    grants.roomAdmin = true
    grants.room = room ?? "another"
    let identity = "desk\(turn)"
    return CallBearer(
      kind: room == nil ? .otherAdmin : .admin, token: signed(identity, grants), identity: identity,
      validUntil: time.seconds + Self.lifetime + Self.leeway)
  }

  /// Of any kind.
  func bearer(of member: CallMember, for errand: CallErrand) -> CallBearer {
    if errand.access == .rooms, let call = errand.call, let room = ledger.calls[call]?.room {
      return adminBearer(room)
    }
    // Of the people of a call none may end it for all.
    if errand.mechanism == .callEndedByAdmin, let call = errand.call, let room = ledger.calls[call]?.room,
      below(2) == 0
    {
      return adminBearer(room)
    }
    guard let call = errand.call else {
      // Of the person itself a narrower token opens nothing.
      guard below(6) == 0 else { return personBearer(of: member) }
      return member.callTokens.last ?? roomBearer(of: member)
    }
    switch below(16) {
    case 0: return roomBearer(of: member)
    case 1: return adminBearer(nil)
    case 2: return ledger.calls[call]?.room.map { adminBearer($0) } ?? personBearer(of: member)
    case 3, 4, 5:
      let mine = member.callTokens
      guard !mine.isEmpty else { return personBearer(of: member) }
      if below(3) > 0, let fitting = mine.last(where: { $0.kind == .call(call) }) { return fitting }
      return one(of: mine)
    default: return personBearer(of: member)
    }
  }

  /// A call has given a person a token.
  func note(token: String, of call: String, device: String, to member: CallMember) {
    member.callTokens.removeAll { $0.kind == .call(call) && $0.device == device }
    member.callTokens.append(
      CallBearer(
        kind: .call(call), token: token, identity: member.name, validUntil: .max, device: device))
  }

  /// What is to be answered to a token.
  struct Due: Equatable {
    /// nil: what the person itself is answered.
    var status: Int?
    var code = ""
    /// It is found good before it is charged.
    var isCharged = true
    /// It is for something else.
    var isTurnedAway = false
  }

  func due(to bearer: CallBearer, for errand: CallErrand) -> Due {
    if time.seconds >= bearer.validUntil { return Due(status: 401, isCharged: false) }
    let refused = Due(status: 403, code: "not-allowed", isTurnedAway: true)
    let isForAdmins = errand.access == .ofCallOrAdmin || errand.access == .personOrAdmin
    switch bearer.kind {
    case .person: return Due()
    case .room: return refused
    case .otherAdmin: return isForAdmins ? Due(status: 404, code: "not-found") : refused
    case .admin:
      if errand.access == .rooms { return Due(status: 204) }
      guard isForAdmins else { return refused }
      let isLate = errand.method == .delete && errand.call.map { ledger.calls[$0]?.isOver == true } ?? false
      return isLate ? Due(status: 410, code: "call-ended") : Due(status: 200)
    case .call(let call):
      guard call == errand.call, errand.access == .ofCall || errand.access == .ofCallOrAdmin else {
        return refused
      }
      guard let known = ledger.calls[call] else { return Due() }
      if known.removed[bearer.identity] != nil { return Due(status: 403, code: "removed") }
      return known.isOver ? Due(status: 410, code: "call-ended") : Due()
    }
  }
}
