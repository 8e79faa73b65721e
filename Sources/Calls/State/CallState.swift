/// One call: who was ever invited, who is in it, and how it ended. A value: it has no clock, no store and no sockets.
///
///     invited ──join──▶ active ──leave──▶ left ──join──▶ active
///        └──declines, time is over, call ends──▶ left ──is invited──▶ invited, and is rung again
///
/// A person is in exactly one of the three. Once it has ended it stays as it is.
public struct CallState: Hashable, Sendable {
  public let id: CallUUID
  public let caller: PersonID
  public let path: CallPath
  public internal(set) var media: CallMedia
  /// Whether frames are encrypted end to end.
  public let isEncrypted: Bool
  /// The app's own; nothing of the server reads it.
  public internal(set) var metadata: String?
  /// Everybody who was ever invited, in that order; the caller is the first.
  public internal(set) var people: [CallPerson]
  /// Milliseconds since 1970.
  public let createdAt: Int64
  public internal(set) var updatedAt: Int64
  /// When the media of two people stood at the same time for the first time.
  public internal(set) var connectedAt: CallTime?
  public internal(set) var end: CallEnd?
  /// When one who is alone has been so for long enough, on the clock that doesn't jump; nil: no one is.
  var aloneUntil: Int64?
  /// The number of the last word about media, or of who runs the room, that is in it: what is said again changes nothing.
  public internal(set) var heard: UInt64 = 0
  var terms: CallTerms

  public var isEnded: Bool { end != nil }

  public var invited: [PersonID] { people.filter { $0.ring != nil }.map(\.id) }
  public var active: [PersonID] { people.filter { $0.session != nil }.map(\.id) }

  public subscript(_ person: PersonID) -> CallPerson? { people.first { $0.id == person } }

  /// Whether there is such a call for that person.
  public func isOpen(to person: PersonID) -> Bool { self[person].map { !$0.isHidden } ?? false }

  /// Whether an administrator has taken the person out.
  public func hasRemoved(_ person: PersonID) -> Bool { self[person]?.leaveReason == .removed }

  /// When something is over for want of somebody, on the clock that doesn't jump; nil: nothing is waited for.
  public var deadline: Int64? {
    guard !isEnded else { return nil }
    return (people.compactMap(\.deadline) + [aloneUntil].compactMap { $0 }).min()
  }

  /// What a call is begun with.
  public struct Start: Hashable, Sendable {
    public var id: CallUUID
    public var caller: PersonID
    public var device: DeviceID
    /// The caller's, by the device that starts.
    public var session: CallUUID
    /// As they were named; with an id for the ring of each.
    public var recipients: [CallInvitation]
    public var media: CallMedia
    public var path = CallPath.relay
    public var isEncrypted = false
    public var metadata: String?

    public init(
      id: CallUUID, caller: PersonID, device: DeviceID, session: CallUUID, recipients: [CallInvitation],
      media: CallMedia
    ) {
      self.id = id
      self.caller = caller
      self.device = device
      self.session = session
      self.recipients = recipients
      self.media = media
    }
  }

  /// Begins a call: the caller is in it, the others are rung.
  /// - Throws: `noRecipients`, `tooManyPeople`.
  public static func start(
    _ wanted: Start, terms: CallTerms = CallTerms(), at now: CallTime
  ) throws(CallRefusal) -> (CallState, [CallEffect]) {
    let recipients = CallInvitation.each(wanted.recipients, without: wanted.caller)
    guard !recipients.isEmpty else { throw .noRecipients }
    guard recipients.count < terms.people else { throw .tooManyPeople(most: terms.people) }
    var starter = CallPerson(id: wanted.caller, status: .left(.userLeft, at: now.wall))
    starter.enter(wanted.device, session: wanted.session, for: terms.awaited(wanted.path), at: now)
    var call = CallState(
      id: wanted.id, caller: wanted.caller, path: wanted.path, media: wanted.media,
      isEncrypted: wanted.isEncrypted, metadata: wanted.metadata, people: [starter], createdAt: now.wall,
      updatedAt: now.wall, terms: terms)
    var effects: [CallEffect] = []
    for recipient in recipients { call.ring(recipient, from: wanted.caller, at: now, &effects) }
    call.settle(at: now, &effects)
    return (call, effects + [call.isEnded ? .ended : .updated])
  }

  func index(of person: PersonID) -> Int? { people.firstIndex { $0.id == person } }

  /// Whether people see the same in both.
  func looksLike(_ other: CallState) -> Bool {
    media == other.media && metadata == other.metadata && end == other.end
      && connectedAt?.wall == other.connectedAt?.wall && people.map(\.seen) == other.people.map(\.seen)
  }
}

extension CallInvitation {
  /// Each person once, in the order given.
  public static func each(_ invitations: [CallInvitation], without person: PersonID) -> [CallInvitation] {
    var seen: Set<PersonID> = [person]
    return invitations.filter { seen.insert($0.person).inserted }
  }
}

/// How a call ended.
public struct CallEnd: Hashable, Sendable, Codable {
  /// Milliseconds since 1970.
  public var at: Int64
  /// By whose act; nil: by none, but because time was over or the media gone.
  public var by: PersonID?
  public var outcome: CallOutcome
  /// Milliseconds since the call was connected, on the clock that doesn't jump; nil: it never was.
  public var duration: Int64?
}

public enum CallOutcome: String, Hashable, Sendable, Codable, CaseIterable {
  case answered
  case cancelled
  case missed
  case declined
  case busy
  case failed
}
