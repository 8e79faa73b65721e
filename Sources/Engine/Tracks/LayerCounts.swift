internal import Media

/// Bytes of a track's encoding by layer, with UDP and IP.
struct LayerCounts: BitwiseCopyable {
  static let spatial = 3
  static let temporal = 4
  /// Of UDP and IPv4.
  static let overhead = 28

  private var bytes: InlineArray<12, UInt64> = InlineArray(repeating: 0)

  init() {}

  @inline(__always)
  mutating func note(_ size: Int, _ layer: LayerID) {
    let place =
      min(Int(layer.spatial), Self.spatial - 1) &* Self.temporal
      &+ min(Int(layer.temporal), Self.temporal - 1)
    bytes[place] &+= UInt64(size &+ Self.overhead)
  }

  subscript(spatial: Int, temporal: Int) -> UInt64 { bytes[spatial * Self.temporal + temporal] }

  var total: UInt64 {
    var sum: UInt64 = 0
    for place in 0..<12 { sum &+= bytes[place] }
    return sum
  }
}
