internal import Model

/// What the consumers of a track lose at other workers: the most that any said lately.
struct RelayedLoss: BitwiseCopyable {
  /// Each worker says it once a second; what is older counts no longer.
  private static let window = Duration.seconds(2)

  private var worst: (fraction: UInt8, at: Instant) = (0, Instant(nanoseconds: .min / 2))

  init() {}

  /// - Parameter fraction: in 256ths.
  mutating func note(_ fraction: UInt8, now: Instant) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.farLossUnheard) { return }
    #endif
    if fraction >= worst.fraction || now - worst.at >= Self.window { worst = (fraction, now) }
  }

  func fraction(now: Instant) -> UInt8 { now - worst.at < Self.window ? worst.fraction : 0 }
}
