internal import Model

/// What leaves of a stream, in bits per second with UDP and IP.
struct LeavingRate {
  private(set) var rate = 0.0
  private var bytes: UInt64 = 0
  private var at: Instant?

  /// - Parameter sent: bytes that have ever left; where there are fewer than before, the count has begun over.
  mutating func weigh(_ sent: UInt64, now: Instant) {
    if let at, now > at, sent >= bytes {
      rate = Double(sent - bytes) * 8e9 / Double((now - at).wholeNanoseconds)
    }
    (bytes, at) = (sent, now)
  }
}
