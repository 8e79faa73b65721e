internal import Media
internal import Model

/// Loudness of one track over a tenth of a second, by what its packets say of themselves (RFC 6464).
struct LevelMeter: BitwiseCopyable {
  static let window: Int64 = 100_000_000

  private var began = Instant(nanoseconds: .min / 2)
  private var sum: UInt32 = 0
  private var count: UInt32 = 0

  /// - Returns: the window that this packet ended.
  @inline(__always)
  mutating func note(_ info: PacketInfo) -> TrackLevel? {
    if info.flags.contains(.audioLevel) {
      sum &+= UInt32(info.audioLevel & 0x7F)
      count &+= 1
    }
    guard info.arrival.nanoseconds &- began.nanoseconds >= Self.window else { return nil }
    let level = TrackLevel(
      attenuation: count == 0 ? nil : UInt8(truncatingIfNeeded: sum / count), lastPacket: info.arrival)
    began = info.arrival
    sum = 0
    count = 0
    return level
  }
}
