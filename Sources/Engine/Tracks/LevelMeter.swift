internal import Glibc
internal import Media
internal import Model

/// Loudness of one track over a tenth of a second, by what its packets say of themselves (RFC 6464).
///
/// A packet's level is that of its mean power, and so is a window's: a syllable between two pauses counts, where the mean
/// of decibels would let the pauses drown it.
struct LevelMeter: BitwiseCopyable {
  static let window: Int64 = 100_000_000
  /// Of power, per decibel below overload: log2(10) / 10.
  private static let octaves: Float = -0.332_192_81

  private var began = Instant(nanoseconds: .min / 2)
  /// Sum of the packets' powers, as shares of overload.
  private var power: Float = 0
  private var count: UInt32 = 0

  /// - Returns: the window that this packet ended.
  @inline(__always)
  mutating func note(_ info: PacketInfo) -> TrackLevel? {
    if info.flags.contains(.audioLevel) {
      power += exp2f(Self.octaves * Float(info.audioLevel & 0x7F))
      count &+= 1
    }
    guard info.arrival.nanoseconds &- began.nanoseconds >= Self.window else { return nil }
    let level = TrackLevel(attenuation: mean, lastPacket: info.arrival)
    began = info.arrival
    power = 0
    count = 0
    return level
  }

  private var mean: UInt8? {
    count == 0 ? nil : UInt8(min(max(-10 * log10f(power / Float(count)), 0), 127).rounded())
  }
}
