/// What the path to a subscriber carries, as far as is known.
public struct TransportReport: Record {
  public static let definition = "TransportReport"
  public static let summary = "What the path to a subscriber carries: bits per second with UDP and IP."

  /// nil: the subscriber doesn't report on what comes, and nothing is withheld.
  public var target: Int?
  public var estimated: Int?
  /// What is given to its streams, and what everything that it wants would take.
  public var allotted = 0
  public var wanted = 0
  /// nil: nothing is withheld for want of rate.
  public var next: Int?
  /// 0–1.
  public var loss: Double?
  /// Seconds.
  public var roundTrip: Double?
  /// The rate of the last probe; nil: there was none.
  public var probe: Int?
  /// What it shows isn't known yet.
  public var isProbing = false

  public init() {}

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let any = 0...Int.max
    try coder.integer(
      Field("target", "What may be sent; absent: nothing is withheld, since what comes isn't reported on."),
      &target, any)
    try coder.integer(Field("estimated", "What arrives, by the subscriber's reports."), &estimated, any)
    try coder.integer(Field("allotted", "What its streams are given."), &allotted, any)
    try coder.integer(Field("wanted", "What everything that it wants would take."), &wanted, any)
    try coder.integer(Field("next", "The target at which more would be sent."), &next, any)
    try coder.number(Field("loss", "0 to 1, smoothed."), &loss)
    try coder.number(Field("roundTrip", "Seconds."), &roundTrip)
    try coder.integer(Field("probe", "The rate of the last probe for more."), &probe, any)
    try coder.flag(Field("isProbing", "What it shows isn't known yet."), &isProbing, or: false)
  }
}
