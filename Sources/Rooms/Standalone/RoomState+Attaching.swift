internal import AccessTokens
internal import Engine
internal import Model

/// A handle beside transports that have none.
extension RoomState {
  /// A session begins for a participant that is here by transports without a socket. They go on; a session that it has is
  /// replaced.
  ///
  /// What the newcomer's token says of the participant is taken over, and what that allows its session: no more, and the others no
  /// less than before.
  mutating func attach(_ newcomer: Newcomer, to member: Int) throws(JoinError) {
    let before = members[member].info
    var info = before
    info.name = newcomer.name ?? info.name
    info.metadata = newcomer.metadata ?? info.metadata
    if !newcomer.attributes.isEmpty { info.attributes = newcomer.attributes }
    let bytes: Int
    do throws(StateExcess) { bytes = try review(info, of: member) } catch { throw .tooLarge(error) }
    newcomers.history.apply(settings.dataHistory, now: now)
    let given = members.indices.reduce(newcomers.history.bytes) {
      $1 == member ? $0 : $0 + members[$1].bodyBytes
    }
    guard pay(newcomer, StateBudget.joinCost(bytes, given: given)) else { throw .tooOften }

    if members[member].session != nil { endSession(member, reason: .duplicateIdentity) }
    members[member].describe(info, stateBytes: bytes)
    let grants = members[member].grants.widened(by: newcomer.grants)
    var own = newcomer.grants
    own.hidden = grants.hidden
    let isSame = grants == members[member].grants
    if isSame {
      members[member].sessionGrants = own == grants ? nil : own
      if !info.isExactly(before), !grants.hidden { record(.participantUpdated, of: member) }
    } else {
      change(of: member) {
        $0.grants = grants
        $0.sessionGrants = own == grants ? nil : own
      }
    }
    members[member].presence.change(isAttended: newcomer.isAttended)
    beginSession(newcomer, of: member)
    greet(member)
    presenceChanged()
    // It has counted as one that comes.
    emit(.sessionEnded(identity: newcomer.identity, nil, patience: patience))
    log("session begun beside other transports", of: members[member], ("id", members[member].id.text))
  }
}
