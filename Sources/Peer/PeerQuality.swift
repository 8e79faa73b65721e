public import Model

/// How well a peer's packets travel, as its reports and ours have it.
public struct PeerQuality: BitwiseCopyable, Sendable {
  /// Packets lost on the way to the peer and from it, the worse of both; smoothed over some seconds, in 65536ths.
  public var loss: UInt16
  public var roundTrip: Duration
  /// When the last valid STUN message came from the peer.
  public var lastHeard: Instant
  public var bitrates: Bitrates

  public init(loss: UInt16, roundTrip: Duration, lastHeard: Instant, bitrates: Bitrates = Bitrates()) {
    self.loss = loss
    self.roundTrip = roundTrip
    self.lastHeard = lastHeard
    self.bitrates = bitrates
  }
}
