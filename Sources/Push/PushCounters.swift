/// What became of pushes to one push service, since the start.
public struct PushCounters: Equatable, Sendable {
  public var outcomes: [PushOutcome.State: UInt64] = [:]
  /// Those that never got through, by the reason that is ours.
  public var dropped: [PushDrop: UInt64] = [:]
  /// Tries after which another one followed.
  public var retries: UInt64 = 0

  public init() {}
}

/// Why a push was given up before the push service had answered it.
public enum PushDrop: String, CaseIterable, Sendable {
  /// As many waited as may.
  case queueCount
  /// As many bytes waited as may.
  case queueBytes
  /// The end of a ring that the device never got: it would ring for it.
  case neverRang
  /// The device was logged out, or its token is another's.
  case deviceGone
  /// It was answered, declined or ended meanwhile.
  case ringOver
  /// Its time was over before its turn.
  case late
}
