public import Model

/// The times that pushes go by.
public struct PushClocks: Sendable {
  /// The time of day.
  public let wall: @Sendable () -> WallTime
  /// A clock that is never stepped.
  public let instant: @Sendable () -> Instant

  public init(
    wall: @escaping @Sendable () -> WallTime, instant: @escaping @Sendable () -> Instant
  ) {
    self.wall = wall
    self.instant = instant
  }
}
