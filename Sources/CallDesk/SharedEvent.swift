public import Calls

/// An event of a shared session: of one of its participants, or the server's own.
public struct SharedEvent: Hashable, Sendable {
  /// A UUID: the client's, or drawn for the server's own.
  public var id: String
  /// From 1, without gaps.
  public var seq: Int64
  public var type: String
  /// nil: the server itself.
  public var sender: PersonID?
  /// Milliseconds since 1970.
  public var time: Int64
  /// JSON of one value; the server reads nothing of a client's.
  public var data: [UInt8]

  public init(id: String, seq: Int64, type: String, sender: PersonID?, time: Int64, data: [UInt8]) {
    self.id = id
    self.seq = seq
    self.type = type
    self.sender = sender
    self.time = time
    self.data = data
  }
}

/// Some events of a session, in order and without gaps.
public struct SharedEventPage: Hashable, Sendable {
  public var events: [SharedEvent]
  /// The number of the session's last event.
  public var last: Int64
}

/// How everything in a shared session stands behind an event, as its owner says.
public struct SharedSnapshot: Hashable, Sendable {
  public var seq: Int64
  /// Participants and owner, as the owner has written them: JSON.
  public var people: [UInt8]
  /// JSON of one value.
  public var state: [UInt8]

  public init(seq: Int64, people: [UInt8], state: [UInt8]) {
    self.seq = seq
    self.people = people
    self.state = state
  }
}

/// A shared session as people of its call see it.
public struct SharedSessionDocument: Hashable, Sendable {
  public var state: SharedSession
  public var lastEventId: String?
}
