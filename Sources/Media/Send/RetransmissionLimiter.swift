public import Model

/// Keeps a subscriber from having one packet sent again and again: a packet goes out at most once a round trip,
/// and all of them together not faster than a bound.
public struct RetransmissionLimiter: Sendable {
  /// Packets a second that one slot may have sent again; a burst of as many is allowed.
  public static let rate: Int64 = 1_000
  private static let nanosecondsPerPacket: Int64 = 1_000_000_000 / rate

  private struct Sent: BitwiseCopyable {
    var sequence: Int64 = .min
    var at = Instant(nanoseconds: 0)
  }

  private var recent: InlineArray<128, Sent> = InlineArray(repeating: Sent())
  /// The moment at which the allowance would be whole again (a leaky bucket as one instant).
  private var emptyAt = Instant(nanoseconds: .min / 2)

  public init() {}

  /// - Returns: false when the packet was sent again only just now, or too much was.
  public mutating func allow(_ sequence: Int64, now: Instant, roundTrip: Duration) -> Bool {
    let slot = Int(truncatingIfNeeded: sequence) & 127
    let wait = max(roundTrip * 3 / 4, .milliseconds(10))
    #if PLANTED_DEFECTS
      let isRecent = !PlantedDefect.isOn(.askedAgainSoon) && now - recent[slot].at < wait
    #else
      let isRecent = now - recent[slot].at < wait
    #endif
    if recent[slot].sequence == sequence && isRecent { return false }
    let next = max(emptyAt, now).advanced(byNanoseconds: Self.nanosecondsPerPacket)
    guard next.nanoseconds &- now.nanoseconds <= 1_000_000_000 else { return false }
    emptyAt = next
    recent[slot] = Sent(sequence: sequence, at: now)
    return true
  }

  public func encode(into writer: inout StateWriter) {
    writer.write(emptyAt)
    for index in 0..<128 {
      writer.write(recent[index].sequence)
      writer.write(recent[index].at)
    }
  }

  public init(from reader: inout StateReader) throws(StateError) {
    emptyAt = try reader.instant()
    for index in 0..<128 {
      recent[index] = Sent(sequence: try reader.integer(), at: try reader.instant())
    }
  }
}
