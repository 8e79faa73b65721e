internal import Model

/// All invitations that hold: a value. It is given the time, in seconds since 1970 where tokens go by it, and lists what it has
/// forgotten until that is taken.
struct Invitations {
  /// Of one room.
  static let perRoom = 64
  /// Of all rooms.
  static let capacity = 65_536

  private struct Entry {
    var invitation: Invitation
    /// Of all who have its link: each opening makes an identity with budgets of its own. It is far more than one address has, so that it
    /// takes many to keep others out.
    var pace = RateLimit(rate: 2, burst: 100)
  }

  private var entries: [InvitationID: Entry] = [:]
  private var byCode: [[UInt8]: InvitationID] = [:]
  private var byRoom: [RoomID: [InvitationID]] = [:]
  private var forgotten: [InvitationID] = []
  /// Before that none is over.
  private var soonest = Int.max

  /// - Returns: nil: there may be no more; else what is full.
  mutating func insert(_ invitation: Invitation, now: Int) -> String? {
    expire(now: now)
    guard byRoom[invitation.life]?.count ?? 0 < Self.perRoom else {
      return "invitations of the room: \(Self.perRoom)"
    }
    guard entries.count < Self.capacity else { return "invitations: \(Self.capacity)" }
    soonest = min(soonest, invitation.expires)
    entries[invitation.id] = Entry(invitation: invitation)
    byCode[invitation.terms.code] = invitation.id
    byRoom[invitation.life, default: []].append(invitation.id)
    return nil
  }

  /// The one that a secret opens, whether it may be opened now or not.
  func find(_ code: [UInt8], now: Int) -> Invitation? {
    guard let invitation = byCode[code].flatMap({ entries[$0]?.invitation }), now < invitation.expires else {
      return nil
    }
    return invitation
  }

  /// Counts an opening.
  /// - Returns: nil: it was opened as often as it may be, or is over. `isPaced`: it may be, a little later.
  mutating func open(_ id: InvitationID, now: Int, at moment: Instant) -> (Invitation, isPaced: Bool)? {
    guard var entry = entries[id], now < entry.invitation.expires,
      entry.invitation.opened < entry.invitation.terms.uses
    else { return nil }
    #if PLANTED_DEFECTS
      let isPaced = !PlantedDefect.isOn(.openedUnpaced) && !entry.pace.take(now: moment)
    #else
      let isPaced = !entry.pace.take(now: moment)
    #endif
    if isPaced { return (entry.invitation, true) }
    entry.invitation.opened += 1
    entries[id] = entry
    return (entry.invitation, false)
  }

  /// The one of that id, while tokens that it has given out may come in: one that was used up still holds for those who have used it.
  func holding(_ id: InvitationID, of room: String, now: Int) -> Invitation? {
    guard let invitation = entries[id]?.invitation, invitation.room.isExactly(room),
      now < invitation.expires
    else { return nil }
    return invitation
  }

  /// In the order in which they were made.
  func all(of life: RoomID, now: Int) -> [Invitation] {
    (byRoom[life] ?? []).compactMap { entries[$0]?.invitation }.filter { now < $0.expires }
  }

  /// - Returns: whether the room has one of that id.
  mutating func remove(_ id: InvitationID, of life: RoomID) -> Bool {
    guard let entry = entries[id], entry.invitation.life == life else { return false }
    forget(id)
    return true
  }

  /// Its room is over.
  mutating func remove(of life: RoomID) {
    for id in byRoom[life] ?? [] { forget(id) }
  }

  mutating func expire(now: Int) {
    guard now >= soonest else { return }
    for (id, entry) in entries where entry.invitation.expires <= now { forget(id) }
    soonest = entries.values.map(\.invitation.expires).min() ?? .max
  }

  private mutating func forget(_ id: InvitationID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    byCode[entry.invitation.terms.code] = nil
    let life = entry.invitation.life
    byRoom[life]?.removeAll { $0 == id }
    if byRoom[life]?.isEmpty == true { byRoom[life] = nil }
    forgotten.append(id)
  }

  /// Those that were forgotten since the last call.
  mutating func takeForgotten() -> [InvitationID] {
    defer { forgotten = [] }
    return forgotten
  }
}
