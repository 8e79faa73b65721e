public import Model

/// The last probe of a path, for those who ask what is known of it.
public struct ProbeReport: BitwiseCopyable, Equatable, Sendable {
  /// Bits per second, with UDP and IP.
  public var rate: Double
  public var startedAt: Instant
  /// What it has shown isn't known yet.
  public var isOpen: Bool

  public init(rate: Double, startedAt: Instant, isOpen: Bool) {
    self.rate = rate
    self.startedAt = startedAt
    self.isOpen = isOpen
  }
}

extension BandwidthEstimator {
  /// Nil before the first.
  public var lastProbe: ProbeReport? {
    guard probes.last.cluster != 0, probes.lastAt != .min else { return nil }
    return ProbeReport(
      rate: probes.last.rate, startedAt: Instant(nanoseconds: probes.lastAt), isOpen: probes.awaits)
  }
}
