/// Why a person isn't in a call any more, or never was.
public enum LeaveReason: String, Hashable, Sendable, Codable, CaseIterable {
  case userLeft
  case rejected
  case timedOut
  case networkError
  case serverError
  /// The server's own: the call was over before an answer, the person was in another call, an admin took it out.
  case cancelled
  case busy
  case removed

  /// What a client may give.
  public static let ofClients: Set<LeaveReason> = [
    .userLeft, .rejected, .timedOut, .networkError, .serverError,
  ]

  /// Whose it is, the person wanted no more of the call, or couldn't have it.
  var isFinal: Bool { self == .userLeft || self == .rejected || self == .removed }
}

/// A ring: all devices of a person, until one answers or the time is over.
public struct CallRing: Hashable, Sendable, Codable {
  public var id: CallUUID
  /// Who called or invited.
  public var from: PersonID
  /// On the clock that doesn't jump.
  public var until: Int64
  /// It is delivered to none of the devices, since the person has blocked the other: it looks like no answer.
  public var isSilent: Bool
  /// The person is in another call, and rung all the same.
  public var isBusy: Bool
  /// Of who called or invited; nil: it said nothing of the log.
  public var head: CallHead?

  public init(
    id: CallUUID, from: PersonID, until: Int64, isSilent: Bool = false, isBusy: Bool = false,
    head: CallHead? = nil
  ) {
    self.id = id
    self.from = from
    self.until = until
    self.isSilent = isSilent
    self.isBusy = isBusy
    self.head = head
  }
}

/// A device of a person that is in the call.
public struct CallSession: Hashable, Sendable, Codable {
  /// Whether its media stands; moments are on the clock that doesn't jump.
  public enum Media: Hashable, Sendable, Codable {
    case awaited(until: Int64)
    /// By which session it came: a device that joins again has another session, and its media may go on by the one before.
    case standing(by: CallUUID)
    case gone(until: Int64)
  }

  public var id: CallUUID
  public var device: DeviceID
  public var media: Media
  /// Of a direct call: it says that its media stands.
  public var saysConnected = false
  /// By which the device has come in, where it has joined again since; nil: by this one.
  public var first: CallUUID?
  /// What stood for the device in the token by which it joined, where it has said by that which it is; nil: nothing else did.
  public var reader: DeviceID?

  /// The session by which the device has come in: the same for as long as it is in the call without a break, however often it joins.
  /// Rooms know the device by that.
  public var stay: CallUUID { first ?? id }

  public init(id: CallUUID, device: DeviceID, media: Media) {
    self.id = id
    self.device = device
    self.media = media
  }

  /// Whether that names the device.
  public func isBy(_ device: DeviceID) -> Bool { device == self.device || device == reader }

  var isStanding: Bool { if case .standing = media { true } else { false } }

  var deadline: Int64? {
    switch media {
    case .awaited(let until), .gone(let until): until
    case .standing: nil
    }
  }
}

/// A participant of a call: the caller, or a person who was invited.
public struct CallPerson: Hashable, Sendable, Codable {
  public enum Status: Hashable, Sendable, Codable {
    case invited(CallRing)
    case active(CallSession)
    case left(LeaveReason, at: Int64)
  }

  public let id: PersonID
  public internal(set) var status: Status
  /// Of the first and of the last time, in milliseconds since 1970.
  public internal(set) var joinedAt: Int64?
  public internal(set) var leftAt: Int64?
  /// The person's media was connected at the same time as another participant's.
  public internal(set) var wasConnected = false
  /// The person has blocked who rings: for them there is no such call.
  public internal(set) var isHidden = false

  public init(id: PersonID, status: Status) {
    self.id = id
    self.status = status
  }

  public var hasJoined: Bool { joinedAt != nil }

  public var ring: CallRing? { if case .invited(let ring) = status { ring } else { nil } }
  public var session: CallSession? { if case .active(let session) = status { session } else { nil } }
  public var leaveReason: LeaveReason? { if case .left(let reason, _) = status { reason } else { nil } }

  /// When something is over for want of the person.
  var deadline: Int64? {
    switch status {
    case .invited(let ring): ring.until
    case .active(let session): session.deadline
    case .left: nil
    }
  }

  /// As others see the person: by which session it is there, whether its media stands, and how long it is rung is nothing of theirs.
  var seen: CallPerson {
    var copy = self
    switch status {
    case .active:
      copy.status = .active(CallSession(id: .zero, device: DeviceID(""), media: .standing(by: .zero)))
    case .invited: copy.status = .invited(CallRing(id: .zero, from: id, until: 0))
    case .left: break
    }
    copy.wasConnected = false
    copy.isHidden = false
    return copy
  }
}
