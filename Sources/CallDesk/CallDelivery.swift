public import Calls

/// What became of a push to one device.
public struct CallDelivery: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    case ring
    /// The ring's end.
    case ended
  }

  public var call: CallUUID
  public var person: PersonID
  public var device: DeviceID
  public var ring: CallUUID
  public var kind: Kind
  /// As the push service names it.
  public var platform: String
  /// `delivered`, `failed`, `removed` or `expired`.
  public var state: String
  /// Letters and digits; empty where it is delivered.
  public var reason: String
  /// Milliseconds since 1970.
  public var time: Int64
  /// How often it was sent.
  public var tries: Int
  /// It went to Apple's service for apps that are being made. It isn't kept.
  public var isSandbox = false

  public init(
    call: CallUUID, person: PersonID, device: DeviceID, ring: CallUUID, kind: Kind, platform: String,
    state: String,
    reason: String, time: Int64, tries: Int
  ) {
    (self.call, self.person, self.device, self.ring, self.kind) = (call, person, device, ring, kind)
    (self.platform, self.state, self.reason, self.time, self.tries) = (platform, state, reason, time, tries)
  }

  var isReached: Bool { state == "delivered" }
}

/// What was pushed for a call, as one who may ask sees it: a page of it, and who was reached.
public struct CallDeliveries: Hashable, Sendable {
  /// What a caller learns of a person: nothing of its devices.
  public enum Reach: String, Hashable, Sendable {
    /// A device has taken the push, or the person has joined.
    case reached
    /// No device of the person takes pushes, or none of them could be pushed to.
    case unreachable
    case unknown
  }

  /// Where a delivery stands among those of a call.
  public struct Place: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var time: Int64
    public var person: PersonID
    public var device: DeviceID
    public var ring: CallUUID
    public var kind: CallDelivery.Kind

    public init(
      time: Int64, person: PersonID, device: DeviceID, ring: CallUUID, kind: CallDelivery.Kind
    ) {
      (self.time, self.person, self.device, self.ring, self.kind) = (time, person, device, ring, kind)
    }

    init(_ delivery: CallDelivery) {
      self.init(
        time: delivery.time, person: delivery.person, device: delivery.device, ring: delivery.ring,
        kind: delivery.kind)
    }
  }

  /// Those of the reader's own devices; for who runs the room, all. The last come first.
  public var items: [CallDelivery]
  /// Behind which it goes on; nil: there are no more.
  public var next: Place?
  /// For the caller and for who runs the room: how it stands with those who were called.
  public var people: [PersonID: Reach]?
}
