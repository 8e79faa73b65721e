public import Model

/// What became of a push to one device. Each that is asked for has one.
public struct PushOutcome: Equatable, Sendable {
  public enum State: String, CaseIterable, Sendable {
    /// The push service has taken it.
    case delivered
    /// It was not taken, and won't be.
    case failed
    /// The token is no good any more: the device is to be removed, unless it has given another token or registered again since.
    case removed
    /// The ring was over before the push service took it.
    case expired
  }

  /// As it was when the push was asked for.
  public var device: PushDevice
  public var ringId: String
  /// Whether it was the ring, and not its end.
  public var isRing: Bool
  public var state: State
  /// Letters and digits: the push service's own word, or one of ours; empty where it is delivered.
  public var reason: String
  public var at: WallTime
  /// How often it was sent.
  public var tries: Int
  /// Whether the device may have it: the push service has taken it, or has left a try without an answer.
  public var mayHaveArrived: Bool

  public var platform: PushDevice.Platform { device.platform }

  public init(
    device: PushDevice, ringId: String, isRing: Bool, state: State, reason: String, at: WallTime, tries: Int,
    mayHaveArrived: Bool = false
  ) {
    self.device = device
    self.ringId = ringId
    self.isRing = isRing
    self.state = state
    self.reason = reason
    self.at = at
    self.tries = tries
    self.mayHaveArrived = mayHaveArrived || state == .delivered
  }
}
