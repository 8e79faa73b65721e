package import Media
package import Model

/// Where the packets of a track come from that is recorded. It belongs to the thread that records.
package protocol TrackSupply: AnyObject {
  /// Has its packets come, also where they came before and ended. Called before each `take`.
  func listen(now: Instant)
  /// Gives everything that has come since the last time, in order, and where the timestamps of each stand as is known by now.
  func take(_ body: (UnsafeRawBufferPointer, PacketInfo, ClockMapping?) -> Void)
  /// Asks the track's source.
  func requestKeyFrame(encoding: Int)
  /// Nothing more is to come; what has come is still taken.
  func stop()
  /// Nothing comes for now, because there is no room for it.
  var isRefused: Bool { get }
}

extension TrackSupply {
  package var isRefused: Bool { false }
}
