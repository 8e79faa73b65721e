public import Calls

/// Something that a person hears of calls. Events are numbered per person, from 1 and without gaps.
public struct PersonEvent: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case ringing = "call.ringing"
    case ringEnded = "ring.ended"
    case updated = "call.updated"
    case ended = "call.ended"
    case signal = "call.signal"
    case deviceRemoved = "device.removed"
    case callKey = "call.key"
    case keyChanged = "key.changed"
    case sessionStarted = "session.started"
    case sessionUpdated = "session.updated"
    case sessionEnded = "session.ended"
  }

  public var number: Int64
  /// Milliseconds since 1970.
  public var time: Int64
  public var kind: Kind
  public var call: CallUUID?
  /// It is for that device alone; nil: for all of the person's.
  public var device: DeviceID?
  /// What the kind has of its own, as JSON.
  public var body: [UInt8]
}

/// The body of `call.ringing`.
public struct RingingBody: Hashable, Sendable, Codable {
  public var ringId: CallUUID
  public var callerId: PersonID
  /// Milliseconds since 1970.
  public var expiresAt: Int64
  public var busy: Bool
}

/// The body of `ring.ended`.
public struct RingEndedBody: Hashable, Sendable, Codable {
  public var ringId: CallUUID
  public var reason: String
  /// By which device, where it was by one.
  public var device: DeviceID?
}

/// The body of `device.removed`.
public struct DeviceRemovedBody: Hashable, Sendable, Codable {
  public var device: DeviceID
  public var reason: String
}

/// The body of `call.key`. The key itself is read when the event is given out, by who may have it then.
public struct CallKeyBody: Hashable, Sendable, Codable {
  public var index: Int64
  /// Who has wrapped it.
  public var from: PersonID
}

/// The body of `key.changed`.
public struct KeyChangedBody: Hashable, Sendable, Codable {
  public var person: PersonID
}

/// A page of a person's events.
public struct PersonEventPage: Hashable, Sendable {
  public var events: [PersonEvent]
  /// The number of the last one that the person has.
  public var last: Int64
  /// The number behind which the next page begins, which may be that of an event that is left out here; `last`: there are no more.
  public var reached: Int64
  /// What was asked for is no longer kept: all that follows is read from the state.
  public var isGone: Bool
}
