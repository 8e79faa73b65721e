public import Model
internal import SyntheticPeers

/// The time of a simulation: it moves when it is advanced, and not by itself.
///
/// Everything of ours takes the time as an argument. OpenSSL asks `gettimeofday` and its own generator, so an
/// executable that replaces both for the calling thread hands in how (`ProcessHooks`), as the simulation's tests do; elsewhere the
/// handshake runs on the real clock, which does no harm as long as nothing is lost.
public struct VirtualClock: Sendable {
  /// How this process lets OpenSSL see another clock and other random numbers, on the calling thread.
  public struct ProcessHooks: Sendable {
    /// Nanoseconds since 1970; nil for the real clock.
    public var setTime: @Sendable (Int64?) -> Void
    /// nil for the real generator.
    public var setSeed: @Sendable (UInt64?) -> Void

    public init(
      setTime: @escaping @Sendable (Int64?) -> Void, setSeed: @escaping @Sendable (UInt64?) -> Void
    ) {
      self.setTime = setTime
      self.setSeed = setSeed
    }

    /// Leaves OpenSSL to itself.
    public static let none = ProcessHooks(setTime: { _ in }, setSeed: { _ in })
  }

  /// Wall time at `Instant(nanoseconds: 0)`: the 1st of January 2026.
  public static let wallTimeAtZero = DriftingClock.wallTimeAtZero

  public private(set) var now: Instant
  private let hooks: ProcessHooks

  public init(startingAt start: Instant = Instant(nanoseconds: 1_000_000_000), hooks: ProcessHooks = .none) {
    now = start
    self.hooks = hooks
    hooks.setTime(Self.wallTimeAtZero + start.nanoseconds)
  }

  public var epoch: Epoch { Epoch(ntpAtZero: NTPTime(unixNanoseconds: Self.wallTimeAtZero)) }

  /// Never goes back.
  public mutating func advance(to instant: Instant) {
    guard instant > now else { return }
    now = instant
    hooks.setTime(Self.wallTimeAtZero + instant.nanoseconds)
  }

  /// Gives the thread its real clock and generator back.
  public func release() {
    hooks.setTime(nil)
    hooks.setSeed(nil)
  }
}
