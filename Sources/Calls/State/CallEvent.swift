/// What happens to a call.
public enum CallEvent: Hashable, Sendable {
  /// A device of a person wants in.
  case join(PersonID, DeviceID, session: CallUUID, takeover: Bool)
  /// A person declines or leaves. `device`: which one says so; nil: it isn't known.
  case leave(PersonID, DeviceID?, LeaveReason)
  /// One who is in the call rings others.
  case invite(by: PersonID, [CallInvitation])
  /// The media of a session stands, or stands no longer.
  case mediaCame(PersonID, session: CallUUID)
  case mediaWent(PersonID, session: CallUUID)
  /// An admin takes a person out, or ends the call.
  case remove(PersonID)
  case end(by: PersonID?)
  /// What its people may change was changed.
  case change(by: PersonID, CallMedia?)
  /// Time has passed.
  case time
  /// The server has begun again: who was in the call has to come back.
  case restart
}

/// Whom to ring, and how.
public struct CallInvitation: Hashable, Sendable {
  public var person: PersonID
  public var ring: CallUUID
  /// The person is in another call and isn't rung.
  public var isBusy: Bool
  /// The person is in another call and is rung all the same.
  public var ringsBusy: Bool
  /// The person has blocked who rings.
  public var isSilent: Bool

  public init(
    _ person: PersonID, ring: CallUUID, isBusy: Bool = false, ringsBusy: Bool = false, isSilent: Bool = false
  ) {
    self.person = person
    self.ring = ring
    self.isBusy = isBusy
    self.ringsBusy = ringsBusy
    self.isSilent = isSilent
  }
}

public enum CallMedia: String, Hashable, Sendable, Codable, CaseIterable {
  case audio
  case video
}
