/// What happened to packets of tracks between workers, and to requests for them.
public struct TrackCounters: Sendable {
  /// Packets of tracks to and from other workers.
  public var relayed: UInt64 = 0
  public var relayReceived: UInt64 = 0
  public var relayDropped: UInt64 = 0
  /// Requested retransmissions that were no longer kept.
  public var historyMissed: UInt64 = 0
  /// Subscribers that started with a key frame from the history.
  public var pictureReplays: UInt64 = 0
  /// Packets for sinks that were full.
  public var sinkDropped: UInt64 = 0

  public init() {}
}
