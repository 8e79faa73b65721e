internal import Media

/// Bytes of a track's encoding by layer, with UDP and IP.
struct LayerCounts: BitwiseCopyable {
  static let spatial = 3
  static let temporal = 4
  /// Of UDP and IPv4.
  static let overhead = 28

  private var bytes: InlineArray<12, UInt64> = InlineArray(repeating: 0)

  /// Frames that began.
  private var frames: InlineArray<12, UInt32> = InlineArray(repeating: 0)

  init() {}

  @inline(__always)
  mutating func note(_ size: Int, _ layer: LayerID, startsFrame: Bool) {
    let place =
      min(Int(layer.spatial), Self.spatial - 1) &* Self.temporal
      &+ min(Int(layer.temporal), Self.temporal - 1)
    bytes[place] &+= UInt64(size &+ Self.overhead)
    if startsFrame { frames[place] &+= 1 }
  }

  subscript(spatial: Int, temporal: Int) -> UInt64 { bytes[spatial * Self.temporal + temporal] }

  /// Pictures of a layer of frame rate: each has a frame in one layer of size at least, and of the sizes the one with the most has
  /// one for each.
  func pictures(temporal: Int) -> UInt32 {
    var most: UInt32 = 0
    for spatial in 0..<Self.spatial { most = max(most, frames[spatial * Self.temporal + temporal]) }
    return most
  }

  var total: UInt64 {
    var sum: UInt64 = 0
    for place in 0..<12 { sum &+= bytes[place] }
    return sum
  }
}
