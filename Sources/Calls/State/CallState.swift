/// One call: who was ever invited, who is in it, and how it ended. A value: it has no clock, no store and no sockets.
///
///     invited ──join──▶ active ──leave──▶ left ──join──▶ active
///        └──declines, time is over, call ends──▶ left ──is invited──▶ invited, and is rung again
///
/// A person is in exactly one of the three. Once it has ended it stays as it is.
public struct CallState: Hashable, Sendable, Codable {
  public let id: CallUUID
  public let caller: PersonID
  public internal(set) var media: CallMedia
  /// Whether frames are encrypted end to end.
  public let isEncrypted: Bool
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
  var terms: CallTerms

  public var isEnded: Bool { end != nil }

  public var invited: [PersonID] { people.filter { $0.ring != nil }.map(\.id) }
  public var active: [PersonID] { people.filter { $0.session != nil }.map(\.id) }

  public subscript(_ person: PersonID) -> CallPerson? { people.first { $0.id == person } }

  /// When something is over for want of somebody, on the clock that doesn't jump; nil: nothing is waited for.
  public var deadline: Int64? {
    guard !isEnded else { return nil }
    return (people.compactMap(\.deadline) + [aloneUntil].compactMap { $0 }).min()
  }

  /// Begins a call: the caller is in it, the others are rung.
  /// - Parameters:
  ///   - recipients: each once, and the caller not among them, as `recipients(of:caller:)` gives them.
  ///   - session: the caller's, by the device that starts.
  /// - Throws: `noRecipients`, `tooManyPeople`.
  public static func start(
    _ id: CallUUID, by caller: PersonID, _ device: DeviceID, session: CallUUID, recipients: [CallInvitation],
    media: CallMedia, isEncrypted: Bool = false, terms: CallTerms = CallTerms(), at now: CallTime
  ) throws(CallRefusal) -> (CallState, [CallEffect]) {
    guard !recipients.isEmpty else { throw .noRecipients }
    guard recipients.count < terms.people else { throw .tooManyPeople(most: terms.people) }
    var starter = CallPerson(id: caller, status: .left(.userLeft, at: now.wall))
    starter.enter(device, session: session, terms: terms, at: now)
    var call = CallState(
      id: id, caller: caller, media: media, isEncrypted: isEncrypted, people: [starter], createdAt: now.wall,
      updatedAt: now.wall, terms: terms)
    var effects: [CallEffect] = []
    for recipient in recipients { call.ring(recipient, from: caller, at: now, &effects) }
    call.settle(at: now, &effects)
    return (call, effects + [call.isEnded ? .ended : .updated])
  }

  /// Each once, in the order given, without the caller.
  public static func recipients(of people: [PersonID], caller: PersonID) -> [PersonID] {
    var seen: Set<PersonID> = [caller]
    return people.filter { seen.insert($0).inserted }
  }

  func index(of person: PersonID) -> Int? { people.firstIndex { $0.id == person } }
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
