public import Model

/// Keeps a subscriber from having one packet sent again and again: a packet goes out at most once a round trip,
/// and all of them together not faster than a bound.
public struct RetransmissionLimiter: Sendable {
  /// Packets a second that one slot may have sent again; a burst of as many is allowed.
  public static let rate = 1_000.0

  private struct Sent: BitwiseCopyable {
    var sequence: Int64 = .min
    var at = Instant(nanoseconds: 0)
  }

  private var recent: InlineArray<128, Sent> = InlineArray(repeating: Sent())
  private var limit = RateLimit(rate: Self.rate, burst: Self.rate)

  public init() {}

  /// - Returns: false when the packet was sent again only just now, or too much was.
  public mutating func allow(_ sequence: Int64, now: Instant, roundTrip: Duration) -> Bool {
    let place = Int(truncatingIfNeeded: sequence) & 127
    let wait = max(roundTrip * 3 / 4, .milliseconds(10))
    #if PLANTED_DEFECTS
      let isRecent = !PlantedDefect.isOn(.askedAgainSoon) && now - recent[place].at < wait
    #else
      let isRecent = now - recent[place].at < wait
    #endif
    if recent[place].sequence == sequence && isRecent { return false }
    guard limit.take(now: now) else { return false }
    recent[place] = Sent(sequence: sequence, at: now)
    return true
  }

  public func encode(into writer: inout StateWriter) {
    writer.write(limit.full)
    for index in 0..<128 {
      writer.write(recent[index].sequence)
      writer.write(recent[index].at)
    }
  }

  public init(from reader: inout StateReader) throws(StateError) {
    limit.full = try reader.instant()
    for index in 0..<128 {
      recent[index] = Sent(sequence: try reader.integer(), at: try reader.instant())
    }
  }
}
