public import Model

/// Bytes of media each way between two tallies, and the rates that they made.
///
/// No part of the state: a rebuilt transport begins at nothing, and is right a second later.
@usableFromInline
struct TrafficTally: BitwiseCopyable {
  @usableFromInline var received: UInt64 = 0
  @usableFromInline var sent: UInt64 = 0
  private var since: Instant
  /// Between the last two tallies.
  private(set) var bitrates = Bitrates()

  @usableFromInline init(since: Instant) { self.since = since }

  @inlinable @inline(__always) mutating func cameIn(_ bytes: Int) {
    received &+= UInt64(truncatingIfNeeded: bytes)
  }
  @inlinable @inline(__always) mutating func wentOut(_ bytes: Int) {
    sent &+= UInt64(truncatingIfNeeded: bytes)
  }

  /// - Returns: whether the rates differ from those before.
  mutating func tally(now: Instant) -> Bool {
    let nanoseconds = now.nanoseconds &- since.nanoseconds
    guard nanoseconds > 0 else { return false }
    let rate = { (bytes: UInt64) in Int(min(Double(bytes) * 8e9 / Double(nanoseconds), 1e15)) }
    let found = Bitrates(received: rate(received), sent: rate(sent))
    defer { (received, sent, since, bitrates) = (0, 0, now, found) }
    return found != bitrates
  }
}
