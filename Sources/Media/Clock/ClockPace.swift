/// How much faster than its codec says a track's clock runs, as far as something other than its sender reports tells.
public struct ClockPace: Equatable, Sendable {
  /// As a fraction: 0.01 is a hundredth faster.
  public var fraction: Double
  /// How far from that the truth may be.
  public var margin: Double

  /// Of what is timed by the machine's own clock, as pictures are.
  public static let nominal = ClockPace(fraction: 0, margin: 0)
  /// Further off is no crystal.
  static let crystal = 0.000_5

  public init(fraction: Double, margin: Double) {
    self.fraction = fraction
    self.margin = margin
  }

  /// Whether the clock surely runs otherwise than its codec says.
  var isCertain: Bool { fraction.magnitude > 2 * margin }

  /// Whether the clock can't run so much faster.
  func contradicts(_ slope: Double) -> Bool { (slope - fraction).magnitude > margin + Self.crystal }
}
