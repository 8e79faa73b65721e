/// What happens to a call.
public enum CallEvent: Hashable, Sendable {
  /// A device of a person wants in.
  /// - Parameter reader: what stands for it in its token too, where it has said which it is; nil: nothing does.
  case join(PersonID, DeviceID, session: CallUUID, takeover: Bool, reader: DeviceID? = nil)
  /// A person declines or leaves. `device`: which one says so; nil: it isn't known, and the person is meant.
  case leave(PersonID, DeviceID?, LeaveReason)
  /// One who is in the call rings others.
  case invite(by: PersonID, [CallInvitation])
  /// The media of a session stands, or stands no longer. Of a direct call: the device reads events, or doesn't.
  case mediaCame(PersonID, session: CallUUID)
  /// - Parameter isLost: it was waited for already, as long as the room waits.
  case mediaWent(PersonID, session: CallUUID, isLost: Bool = false)
  /// Of a direct call: the device says that its media stands; nil: by whichever the person is in the call.
  case saidConnected(PersonID, DeviceID?)
  /// An admin takes a person out, or ends the call.
  case remove(PersonID)
  case end(by: PersonID?)
  /// What its people may change was changed.
  case change(by: PersonID, CallChange)
  /// Time has passed.
  case time
  /// The server has begun again: who was in the call has to come back.
  case restart
}

/// What people of a call change in it; nil: it stays.
public struct CallChange: Hashable, Sendable {
  public var media: CallMedia?
  /// `.some(nil)` takes it away.
  public var metadata: String??

  public init(media: CallMedia? = nil, metadata: String?? = nil) {
    self.media = media
    self.metadata = metadata
  }
}

/// One person to ring, and how.
public struct CallInvitation: Hashable, Sendable {
  public var person: PersonID
  public var ring: CallUUID
  /// The person is in another call and isn't rung.
  public var isBusy: Bool
  /// The person is in another call and is rung all the same.
  public var ringsBusy: Bool
  /// The person has blocked who rings.
  public var isSilent: Bool
  /// Of who rings.
  public var head: CallHead?

  public init(
    _ person: PersonID, ring: CallUUID, isBusy: Bool = false, ringsBusy: Bool = false, isSilent: Bool = false,
    head: CallHead? = nil
  ) {
    self.person = person
    self.ring = ring
    self.isBusy = isBusy
    self.ringsBusy = ringsBusy
    self.isSilent = isSilent
    self.head = head
  }

  /// The person hears nothing of it.
  var isUnheard: Bool { isSilent || isBusy }
}

public enum CallMedia: String, Hashable, Sendable, Codable, CaseIterable {
  case audio
  case video
}

/// Where the media of a call goes.
public enum CallPath: String, Hashable, Sendable, Codable, CaseIterable {
  /// Through this server.
  case relay
  /// From device to device: the server sees nothing of it.
  case direct
}
