/// Spans and bounds of calls, in milliseconds, as they are configured.
public struct CallTerms: Hashable, Sendable {
  /// How long a person is rung.
  public var ring: Int64 = 30_000
  /// How long one who is alone in a call stays there.
  public var alone: Int64 = 60_000
  /// How long media may take to come once somebody has joined.
  public var media: Int64 = 20_000
  /// How long media may be gone; and how much longer, where its room has waited for it already.
  public var grace: Int64 = 15_000
  public var afterRoom: Int64 = 1_000
  /// How long a device of a direct call may read no events, also before the first time.
  public var direct: Int64 = 45_000
  /// How long media may be gone after the server's restart.
  public var restart: Int64 = 30_000
  /// In one call, the caller among them.
  public var people = 32

  public init() {}

  func awaited(_ path: CallPath) -> Int64 { path == .relay ? media : direct }
  func gone(_ path: CallPath) -> Int64 { path == .relay ? grace : direct }
}
