/// What is to be done because of an event of a call, in this order.
public enum CallEffect: Hashable, Sendable {
  /// The person's devices ring; those of a silent ring don't.
  case ring(PersonID, CallRing)
  /// A ring that was heard is over on all devices of the person, but for the one by which it is.
  case ringEnded(PersonID, ring: CallUUID, RingEnd, except: DeviceID?)
  /// The media of a session has to be closed.
  case close(PersonID, session: CallUUID, SessionEnd)
  /// The person's tokens for the call hold no longer.
  case revoke(PersonID)
  /// People of the call hear how it stands: something that they see has changed.
  case updated
  /// It is over, and nothing more comes: all its tokens hold no longer.
  case ended
}

/// How a ring ended where it wasn't answered.
public enum RingEnd: String, Hashable, Sendable, CaseIterable {
  case answeredElsewhere
  case declinedElsewhere
  case cancelled
  case timedOut
}

/// Why a session is closed.
public enum SessionEnd: String, Hashable, Sendable, CaseIterable {
  case left
  case movedElsewhere
  case removed
  case callEnded
}

/// Why something of a call isn't done.
public enum CallRefusal: Error, Hashable, Sendable {
  /// The person isn't of the call, which may exist or not.
  case unknown
  /// It is for people who are in the call.
  case notAllowed
  /// An admin has taken the person out.
  case removed
  case ended
  /// The person is in the call by another device.
  case activeElsewhere
  case noRecipients
  case tooManyPeople(most: Int)
}
