/// What each step of a ramp came to.
public struct RampReport: Encodable, Equatable, Sendable {
  public let unit: Ramp.Unit
  /// The limits: of loss, 0 to 1, and of delay at the 95th percentile, in milliseconds.
  public let mostLoss: Double
  public let mostDelay: Double
  public var steps: [RampStep] = []

  public init(_ ramp: Ramp) { (unit, mostLoss, mostDelay) = (ramp.unit, ramp.loss, ramp.delay) }

  /// The last step that kept to the limits, and the one that did not; nil where there was none.
  public var held: RampStep? { steps.last { $0.broke == nil } }
  public var broke: RampStep? { steps.last { $0.broke != nil } }

  var rows: [(String, String)] {
    var rows = steps.enumerated().map { ("step \($0 + 1)", $1.text) }
    rows.append(("held", held?.load ?? "no step"))
    rows.append(
      ("broke at", broke.map { "\($0.load): \($0.broke ?? "")" } ?? "no step: more were not asked for"))
    return rows
  }
}

/// One load that was held for a while.
public struct RampStep: Encodable, Equatable, Sendable {
  public let participants: Int
  public let rooms: Int
  /// Seconds since the first measured moment.
  public let from: Double
  public let to: Double
  /// Pictures or packets, once for each subscriber that should get them.
  public let expected: Int
  public let arrived: Int
  /// 0 to 1.
  public let loss: Double
  public let delay: LoadDelay
  /// Pictures that this machine had no time for.
  public let missed: Int
  /// Which limit it broke; nil: none.
  public let broke: String?

  init(participants: Int, rooms: Int, from: Double, to: Double, _ span: MeasuredSpan, broke: String?) {
    (self.participants, self.rooms, self.from, self.to) = (participants, rooms, from, to)
    (expected, arrived, loss, missed) = (span.expected, span.arrived, span.loss, span.missed)
    delay = LoadDelay(span.delay)
    self.broke = broke
  }

  var load: String { "\(participants) participants in \(rooms) room\(rooms == 1 ? "" : "s")" }

  var text: String {
    "\(load): \(arrived) of \(expected), \(Ramp.percent(loss)) % lost, ms \(delay.text)"
      + (broke == nil ? "" : ", broken")
  }
}
