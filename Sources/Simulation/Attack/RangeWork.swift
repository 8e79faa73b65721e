/// What isn't dropped, but done.
package struct RangeWork {
  package var sent: UInt64 = 0
  package var retransmitted: UInt64 = 0
  /// Packets that subscribers reported as missing.
  package var nacked: UInt64 = 0
  /// Key frames that subscribers asked for, and that publishers were asked for.
  package var keyFrameRequests: UInt64 = 0
  package var requests: UInt64 = 0
  /// Of ICE.
  package var restarts: UInt64 = 0
}
