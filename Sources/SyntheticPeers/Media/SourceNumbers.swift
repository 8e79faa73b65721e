/// Sequence numbers, of the stream and of its retransmissions.
struct SourceNumbers {
  var next: UInt16
  var nextRTX: UInt16
  /// How many numbers ago the last one was that the server has heard of; of none: how many there were.
  private(set) var unheard = 0
  private(set) var isHeard = false
  /// Fewer than half the numbers there are: SRTP guesses the rollover from the last one that it saw (RFC 3711 §3.3.1).
  private static let unheardLimit = 32_000

  /// Packets before a rollover, of which the server hears one whatever is lost at the beginning.
  private static let lead = 150

  /// How far the next number may leap. Before the first is heard of, not near the rollover: SRTP begins before the first.
  var leeway: Int {
    let limit = max(Self.unheardLimit - unheard, 0)
    return isHeard ? limit : min(limit, max(0, 0xFFFF - Self.lead - Int(next)))
  }

  mutating func advance(by count: Int = 1) {
    next &+= UInt16(truncatingIfNeeded: count)
    unheard += count
  }

  mutating func noteHeard(_ sequence: UInt16) {
    isHeard = true
    unheard = min(unheard, Int(next &- sequence))
  }

  /// Another SSRC, which begins in the lower half so that its first packets come to no rollover.
  mutating func begin(at first: UInt16) {
    next = first & 0x7FFF
    unheard = 0
    isHeard = false
  }
}
