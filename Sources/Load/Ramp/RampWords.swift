/// What the command line says of a ramp.
struct RampWords {
  private var ramp: Ramp?
  private var most: Int?
  private var loss: Double?
  private var delay: Double?

  mutating func take(_ word: String, _ value: String) throws(LoadUsageError) {
    switch word {
    case "--ramp": ramp = try Self.ramp(value)
    case "--ramp-to": most = try LoadOptions.number(word, value, 1...LoadOptions.participantLimit)
    case "--most-loss":
      guard let percent = Double(value), (0...100).contains(percent) else {
        throw LoadUsageError("--most-loss takes percent from 0 to 100, not \(value)")
      }
      loss = percent / 100
    default: delay = Double(try LoadOptions.number(word, value, 1...60_000))
    }
  }

  private static func ramp(_ value: String) throws(LoadUsageError) -> Ramp {
    let parts = value.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let unit = Ramp.Unit(rawValue: String(parts[0])) else {
      throw LoadUsageError("--ramp takes subscribers:N or rooms:N, not \(value)")
    }
    return Ramp(
      unit, step: try LoadOptions.number("--ramp", String(parts[1]), 1...1_000),
      most: LoadOptions.participantLimit)
  }

  /// Puts it together, once everything else is known.
  func apply(to options: inout LoadOptions) throws(LoadUsageError) {
    guard var ramp else {
      guard most == nil, loss == nil, delay == nil else {
        throw LoadUsageError("--ramp-to, --most-loss and --most-delay go with --ramp")
      }
      return
    }
    let isReceived = options.subscribers > 0 || options.isMesh && options.publishers > 1
    guard options.publishers > 0, isReceived, options.picture.files.isEmpty else {
      throw LoadUsageError(
        "--ramp measures what arrives: it goes with publishers, and with subscribers or --mesh")
    }
    guard ramp.unit == .rooms || options.publishers <= LoadOptions.publisherLimit else {
      throw LoadUsageError(
        "a subscriber has at most \(LoadOptions.publisherLimit) slots of a kind, so a room at most as many publishers"
      )
    }
    if let most { ramp.most = most }
    if let loss { ramp.loss = loss }
    if let delay { ramp.delay = delay }
    options.ramp = ramp
  }
}
