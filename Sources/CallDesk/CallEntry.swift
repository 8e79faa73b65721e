public import Calls

/// What who starts or joins a call is answered.
public struct CallEntry: Hashable, Sendable {
  public var call: CallDocument
  /// The person's session by which it is in the call.
  public var session: CallUUID
  public var device: DeviceID
  /// If not, the person isn't in the call by that device any more, and this is how the call stands: a join that is asked again joins no one.
  public var isIn = true
  /// The other one had called at the same time: this is that call.
  public var isMerged = false
  /// The call's, as it was wrapped for that device; nil: there is none for it.
  public var key: CallKey?
}
