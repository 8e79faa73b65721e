/// A packet of a track by where it is kept, for what is to leave later: the packet itself stays in the track's history.
public struct PacketReference: BitwiseCopyable, Sendable {
  /// The track's encoding, by the number that its owner gives it.
  public var track: Int32
  /// Tells those apart that had that number one after the other: what waits may outlive its track.
  public var serial: UInt32
  /// The source's number.
  public var sequence: Int64

  @inlinable public init(track: Int, serial: UInt32 = 0, sequence: Int64) {
    self.track = Int32(truncatingIfNeeded: track)
    self.serial = serial
    self.sequence = sequence
  }
}
