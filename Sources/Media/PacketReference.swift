/// A packet of a track by where it is kept, for what is to leave later: the packet itself stays in the track's history.
public struct PacketReference: BitwiseCopyable, Sendable {
  /// The track, by the number that its owner gives it.
  public var track: Int32
  /// The spatial layer, which has a history of its own.
  public var layer: UInt8
  /// The source's number.
  public var sequence: Int64

  @inlinable public init(track: Int, layer: UInt8, sequence: Int64) {
    self.track = Int32(truncatingIfNeeded: track)
    self.layer = layer
    self.sequence = sequence
  }
}
