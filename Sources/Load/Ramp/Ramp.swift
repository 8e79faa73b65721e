#if PLANTED_DEFECTS
  internal import Model
#endif

/// How the load is raised, step by step, and what it has to keep to.
public struct Ramp: Equatable, Sendable {
  public enum Unit: String, Encodable, Sendable {
    /// In each room.
    case subscribers
    /// Each as the first.
    case rooms
  }

  public var unit: Unit
  /// Subscribers a room, or rooms, that come with each step; at least 1.
  public var step: Int
  /// Participants beyond which it doesn't go.
  public var most: Int
  /// What may be lost, 0 to 1.
  public var loss = 0.01
  /// Milliseconds by which 95 of 100 have come.
  public var delay = 200.0

  public init(_ unit: Unit, step: Int, most: Int) {
    self.unit = unit
    self.step = step
    self.most = most
  }

  /// - Parameters:
  ///   - failures: why participants aren't in, each with how many.
  ///   - participants: all of them.
  /// - Returns: what a step broke; nil where it holds.
  func verdict(_ span: MeasuredSpan, failures: [String: Int], participants: Int) -> String? {
    if let reason = failures.keys.sorted().first {
      return "\(failures.values.reduce(0, +)) of \(participants) are not in: \(reason)"
    }
    let due = span.sent + span.missed
    if span.missed > 0, Double(span.missed) > loss * Double(due) {
      return "this machine had no time to make or decode \(span.missed) pictures; the server may carry more"
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.limitIsBroken), span.loss >= loss { return "" }
    #endif
    if span.loss > loss {
      return "\(Self.percent(span.loss)) % were lost, above \(Self.percent(loss)) %"
    }
    guard let p95 = LoadDelay(span.delay).p95, p95 > delay else { return nil }
    let words = "95 of 100 took up to \(Decimals.text(p95, 1)) ms, above \(Decimals.text(delay, 0)) ms"
    guard let here = LoadDelay(span.decoding).p95, here > delay / 2 else { return words }
    return words + "; the decoders of this machine took up to \(Decimals.text(here, 1)) ms of that"
  }

  static func percent(_ share: Double) -> String { Decimals.text(share * 100, 2) }
}
