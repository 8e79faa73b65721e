/// What an observer of a load run hears of it; called on the run's own thread, which it must not hold up.
public struct LoadObserver {
  /// The measured span begins, and ends.
  public var began: () -> Void = {}
  public var ended: () -> Void = {}
  /// A datagram of a participant's has left. Participants are numbered room by room, publishers first.
  public var sent: ((_ participant: Int, _ datagram: [UInt8]) -> Void)?

  public init() {}
}
