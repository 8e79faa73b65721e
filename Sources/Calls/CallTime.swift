/// A moment of a call: what is written down, and what spans are measured by.
public struct CallTime: Hashable, Sendable, Codable {
  /// Milliseconds since 1970, UTC.
  public var wall: Int64
  /// Milliseconds on a clock that doesn't jump.
  public var steady: Int64

  public init(wall: Int64, steady: Int64) {
    self.wall = wall
    self.steady = steady
  }

  /// How far the time of day is ahead of the other clock.
  public var offset: Int64 { wall &- steady }
}
