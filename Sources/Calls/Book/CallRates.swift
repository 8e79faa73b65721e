/// How often people call and ring, which is bounded for each. A value: it is given the time.
public struct CallRates: Sendable {
  public struct Terms: Hashable, Sendable {
    /// Starts of one person in a minute.
    public var starts = 10
    /// Rings from one person to the same other in a minute.
    public var rings = 3

    public init() {}
  }

  /// What was counted at once.
  public struct Count: Hashable, Sendable {
    public var person: PersonID
    /// Whether a call was begun by it.
    public var isStart: Bool
    /// Each once; those who aren't rung aren't among them.
    public var rung: [PersonID]
    /// On the clock that doesn't jump.
    public var at: Int64
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

  /// Counts a start and its rings, or none of them.
  /// - Returns: in how many milliseconds all of it may be done; nil: it may, and is counted.
  mutating func take(_ count: Count) -> Int64? {
    let (person, rung, now) = (count.person, count.rung, count.at)
    sweep(at: now)
    var waits = ringWaits(person, rung, now)
    if count.isStart { waits.append(wait(forStartBy: person, at: now)) }
    if let wait = waits.compactMap({ $0 }).max() { return wait }
    let isFull = count.isStart && starts[person] == nil && starts.count >= Self.capacity
    guard !isFull, rings.count + rung.count <= Self.capacity else { return Self.minute }
    for other in rung {
      rings[Pair(from: person, to: other), default: RateWindow()].add(span: Self.minute, at: now)
    }
    if count.isStart { starts[person, default: RateWindow()].add(span: Self.minute, at: now) }
    return nil
  }

  /// Takes back what was counted: nothing came of it, for which the person can't be blamed.
  public mutating func giveBack(_ count: Count) {
    if count.isStart { starts[count.person]?.giveBack(at: count.at) }
    for other in count.rung { rings[Pair(from: count.person, to: other)]?.giveBack(at: count.at) }
  }

  private func ringWaits(_ person: PersonID, _ rung: [PersonID], _ now: Int64) -> [Int64?] {
    rung.map { rings[Pair(from: person, to: $0)]?.wait(most: terms.rings, span: Self.minute, at: now) }
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
