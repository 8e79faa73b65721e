/// How often people call and ring, which is bounded for each. A value: it is given the time.
public struct CallRates: Sendable {
  public struct Terms: Hashable, Sendable {
    /// Starts of one person in a minute.
    public var starts = 10
    /// Rings from one person to the same other in a minute.
    public var rings = 3

    public init() {}
  }

  private struct Pair: Hashable, Sendable {
    var from: PersonID
    var to: PersonID
  }

  private static let minute: Int64 = 60_000
  /// Of people, and of pairs of them. Beyond, more wait until some of a minute ago are forgotten.
  private static let capacity = 200_000

  private let terms: Terms
  private var starts: [PersonID: RateWindow] = [:]
  private var rings: [Pair: RateWindow] = [:]
  private var sweptAt = Int64.min

  public init(terms: Terms = Terms()) { self.terms = terms }

  /// In how many milliseconds a person may start a call; nil: now. Nothing is counted.
  public func wait(forStartBy person: PersonID, at now: Int64) -> Int64? {
    starts[person]?.wait(most: terms.starts, span: Self.minute, at: now)
  }

  /// In how many milliseconds a person may ring all of some others; nil: now. Nothing is counted.
  public func wait(forRinging others: [PersonID], by person: PersonID, at now: Int64) -> Int64? {
    ringWaits(person, others, now).compactMap { $0 }.max()
  }

  /// Counts a start and its rings, or neither.
  /// - Parameters:
  ///   - rung: each once; those who aren't rung aren't among them.
  ///   - now: milliseconds on the clock that doesn't jump.
  /// - Returns: in how many milliseconds all of it may be done; nil: it may, and is counted.
  mutating func take(start person: PersonID, ringing rung: [PersonID], at now: Int64) -> Int64? {
    sweep(at: now)
    let waits =
      [starts[person]?.wait(most: terms.starts, span: Self.minute, at: now)] + ringWaits(person, rung, now)
    if let wait = waits.compactMap({ $0 }).max() { return wait }
    guard starts[person] != nil || starts.count < Self.capacity else { return Self.minute }
    if let wait = count(person, rung, at: now) { return wait }
    starts[person, default: RateWindow()].add(span: Self.minute, at: now)
    return nil
  }

  /// The same of rings alone.
  mutating func take(ringing rung: [PersonID], by person: PersonID, at now: Int64) -> Int64? {
    sweep(at: now)
    if let wait = wait(forRinging: rung, by: person, at: now) { return wait }
    return count(person, rung, at: now)
  }

  private func ringWaits(_ person: PersonID, _ rung: [PersonID], _ now: Int64) -> [Int64?] {
    rung.map { rings[Pair(from: person, to: $0)]?.wait(most: terms.rings, span: Self.minute, at: now) }
  }

  private mutating func count(_ person: PersonID, _ rung: [PersonID], at now: Int64) -> Int64? {
    guard rings.count + rung.count <= Self.capacity else { return Self.minute }
    for other in rung {
      rings[Pair(from: person, to: other), default: RateWindow()].add(span: Self.minute, at: now)
    }
    return nil
  }

  /// Windows in which nothing has happened lately go, once a minute.
  private mutating func sweep(at now: Int64) {
    guard sweptAt == .min || now - sweptAt >= Self.minute else { return }
    sweptAt = now
    starts = starts.filter { !$0.value.isIdle(span: Self.minute, at: now) }
    rings = rings.filter { !$0.value.isIdle(span: Self.minute, at: now) }
  }

  /// For tests: what is remembered.
  var size: Int { starts.count + rings.count }
}
