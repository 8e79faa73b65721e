/// How much may happen, at once and in the long run: the generic cell rate algorithm (ITU-T I.371, annex A), which keeps
/// one moment, at which everything that was spent is there again.
///
/// A limit that was never used is the same as one that is full again, so a table forgets those whose `full` has passed.
public struct RateLimit: BitwiseCopyable, Equatable, Sendable {
  /// Nanoseconds in which one unit comes.
  private let interval: Double
  /// Nanoseconds in which all of it comes.
  private let span: Int64
  /// When nothing is missing any more; in the past: nothing is.
  public var full: Instant

  /// - Parameters:
  ///   - rate: units a second; more than 0.
  ///   - burst: units at once.
  public init(rate: Double, burst: Double) {
    interval = 1e9 / rate
    span = Self.whole((burst * interval).rounded(.up))
    full = Instant(nanoseconds: .min)
  }

  /// What there is at once.
  private var burst: Double { Double(span) / interval }

  /// - Returns: false, and nothing is taken, where there isn't enough.
  public mutating func take(_ amount: Double = 1, now: Instant) -> Bool {
    let next = moment(after: amount, now: now)
    guard excess(next, now) <= 0 else { return false }
    full = next
    return true
  }

  /// As `take`, of what may be more than there ever is at once: then all of that is taken.
  public mutating func take(upTo amount: Double, now: Instant) -> Bool { take(min(amount, burst), now: now) }

  /// Takes it in any case: what isn't there is owed, and comes before all else.
  /// - Returns: how long it takes until nothing is owed; zero where there was enough.
  @discardableResult
  public mutating func charge(_ amount: Double, now: Instant) -> Duration {
    full = moment(after: amount, now: now)
    return .nanoseconds(max(0, excess(full, now)))
  }

  /// As `charge`, of what there is at once and no more: so a debt is bounded by how often it is made.
  public mutating func charge(upTo amount: Double, now: Instant) { charge(min(amount, burst), now: now) }

  /// How long it takes until there is so much; zero where there is.
  public func wait(for amount: Double = 1, now: Instant) -> Duration {
    .nanoseconds(max(0, excess(moment(after: amount, now: now), now)))
  }

  /// Writes it; its interval must be whole nanoseconds.
  public func encode(into writer: inout StateWriter) {
    writer.write(Int64(interval))
    writer.write(span)
    writer.write(full)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    interval = Double(try reader.integer(Int64.self))
    span = try reader.integer()
    full = try reader.instant()
    guard interval >= 1, span >= 0 else { throw .invalid(field: "rate limit", offset: reader.offset - 24) }
  }

  private func moment(after amount: Double, now: Instant) -> Instant {
    let base = max(full, now).nanoseconds
    // Down, so that what is asked for piece by piece is never more than the burst that it makes up.
    let (sum, overflow) = base.addingReportingOverflow(Self.whole(amount * interval))
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  private func excess(_ moment: Instant, _ now: Instant) -> Int64 {
    let (distance, overflow) = moment.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
    return overflow ? .max : distance - span
  }

  /// Spans beyond a century are one.
  private static func whole(_ nanoseconds: Double) -> Int64 { Int64(min(max(0, nanoseconds), 3.2e18)) }
}
