public import Calls

/// What is to be done once a decision is on the disk.
public struct Aftermath: Sendable {
  /// A ring that has to reach devices.
  public struct Ring: Hashable, Sendable {
    public var person: PersonID
    public var ring: CallRing
    public var call: CallState
    public var room: String?
    public var apiKey: String
    /// When it is over, in milliseconds since 1970.
    public var expiresAt: Int64
    public var callerName: String?
    /// Of the person who is rung.
    public var personName: String?
    /// The person's, which can be woken.
    public var devices: [Device]
    /// The call's key, for those of the person's devices that it was wrapped for.
    public var keys: [DeviceID: CallKey] = [:]

    /// How the log of keys looked to who rings; nil: it hasn't said.
    public var head: CallHead? { ring.head }
  }

  public struct RingEnded: Hashable, Sendable {
    public var person: PersonID
    public var ring: CallUUID
    public var reason: RingEnd
    public var call: CallUUID
    /// By which it was answered or declined: it knows.
    public var device: DeviceID?
  }

  /// A session whose media is closed.
  public struct Close: Hashable, Sendable {
    public var person: PersonID
    public var session: CallUUID
    /// By which the room knows the device: `CallSession.stay`.
    public var stay: CallUUID
    public var reason: SessionEnd
    public var room: String?
  }

  /// An event of a shared session, for those who take part.
  public struct Shared: Hashable, Sendable {
    public var call: CallUUID
    /// nil: the call has none.
    public var room: String?
    public var session: CallUUID
    /// Who took part as it happened: it is for no one else.
    public var people: [PersonID]
    public var event: SharedEvent
    /// It was written before, and may have been said.
    public var isRepeated: Bool

    public init(
      call: CallUUID, room: String?, session: CallUUID, people: [PersonID], event: SharedEvent,
      isRepeated: Bool = false
    ) {
      self.call = call
      self.room = room
      self.session = session
      self.people = people
      self.event = event
      self.isRepeated = isRepeated
    }
  }

  /// A call that has begun, was answered for the first time, or has ended; or what its people share.
  public struct Step: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
      case started = "call.started"
      case answered = "call.answered"
      case ended = "call.ended"
      case sessionStarted = "session.started"
      case sessionEnded = "session.ended"
    }

    /// Something that people of the call share.
    public struct Session: Hashable, Sendable {
      public var id: CallUUID
      public var experience: String
    }

    public var kind: Kind
    public var call: CallState
    public var room: String?
    public var session: Session?
  }

  /// Those who have events that they haven't heard.
  public var listeners: Set<PersonID> = []
  public var rings: [Ring] = []
  public var ringsEnded: [RingEnded] = []
  public var closes: [Close] = []
  /// Who may use no token of before for that room.
  public var revoked: [(person: PersonID, room: String?)] = []
  public var steps: [Step] = []
  public var sharedEvents: [Shared] = []
  /// What isn't these people's any more: nothing is sent there.
  public var devicesGone: [(person: PersonID, device: DeviceID)] = []

  /// Of people's budgets.
  var spent: [Spending] = []

  public init() {}

  /// Whether nothing is to be done.
  public var isEmpty: Bool {
    listeners.isEmpty && rings.isEmpty && ringsEnded.isEmpty && closes.isEmpty && revoked.isEmpty
      && steps.isEmpty && sharedEvents.isEmpty && devicesGone.isEmpty
  }
}
