/// Spans and bounds of calls, in milliseconds, as they are configured.
public struct CallTerms: Hashable, Sendable, Codable {
  /// How long a person is rung.
  public var ring: Int64 = 30_000
  /// How long one who is alone in a call stays there.
  public var alone: Int64 = 60_000
  /// How long media may take to come once somebody has joined.
  public var media: Int64 = 20_000
  /// How long media may be gone.
  public var grace: Int64 = 15_000
  /// The same after the server's restart.
  public var restart: Int64 = 30_000
  /// In one call, the caller among them.
  public var people = 32

  public init() {}
}
